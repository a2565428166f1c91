"""Downloads that resume where they were interrupted.

    NAME.part         what has arrived so far
    NAME.part.json    the version of the file: its address, its ETag or date, and its length
    NAME              the whole file, once its checksum is right
    NAME.sha256       its checksum, as sha256sum writes it

A part is only ever continued with bytes of the same version (If-Range); otherwise it begins again. An interrupted
download leaves the part, and never an incomplete NAME. Nothing that a server says is trusted: neither its lengths nor
its redirects (connections.py), and no body may be longer than its source allows. Pooch, which others use for this,
neither resumes downloads nor limits their length.
"""

from __future__ import annotations

import http.client
import json
import re
import shutil
import socket
import ssl
import sys
import time
import urllib.error
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .checksums import DownloadError, accept, recorded
from .connections import RefusedError, open_address
from .sources import RawFile

PAUSES = (1.0, 4.0, 15.0)
"""Seconds before each further attempt."""

_CHUNK = 1 << 20
_PASSING = (408, 416, 429, 500, 502, 503, 504)
_BROKEN = (ConnectionError, TimeoutError, ssl.SSLError)

Show = Callable[[int, int], None]


class _CutError(Exception):
    """The connection ended too early, or the server is busy: worth another attempt or another address."""


def download(file: RawFile, folder: Path, *, mirror: str | None = None, show: Show | None = None) -> Path:
    """Return the file in `folder`, from the first of its addresses that has it, or from the mirror."""
    folder.mkdir(parents=True, exist_ok=True)
    with alone(folder):
        return _download(file, folder / file.name, mirror, show)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """One process at a time: two would write to the same part. The system releases the lock when a process ends."""
    with open(folder / ".lock", "ab") as file:
        try:
            if sys.platform == "win32":
                import msvcrt

                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise DownloadError(f"Another process is downloading into {folder}; try again when it is done.") from None
        yield


def _download(file: RawFile, target: Path, mirror: str | None, show: Show | None) -> Path:
    failures = []
    for address in (f"{mirror.rstrip('/')}/{file.name}",) if mirror else file.addresses:
        try:
            _fetch(address, target, file, show)
        except _CutError as error:
            kept = _size(_part(target))
            failures.append(f"{address}: {error}" + (f"; {kept:,} bytes are kept for the next call" if kept else ""))
        else:
            accept(_part(target), target, file.sha256)
            _mark(target).unlink(missing_ok=True)
            return target
    raise DownloadError(
        f"{file.name} could not be downloaded. {'. '.join(failures)}. A file that you have may be given as source."
    )


def _fetch(address: str, target: Path, file: RawFile, show: Show | None) -> None:
    """Download all bytes into the part, in as many attempts as needed and allowed."""
    for pause in (*PAUSES, None):
        try:
            return _attempt(address, target, file, show)
        except urllib.error.HTTPError as error:
            error.close()
            cut = _CutError(f"the server answers {error.code} {error.reason}")
            is_final = error.code not in _PASSING
        except (_CutError, RefusedError, urllib.error.URLError, http.client.HTTPException, *_BROKEN) as error:
            reason = getattr(error, "reason", error)
            cut = _CutError(str(reason) or type(reason).__name__)
            is_final = isinstance(reason, RefusedError | socket.gaierror | ssl.SSLCertVerificationError)
        if pause is None or is_final:
            raise cut
        time.sleep(pause)


def _attempt(address: str, target: Path, file: RawFile, show: Show | None) -> None:
    known = _known(target, address)
    begin = _size(_part(target)) if known.get("version") else 0
    if begin and begin == known.get("length"):
        return
    is_known = file.sha256 is not None or recorded(target) is not None
    try:
        answer = open_address(address, begin, known.get("version", ""), is_known=is_known)
    except urllib.error.HTTPError as error:
        if error.code == 416:  # the file is now shorter than the part
            _part(target).unlink(missing_ok=True)
        raise
    with answer:
        _refuse_status(answer, begin)
        if answer.status == 206 and not _continues(answer, begin, known.get("length")):
            _part(target).unlink()
            raise _CutError(f"asked for bytes starting at {begin:,}, it sends {answer.headers['Content-Range']!r}")
        length = _length(answer)
        if answer.status == 206:
            length = known.get("length") or (None if length is None else begin + length)
        else:
            begin = 0
        _refuse_length(target, file, length, begin)
        if begin == 0:
            _part(target).unlink(missing_ok=True)  # before the mark says that it is of another version
            _mark(target).write_text(json.dumps({"address": address, "version": _version(answer), "length": length}))
        _copy(answer, _part(target), length, file.size or file.most, show)


def _refuse_status(answer: Any, begin: int) -> None:
    """Raise unless the answer is the whole file, or the requested part."""
    if answer.status != 200 and not (answer.status == 206 and begin):
        given = f"{answer.status} {answer.reason}".strip()
        raise RefusedError(f"asked for {'the rest' if begin else 'all'} of the file, the server answers {given}")


def _length(answer: Any) -> int | None:
    """Length of the body according to the server; None if it sends chunks, whose end is marked."""
    if answer.chunked:
        return None
    said = answer.headers["Content-Length"]
    if said is None:
        raise RefusedError("the server does not say how long it is, so nobody could know whether all of it arrived")
    if not re.fullmatch(r"[0-9]{1,18}", said.strip()):
        raise RefusedError(f"its length must be a whole number of bytes, got {said[:40]!r} from the server")
    return int(said)


def _continues(answer: Any, begin: int, length: int | None) -> bool:
    """Return whether its bytes continue the part, of a file that is as long as before."""
    found = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", answer.headers.get("Content-Range", ""))
    return found is not None and int(found[1]) == begin and found[2] in ("*", str(length))


def _refuse_length(target: Path, file: RawFile, length: int | None, begin: int) -> None:
    """Raise, before a byte is written, if the size is not the published one or the disk has no room."""
    if file.size is not None and length not in (None, file.size):
        raise DownloadError(f"{file.name} has {length:,} bytes there; expected: {file.size:,}, as published.")
    if length is not None and length > file.most:
        raise RefusedError(f"it must have at most {file.most:,} bytes, got {length:,} from the server")
    needed, free = (length or file.size or 0) - begin, shutil.disk_usage(target.parent).free
    if needed > free:
        raise DownloadError(f"{target} needs {needed:,} bytes more; the disk has {free:,}.")


def _copy(answer: Any, part: Path, length: int | None, most: int, show: Show | None) -> None:
    """Append the body to the part; raise once it is longer than allowed."""
    with open(part, "ab") as file:
        while chunk := answer.read1(_CHUNK):
            if file.tell() + len(chunk) > (most if length is None else length):
                part.unlink()
                raise RefusedError(f"the server sends more than {most if length is None else length:,} bytes")
            file.write(chunk)
            if show is not None and length:
                show(file.tell() // 1_000_000, max(1, length // 1_000_000))
        if length is not None and file.tell() < length:
            raise _CutError(f"the connection ended after {file.tell():,} of {length:,} bytes")


def _version(answer: Any) -> str:
    """What If-Range compares: a strong ETag or a date; empty if the server sends neither."""
    tag = answer.headers.get("ETag", "")
    return tag if tag.startswith('"') else answer.headers.get("Last-Modified", "")


def _known(target: Path, address: str) -> dict[str, Any]:
    """Return the version of the part, if it came from this address."""
    try:
        known = json.loads(_mark(target).read_text())
        return known if known["address"] == address else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _part(target: Path) -> Path:
    return target.with_name(target.name + ".part")


def _mark(target: Path) -> Path:
    return target.with_name(target.name + ".part.json")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
