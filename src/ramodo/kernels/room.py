"""What there was no memory for: native code only knows that there was none."""

from __future__ import annotations

from types import TracebackType

_NATIVE = ("std::bad_alloc",)


class Room:
    """Native code that takes memory: where there is none, an error that says what for, and what needs less.

    Arrays that NumPy cannot make have a message of their own, with their size, and keep it.
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
