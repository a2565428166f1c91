"""Errors that say what needed the memory: native code only reports that none was left."""

from __future__ import annotations

from types import TracebackType

_NATIVE = ("std::bad_alloc",)


class MemoryErrorAdvice:
    """A context for native code that allocates: the error for exhausted memory says what it was for and what helps.

    Arrays that NumPy cannot allocate have their own message, with their size, and keep it.
    """

    def __init__(self, what: str, instead: str) -> None:
        self._what, self._instead = what, instead

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, MemoryError) and error.args == _NATIVE:
            raise MemoryError(
                f"no memory left for {self._what}. {self._instead}, or allow this process more memory (a limit such as "
                "that of ulimit or of a container counts as well)."
            ) from None
