"""One kind of error, with the file's name, for a full disk or exhausted memory; libraries report these differently."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
"""The disk is full, the file would exceed the allowed size, or the user's quota is used up."""

_SHORT = re.compile(r"(\d+) requested and (\d+) written")


@contextmanager
def writing_to(path: str | os.PathLike[str]) -> Iterator[None]:
    """Make errors of writing `path`, or a temporary file for it, name `path` and give the system's reason."""
    try:
        yield
    except OSError as error:
        short = _SHORT.search(str(error))
        if error.errno is None and short:  # numpy does not pass on the reason
            taken = f"{int(short[2]):,} of {int(short[1]):,} values"
            reason = f"only {taken} could be written; the disk is full, or the file exceeds the allowed size"
            raise OSError(errno.ENOSPC, reason, str(path)) from None
        if error.errno in NO_ROOM:
            raise OSError(error.errno, os.strerror(error.errno), str(path)) from None
        raise


def is_the_systems(error: BaseException) -> bool:
    """Return whether an error comes from the system, such as exhausted memory, and not from a file's contents.

    EINVAL comes from the contents: an offset in a damaged file.
    """
    if isinstance(error, OSError):
        return error.errno not in (None, errno.EINVAL)
    return isinstance(error, MemoryError)
