"""The command line: `ramodo detect FILE` and its siblings.

Results go to standard output, everything else to standard error. Exit codes: 0 done, 2 bad usage, 3 bad data, 4
rows that differ from the training rows, where --fail-on-drift asks for it, 130 interrupted.
"""

from __future__ import annotations

import errno
import os
import sys

from ..extras import pip_install
from ..files.full_disk import NO_ROOM
from ..terminal.escaping import escape_controls

BAD_USAGE, BAD_DATA, DRIFTED, INTERRUPTED = 2, 3, 4, 130


def main() -> None:
    """The entry point of the command."""
    _open_closed_streams()
    try:
        try:
            from .app import app
        except ImportError as error:
            if error.name not in ("typer", "rich"):
                raise
            sys.exit(f"The command line needs the packages typer and rich: {pip_install('cli')}.")
        try:
            app(prog_name="ramodo")
        finally:
            sys.stdout.flush()  # so that a failed write is noticed here
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # the reader of our output has seen enough
        _leave_output()
        sys.exit(0)
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # typer saw it first and took it for a failure
            end.code = 0
            _leave_output()
        raise
    except (ValueError, OSError, MemoryError) as error:
        if not _is_ours(error):
            raise
        _leave_output()
        _complain(f"ramodo: {escape_controls(_text(error))}")
        sys.exit(BAD_USAGE if type(error).__name__ == "OptionError" else BAD_DATA)


def _open_closed_streams() -> None:
    """Connect closed standard streams (`>&-`) to the null device; else the next file opened would get their number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - until the process ends


def _leave_output() -> None:
    """Drop what cannot be written to a standard stream: the interpreter would try again on exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _complain(text: str) -> None:
    """Print to standard error; if nobody reads it, the exit code must suffice."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        _leave_output()


def _is_ours(error: BaseException) -> bool:
    """Return whether an error concerns the user's data, options or files; all others are bugs and show a traceback."""
    return isinstance(error, OSError | MemoryError) or type(error).__module__.split(".")[0] == "ramodo"


def _text(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return _memory_text(str(error).rstrip("."))
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return _memory_text(error.strerror or "")
    if isinstance(error, OSError) and error.strerror is not None:
        if error.filename == "-":
            return _NO_STREAM
        if error.errno in NO_ROOM:
            return f"{error.filename or 'standard output'} could not be written: {error.strerror}."
        if error.filename is not None:
            return f"{error.filename}: {_WHAT_TO_DO.get(error.errno or 0, error.strerror)}"
    if isinstance(error, FileNotFoundError) and (str(error) == "-" or "'-'" in str(error)):  # as pyarrow words it
        return _NO_STREAM
    if type(error).__name__ == "ModelFileError" and _NO_MODEL in str(error):
        return f"{str(error).rstrip('.')}; the model comes first: ramodo COMMAND MODEL DATA."
    return str(error) or type(error).__name__


_WHAT_TO_DO = {
    errno.ENOENT: "there is no such file; check its name, or give its full path.",
    errno.EACCES: "you have no permission to open it; ask its owner for access or a copy.",
    errno.EISDIR: "it must be a file, got a folder.",
}
"""Errors of the system with advice."""

_NO_STREAM = "this format cannot be read from standard input (-); save the data to a file first."

_NO_MODEL = "it does not begin like one"


def _memory_text(said: str) -> str:
    """numpy says how much memory it asked for; C++ gives only the name of its error."""
    asked = f": {said}" if " " in said else ""
    return (
        f"there is not enough memory{asked}. Use fewer rows or columns, or a rows folder, which stays on disk: "
        "ramodo convert DATA DATA.rows."
    )
