"""The command line: `ramodo detect FILE` and its siblings.

Results go to standard output, everything else to standard error. Exit codes: 0 done, 2 bad usage, 3 bad data, 130
interrupted.
"""

from __future__ import annotations

import sys

BAD_DATA, INTERRUPTED = 3, 130


def main() -> None:
    """The entry point of the command."""
    try:
        from .app import app
    except ImportError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit("The command line needs the packages typer and rich: pip install 'ramodo[cli]'.")
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # the reader of our output has seen enough
        sys.stderr.close()
        sys.exit(0)
    except (ValueError, OSError, MemoryError) as error:
        if not _is_ours(error):
            raise
        print(f"ramodo: {_text(error)}", file=sys.stderr)
        sys.exit(BAD_DATA)


def _is_ours(error: BaseException) -> bool:
    """Errors that speak of the user's data, options or files; all others are ours to mend, and show where they are."""
    return isinstance(error, OSError | MemoryError) or type(error).__module__.split(".")[0] == "ramodo"


def _text(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__
