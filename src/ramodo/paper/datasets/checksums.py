"""Whether a file is the expected one, by a published checksum or by that of the first download."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from ...files.whole import write_whole


class DownloadError(OSError):
    """A file that cannot be obtained, or is not the expected one."""


def sha256_of(path: Path) -> str:
    """Return the checksum of a file, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def accept(part: Path, target: Path, published: str | None) -> None:
    """Move a downloaded file into place and write its checksum; set the file aside if its checksum is wrong."""
    found, expected = sha256_of(part), published or recorded(target)
    if expected not in (None, found):
        aside = target.with_name(target.name + ".wrong")
        os.replace(part, aside)
        raise DownloadError(_difference(target, published, expected, found) + f" What came is in {aside}.")
    with open(part, "rb+") as file:
        os.fsync(file.fileno())
    os.replace(part, target)
    record = f"{found}  {target.name}\n"
    write_whole(_record(target), lambda temporary: _write(temporary, record))


def verify(path: Path, published: str | None) -> None:
    """Raise `DownloadError` if a file differs from its first download, or from what was published."""
    expected = published or recorded(path)
    if expected is not None and (found := sha256_of(path)) != expected:
        raise DownloadError(_difference(path, published, expected, found))


def recorded(target: Path) -> str | None:
    """Return the checksum of the first download, if there was one."""
    try:
        return _record(target).read_text(encoding="utf-8").split()[0]
    except (FileNotFoundError, IndexError):
        return None


def _record(target: Path) -> Path:
    return target.with_name(target.name + ".sha256")


def _write(path: str, text: str) -> None:
    Path(path).write_text(text, encoding="utf-8")


def _difference(path: Path, published: str | None, expected: str | None, found: str) -> str:
    whose = "published" if published else "of the first download"
    what_to_do = "" if published else f" If the publisher changed the file, remove {_record(path)} to accept it."
    return f"{path} has the sha256 {found}; expected: {expected}, the one {whose}.{what_to_do}"
