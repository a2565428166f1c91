"""The command line: `ramodo detect FILE` and its siblings.

Results go to standard output, everything else to standard error. Exit codes: 0 done, 2 bad usage, 3 bad data, 130
interrupted.
"""

from __future__ import annotations

import os
import sys

from ..visible import visible

BAD_USAGE, BAD_DATA, INTERRUPTED = 2, 3, 130


def main() -> None:
    """The entry point of the command."""
    try:
        try:
            from .app import app
        except ImportError as error:
            if error.name not in ("typer", "rich"):
                raise
            sys.exit("The command line needs the packages typer and rich: pip install 'ramodo[cli]'.")
        try:
            app(prog_name="ramodo")
        finally:
            sys.stdout.flush()  # what cannot be written is to be known here
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # the reader of our output has seen enough
        _leave_output()
        sys.exit(0)
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # typer has seen it before us, and takes it for a failure
            end.code = 0
        raise
    except (ValueError, OSError, MemoryError) as error:
        if not _is_ours(error):
            raise
        _leave_output()
        print(f"ramodo: {visible(_text(error))}", file=sys.stderr)
        sys.exit(BAD_USAGE if type(error).__name__ == "OptionError" else BAD_DATA)


def _leave_output() -> None:
    """What cannot be written to standard output is dropped: the interpreter would try again as it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_ours(error: BaseException) -> bool:
    """Errors that speak of the user's data, options or files; all others are ours to mend, and show where they are."""
    return isinstance(error, OSError | MemoryError) or type(error).__module__.split(".")[0] == "ramodo"


def _text(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__
