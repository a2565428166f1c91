"""Files inside archives, by name and within size limits. Nothing is unpacked to disk, so their paths are harmless."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from ...formats import FormatError
from ...formats.byte_streams import damage_refused


@contextmanager
def file_in_zip(path: Path, name: str, most: int) -> Iterator[IO[bytes]]:
    """The file of that name, in whatever folder it is; refused if it is larger than `most` bytes."""
    with _refused_if_damaged(path), zipfile.ZipFile(path) as archive:
        found = [info for info in archive.infolist() if PurePosixPath(info.filename).name == name]
        if len(found) != 1:
            raise FormatError(f"{path} must have one file named {name}, got {len(found)}.")
        _refuse_larger(path, name, found[0].file_size, most)
        with archive.open(found[0]) as stream:  # which ends where the archive says the file does
            yield stream


def files_in_tar(path: Path, names: Sequence[str], most: int) -> dict[str, bytes]:
    """Return the files of these names, in whatever folder they are; refused if one is larger than `most` bytes."""
    found: dict[str, bytes] = {}
    with _refused_if_damaged(path), tarfile.open(path) as archive:
        for entry in archive:
            name = PurePosixPath(entry.name).name
            if name not in names or not entry.isfile():
                continue
            if name in found:
                raise FormatError(f"{path} must have one file named {name}, got several.")
            _refuse_larger(path, name, entry.size, most)
            stream = archive.extractfile(entry)
            assert stream is not None  # as it is a file
            found[name] = stream.read()
            if len(found) == len(names):
                break
    absent = [name for name in names if name not in found]
    if absent:
        raise FormatError(f"{path} must be an archive with {names[0]} to {names[-1]}; it lacks {', '.join(absent)}.")
    return found


def _refuse_larger(path: Path, name: str, size: int, most: int) -> None:
    if size > most:
        raise FormatError(f"{path}: {name} must have at most {most:,} bytes, got {size:,}.")


@contextmanager
def _refused_if_damaged(path: Path) -> Iterator[None]:
    try:
        with damage_refused(str(path)):
            yield
    except (tarfile.TarError, zipfile.BadZipFile) as error:
        raise FormatError(f"{path} ends in the middle or is damaged: {str(error).rstrip('.')}.") from None
    except RuntimeError as error:  # raised by zipfile for encrypted files or unknown compression
        raise FormatError(
            f"{path} cannot be unpacked: {str(error).rstrip('.')}. Get it again from its source."
        ) from None
