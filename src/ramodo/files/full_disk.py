"""A disk or a memory that has no room: each library says it in words of its own; here it is one error, with a name."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
"""The disk is full, the file may not be that large, or the user's share is used up."""

_SHORT = re.compile(r"(\d+) requested and (\d+) written")


@contextmanager
def writing_to(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors of the system while `path`, or a stand-in for it, is written name `path` and say what the system said."""
    try:
        yield
    except OSError as error:
        short = _SHORT.search(str(error))
        if error.errno is None and short:  # numpy keeps the reason to itself
            taken = f"{int(short[2]):,} of {int(short[1]):,} values"
            reason = f"the disk took {taken}; it is full, or files may not be larger"
            raise OSError(errno.ENOSPC, reason, str(path)) from None
        if error.errno in NO_ROOM:
            raise OSError(error.errno, os.strerror(error.errno), str(path)) from None
        raise


def is_the_systems(error: BaseException) -> bool:
    """Whether the system had no memory, or could not read or write: that says nothing of what is in a file.

    An invalid argument does: it is a place that a damaged file names.
    """
    if isinstance(error, OSError):
        return error.errno not in (None, errno.EINVAL)
    return isinstance(error, MemoryError)
