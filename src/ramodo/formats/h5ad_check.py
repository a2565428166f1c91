"""Check whether HDF5 can read a file, in a separate process that can be stopped.

    python h5ad_check.py data.h5ad

Damaged files can send the HDF5 library into endless loops or out of bounds, and neither can be stopped from within. So
another process opens the file first and reads everything small: names, attributes, text, arrays up to a bound, and the
first and last values of larger ones. If it succeeds, the caller can safely read the file again.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

SECONDS, BYTES_A_SECOND = 60.0, 10_000_000
"""Time limit in seconds, and bytes per additional second, since disks may be slow."""

_SMALL = 1 << 26
"""Maximum bytes of an array to read as a whole."""


def what_is_wrong(path: str) -> str | None:
    """Return in words what is wrong with the file; None if nothing is."""
    if not sys.executable:  # Python is embedded in another program, so there is nothing to start
        return None
    seconds = SECONDS + os.path.getsize(path) / BYTES_A_SECOND
    command = [sys.executable, "-P", __file__, path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}  # the same h5py
    try:
        done = subprocess.run(
            command,
            timeout=seconds,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"reading it did not finish within {seconds:.0f} s"
    if done.returncode == 0:
        return None
    return done.stdout.decode("utf-8", "replace").strip() or f"the HDF5 library crashed (exit code {done.returncode})"


def _look_at(path: str) -> None:
    import h5py

    with h5py.File(path, "r") as file:
        _look_at_attributes(file)
        file.visititems(_look_at_member)


def _look_at_member(_: str, member: Any) -> None:
    _look_at_attributes(member)
    if not hasattr(member, "dtype"):  # a group
        return
    if member.dtype.hasobject or member.nbytes <= _SMALL:
        _ = member[()]
        return
    for place in (0, -1):
        _ = member[place]
    if member.chunks is not None:
        member.id.get_num_chunks()


def _look_at_attributes(member: Any) -> None:
    for name in member.attrs:
        _ = member.attrs[name]


def main() -> int:
    """Print what is wrong, if anything, and return the exit code."""
    try:
        _look_at(sys.argv[1])
    except Exception as error:  # h5py raises many kinds
        print((str(error) or type(error).__name__).splitlines()[0])
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
