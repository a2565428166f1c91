"""A map on several threads that returns results in order and holds only a few at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Piece = TypeVar("Piece")
Result = TypeVar("Result")


def thread_map(
    work: Callable[[Piece], Result],
    pieces: Sequence[Piece],
    n_threads: int,
    stop: Callable[[], None] = lambda: None,
) -> Iterator[Result]:
    """Yield the result for each piece, in order. At most two pieces per thread are running or waiting to be used.

    If the system refuses to start a thread, the calling thread does the rest. `stop` is called when an error or Ctrl-C
    ends the map early, before it waits for the running pieces.
    """
    n_threads = min(n_threads, len(pieces))
    if n_threads < 2:
        yield from map(work, pieces)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        waiting: deque[Future[Result]] = deque()
        submit: Callable[[Callable[[Piece], Result], Piece], Future[Result]] = pool.submit
        try:
            for piece in pieces:
                if len(waiting) == 2 * n_threads:
                    yield waiting.popleft().result()
                try:
                    waiting.append(submit(work, piece))
                except RuntimeError:  # the system allows no more threads
                    submit = _done
                    waiting.append(_done(work, piece))
            while waiting:
                yield waiting.popleft().result()
        except BaseException:
            stop()
            raise
        finally:
            for future in waiting:
                future.cancel()


def _done(work: Callable[[Piece], Result], piece: Piece) -> Future[Result]:
    """Compute a piece in this thread and return its result as a future."""
    future: Future[Result] = Future()
    try:
        future.set_result(work(piece))
    except Exception as error:
        future.set_exception(error)
    return future
