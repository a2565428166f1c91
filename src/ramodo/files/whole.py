"""Files and folders are written whole or not at all: under a temporary name next to the target, then renamed.

The temporary name is `.TARGET.ramodo-PID-RANDOM`, and its writer holds a lock on it (flock). A killed writer no longer
holds its lock, so the next writer of the same target removes what it left behind. On systems without such locks nothing
is removed.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .full_disk import writing_to

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_LONGEST_NAME = 200
"""Longest target name, in bytes, that becomes part of the temporary name; systems allow 255 in all."""

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)


def write_whole(path: Path, write: Callable[[str], None]) -> None:
    """`write` a temporary file, and move it to `path` if that succeeded."""
    if not path.name or path.is_dir():
        raise IsADirectoryError(f"the path must be that of a file, got the folder {str(path)!r}.")
    path = path.resolve()  # replace the target of a link, not the link
    if path.exists() and not path.is_file():  # a device or a pipe would be replaced
        raise FileExistsError(f"the path must be that of a regular file, got {str(path)!r}.")
    with beside(path) as temporary:
        try:
            with writing_to(path):
                write(str(temporary))
                put_in_place(temporary, path)
        except OSError as error:
            if error.errno is not None and temporary.name in str(error):  # users do not know the temporary name
                raise type(error)(error.errno, os.strerror(error.errno), str(path)) from None
            if error.errno is not None and error.filename is None:
                error.filename = str(path)
            raise


@contextmanager
def beside(target: Path, *, folder: bool = False) -> Iterator[Path]:
    """Make a new file or folder in the folder of `target`, with the permissions that the umask leaves.

    It belongs to this writer alone, and is removed at the end unless it was renamed. Leftovers of killed writers of the
    same target are removed first.
    """
    remove_leftovers(target)
    try:
        temporary, handle = _new(target, folder)
    except OSError as error:
        raise type(error)(error.errno, f"cannot write into the folder: {error.strerror}", str(target.parent)) from None
    try:
        yield temporary
    finally:
        _remove(temporary)
        if handle is not None:
            os.close(handle)  # releases the lock: only once nothing of that name is left


def put_in_place(temporary: Path, target: Path) -> None:
    """Rename a complete file to its target so that a power failure loses neither contents nor name."""
    sync(temporary)
    os.replace(temporary, target)
    sync_folder(target.parent)


def sync(path: Path) -> None:
    """Wait until the contents of a file are on the disk."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(path: Path) -> None:
    """Wait until the names in a folder are on the disk, where the system can do that."""
    with suppress(OSError):  # some file systems refuse it, and Windows does not open folders
        handle = os.open(path, _FOLDER)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def remove_leftovers(target: Path) -> None:
    """Remove what killed writers of this target left behind; never the files of a writer that is still running."""
    if fcntl is None:
        return
    pattern = re.compile(re.escape(_stem(target)) + r"\d+-[0-9a-f]{16}")
    with suppress(OSError):  # a folder that cannot be listed
        with os.scandir(target.parent) as entries:
            found = [Path(entry.path) for entry in entries if pattern.fullmatch(entry.name)]
        for path in found:
            with suppress(OSError):  # of another user, or removed by another writer
                _remove_unless_locked(path)


def _stem(target: Path) -> str:
    """Return the common prefix of temporary names for a target."""
    name, encoded = target.name, os.fsencode(target.name)
    if len(encoded) > _LONGEST_NAME:
        name = hashlib.sha256(encoded).hexdigest()
    return f".{name}.ramodo-"


def _new(target: Path, folder: bool) -> tuple[Path, int | None]:
    """Return a new file or folder and a handle that holds its lock, if the system has locks."""
    while True:
        path = target.with_name(f"{_stem(target)}{os.getpid()}-{secrets.token_hex(8)}")
        if folder:
            os.mkdir(path)
            try:
                handle = os.open(path, _FOLDER) if fcntl is not None else None
            except FileNotFoundError:  # another writer took it for a leftover before it could be locked
                continue
        else:
            handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
        if fcntl is None:
            if handle is not None:
                os.close(handle)  # Windows has no such locks and cannot rename an open file
            return path, None
        if _lock(handle) is not False and os.path.exists(path):
            return path, handle
        os.close(handle)  # another writer took it for a leftover before it was locked
        _remove(path)


def _lock(handle: int) -> bool | None:
    """Return whether the lock was acquired; None if the system has no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return False if error.errno in (errno.EWOULDBLOCK, errno.EACCES) else None
    return True


def _remove_unless_locked(path: Path) -> None:
    handle = os.open(path, _FOLDER if path.is_dir() else os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if _lock(handle):
            _remove(path)
    finally:
        os.close(handle)


def _remove(path: Path) -> None:
    """Remove a file or a folder that may be gone already."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
