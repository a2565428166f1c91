"""Put a folder in place and open it, while other processes write it, read it or are killed.

A writer works in its own folder beside the target (`files.whole.beside`). Then it moves the old folder aside, locked,
and gives its name to the new one; readers that find neither wait for that moment. If a writer was killed in between,
the next reader or writer puts the old folder back. Writers of one target do not wait for each other: the last to finish
wins.

A reader opens the folder once, and its files through that one descriptor, so all of them come from either the old or
the new folder.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from ..files.whole import _stem, beside, sync, sync_folder

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_OLD = ".old"
_GONE = ".gone"
"""Suffix of folders that are being removed; unlike folders that were moved aside, they are never put back."""

_ATTEMPTS = 10_000
"""Attempts at replacing or opening a folder that others keep replacing, before that is an error."""

_PATIENCE = 10.0
"""Seconds that a reader waits for a live writer that has moved the old folder aside."""


@contextmanager
def replacing(target: Path, is_ours: Callable[[OpenFolder], bool]) -> Iterator[Path]:
    """Make a new folder that replaces `target` if all goes well, and is removed if not.

    An existing target is removed, and must satisfy `is_ours`.
    """
    _refuse_foreign(target, is_ours)
    put_back(target)
    with beside(target, folder=True) as temporary:
        yield temporary
        for file in temporary.iterdir():
            sync(file)
            if (
                os.name == "posix"
            ):  # the working folder must not be overwritten by mistake, and some systems could not remove it
                file.chmod(file.stat().st_mode & ~0o222)
        sync_folder(temporary)
        _take_place(temporary, target, is_ours)
        sync_folder(target.parent)


class OpenFolder:
    """The files of one folder, even if another folder takes its name meanwhile."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._by_descriptor = os.open in os.supports_dir_fd
        self._directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY) if self._by_descriptor else None

    def open(self, name: str) -> IO[bytes]:
        """Open one of its files; the `name` of the file object is its whole path."""

        def opener(path: str, flags: int) -> int:
            return os.open(path if self._directory is None else name, flags, dir_fd=self._directory)

        return open(self.path.absolute() / name, "rb", opener=opener)

    def is_replaced(self) -> bool:
        """Return whether the name now belongs to another folder, so the files of this one may be gone."""
        if self._directory is None:
            return False
        try:
            return not os.path.samestat(os.stat(self.path), os.fstat(self._directory))
        except FileNotFoundError:
            return True

    def close(self) -> None:
        """Close the folder; open files stay open."""
        if self._directory is not None:
            os.close(self._directory)


@contextmanager
def opened(path: Path) -> Iterator[OpenFolder]:
    """Open the folder, after putting it back if a killed writer had moved it aside."""
    try:
        folder = OpenFolder(path)
    except FileNotFoundError:
        if not put_back(path.resolve()):
            raise
        folder = OpenFolder(path)
    try:
        yield folder
    finally:
        folder.close()


def attempts() -> Iterator[int]:
    """Yield the numbers of attempts at an operation that fails if others replace the folder."""
    yield from range(_ATTEMPTS)


def put_back(target: Path) -> bool:
    """Put back a folder that a killed writer moved aside; remove those that have been replaced.

    Wait for a writer that is alive. Return True if there is a folder, or was a moment ago.
    """
    end = time.monotonic() + _PATIENCE
    while True:
        held = False
        for old in _moved_aside(target):
            with suppress(OSError), _locked(old) as ours:  # it may belong to others, or be gone by now
                held |= not ours
                if ours and (target.exists() or old.name.endswith(_GONE)):
                    _remove(old)
                elif ours:
                    os.rename(old, target)
        if target.exists() or not held or time.monotonic() > end:
            return target.exists()
        time.sleep(0.001)


def _moved_aside(target: Path) -> list[Path]:
    pattern = re.compile(re.escape(_stem(target)) + r"\d+-[0-9a-f]{16}" + re.escape(_OLD) + f"({re.escape(_GONE)})?")
    with suppress(OSError), os.scandir(target.parent) as entries:
        return sorted(Path(entry.path) for entry in entries if pattern.fullmatch(entry.name))
    return []


def _refuse_foreign(target: Path, is_ours: Callable[[OpenFolder], bool]) -> None:
    """Raise if `target` is not a rows folder; retries while others replace it, since it may be empty then."""
    for _ in attempts():
        try:
            folder = OpenFolder(target)
        except FileNotFoundError:
            if not os.path.islink(target):  # a broken link belongs to somebody
                return
            break
        except OSError:  # no folder
            break
        try:
            if is_ours(folder):
                return
            if not folder.is_replaced():
                break
        finally:
            folder.close()
    raise FileExistsError(f"{target} exists and is not a rows folder; give another path.")


def _take_place(temporary: Path, target: Path, is_ours: Callable[[OpenFolder], bool]) -> None:
    """Put the new folder in place."""
    for _ in range(_ATTEMPTS):
        try:
            os.rename(temporary, target)  # succeeds if there is no target
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR, errno.EACCES):
                raise
            if not os.path.lexists(target):
                continue  # removed in the meantime
        _refuse_foreign(target, is_ours)
        if _step_aside(temporary, target):
            return
    raise OSError(errno.EBUSY, "being replaced again and again; try again later", str(target))


def _step_aside(temporary: Path, target: Path) -> bool:
    """Rename twice, with a lock on the old folder to show that a writer is at work; False if another was faster."""
    old = temporary.with_name(temporary.name + _OLD)
    with _locked(target):
        try:
            os.rename(target, old)
            os.rename(temporary, target)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST):  # another writer was faster
                _remove(old)
                return False
            raise
        _remove(old)
    return True


def _remove(old: Path) -> None:
    """Remove a folder under another name, so that no process restores a half-removed one."""
    gone = old.with_name(old.name.removesuffix(_GONE) + _GONE)
    with suppress(OSError):
        os.rename(old, gone)
    shutil.rmtree(gone, ignore_errors=True)


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Lock a folder; yield whether that succeeded, or the system has no locks."""
    if fcntl is None:
        yield True
        return
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        yield False
        return
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        except OSError:  # no locks on this file system
            yield True
        else:
            yield True
    finally:
        os.close(handle)
