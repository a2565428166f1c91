"""Files are written whole or not at all: beside their place, then renamed onto it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from .full_disk import writing_to


def write_whole(path: Path, write: Callable[[str], None]) -> None:
    """`write` a temporary file, and put it in the place of `path` when that went well."""
    if not path.name or path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} was given; allowed: the path of a file.")
    path = path.resolve()  # onto the target of a link, not onto the link
    if path.exists() and not path.is_file():  # a device or a pipe would be replaced by a file
        raise FileExistsError(f"{str(path)!r} was given, which is no file; allowed: the path of a file.")
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise type(error)(error.errno, f"cannot write into the folder: {error.strerror}", str(path.parent)) from None
    try:
        with writing_to(path):
            write(temporary)
        os.fsync(handle)
        os.chmod(temporary, 0o666 & ~umask())
        os.replace(temporary, path)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)  # some writers remove it themselves
        if isinstance(error, OSError) and error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise
    finally:
        os.close(handle)


def umask() -> int:
    """Permissions that new files do not get."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
