"""Tasks where the blocks are: on the cluster of the current Dask client, or else on Dask's scheduler in this process.

Only as many tasks as keep the workers busy are under way at a time, so that results wait for nobody, and what is lost
with a worker is little. A worker that dies takes nothing with it: Dask computes again what it held.
"""

from __future__ import annotations

import asyncio
import math
import pickle
import sys
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from typing import Any, ClassVar, Protocol

import dask
from dask.delayed import Delayed, delayed

from . import wire

Done = Callable[[int, Any], None]
"""Called with the place of a task and its result, in whatever order they finish."""

_AHEAD = 2
"""Tasks under way for each thread of a worker."""

_KEPT = 0.4
"""Share of the workers' memory that blocks may take which stay there from one pass to the next."""

_KEPT_HERE = "1 GiB"

_FRESH = 5.0
"""Seconds for which the list of workers is taken to be right."""


@dataclass(eq=False)
class _Sent:
    """An array that workers have, for as long as one of the arrays is here whose content it is."""

    parcel: Delayed
    owners: set[int] = field(default_factory=set)
    functions: dict[str, Delayed] = field(default_factory=dict)
    """What has this array in it, packed without it, by its content."""

    def belongs_to(self, array: Any) -> None:
        """Keep this for as long as that array is here."""
        if id(array) not in self.owners:
            self.owners.add(id(array))
            weakref.finalize(array, self._lose, id(array))  # which keeps this until then

    def _lose(self, owner: int) -> None:
        self.owners.discard(owner)


_SENT: weakref.WeakKeyDictionary[Any, weakref.WeakValueDictionary[str, _Sent]] = weakref.WeakKeyDictionary()
"""Large arrays that the workers of each client have, by their content."""


class ClusterError(RuntimeError, OSError):
    """A cluster, or too many of its workers, was lost; nothing was written."""


class Runner(Protocol):
    """Runs tasks."""

    leaves_process: ClassVar[bool]
    """Whether tasks run in other processes, to which what they need has to travel."""

    @property
    def n_copies(self) -> int:
        """How often what all tasks need is sent."""

    def run(self, tasks: Sequence[Delayed], done: Done) -> None:
        """Run tasks; `done` gets each result as it comes."""

    def hold(self, value: Any) -> tuple[list[Delayed], int]:
        """What all tasks need, as parcels for `wire.opened`, and the bytes sent to a worker of it.

        A large array that a worker has been sent before, of the same model for example, is not sent again.
        """

    def keep(self, tasks: Sequence[Delayed]) -> list[Delayed]:
        """The results of tasks, kept where they were computed."""

    def room(self) -> int:
        """Bytes that may be kept."""


def current_runner() -> Runner:
    """The current client's cluster; without one, whatever scheduler Dask uses in this process."""
    if "distributed" in sys.modules:
        from distributed import default_client

        try:
            return ClusterRunner(default_client())
        except ValueError:  # there is no client
            pass
    return LocalRunner()


class LocalRunner:
    """Dask without a cluster: by default the threads of this process."""

    leaves_process: ClassVar[bool] = False
    n_copies = 1

    def run(self, tasks: Sequence[Delayed], done: Done) -> None:
        step = 4 * dask.system.CPU_COUNT
        for first in range(0, len(tasks), step):
            for i, result in enumerate(dask.compute(*tasks[first : first + step])):
                done(first + i, result)

    def hold(self, value: Any) -> tuple[list[Delayed], int]:
        return [delayed(wire.Parcel(wire.packed(value)), pure=False)], 0

    def keep(self, tasks: Sequence[Delayed]) -> list[Delayed]:
        return list(dask.persist(*tasks))

    def room(self) -> int:
        return dask.utils.parse_bytes(dask.config.get("ramodo.kept-here", _KEPT_HERE))


class ClusterRunner:
    """The workers of a dask.distributed cluster."""

    leaves_process: ClassVar[bool] = True

    def __init__(self, client: Any) -> None:
        self._client = client
        self._workers: list[dict[str, Any]] = []
        self._asked = -math.inf

    def _look_for_workers(self) -> list[dict[str, Any]]:
        """The workers that there are, or were a moment ago."""
        if time.monotonic() - self._asked > _FRESH:
            self._workers = list(self._client.scheduler_info(n_workers=-1)["workers"].values())
            self._asked = time.monotonic()
        return self._workers

    @property
    def n_copies(self) -> int:
        return max(1, len(self._look_for_workers()))

    def run(self, tasks: Sequence[Delayed], done: Done) -> None:
        from distributed import as_completed

        with self._losses_explained():
            ahead = max(8, _AHEAD * sum(worker["nthreads"] for worker in self._look_for_workers()))
            waiting = iter(enumerate(tasks))
            under_way: dict[Any, int] = {}

            def submit(n: int) -> list[Any]:
                some = list(islice(waiting, n))
                futures = self._client.compute([task for _, task in some]) if some else []
                under_way.update({future: place for future, (place, _) in zip(futures, some, strict=True)})
                return list(futures)

            finished = as_completed(submit(ahead), with_results=True)
            for future, result in finished:
                if isinstance(result, BaseException):  # of a task that nobody will finish
                    raise result
                done(under_way.pop(future), result)
                finished.update(submit(1))

    def hold(self, value: Any) -> tuple[list[Delayed], int]:
        body, arrays = wire.packed_apart(value)
        found = [self._held_array(array) for array in arrays]
        n_sent = sum(n for _, n in found)
        known = found[0][0].functions if found else {}
        content = _content(body)
        if n_sent or content not in known:
            known[content] = self._held(body)
            n_sent += len(body)
        return [known[content], *(one.parcel for one, _ in found)], n_sent

    def _held(self, payload: bytes) -> Delayed:
        """As a task, whose payload the scheduler has: a worker that dies does not take the only copy with it."""
        return self.keep([delayed(wire.Parcel, pure=False)(payload)])[0]

    def _held_array(self, buffer: pickle.PickleBuffer) -> tuple[_Sent, int]:
        """An array that the workers keep for as long as this process has it, and what was sent of it now."""
        from distributed import futures_of

        there = _SENT.setdefault(self._client, weakref.WeakValueDictionary())
        array: Any = memoryview(buffer).obj
        one = next((one for one in there.values() if id(array) in one.owners), None)
        if one is None or array.flags.writeable:  # and may have changed since then
            one = there.get(_content(buffer.raw()))
        if one is not None and all(future.status in ("pending", "finished") for future in futures_of(one.parcel)):
            one.belongs_to(array)
            return one, 0
        payload = wire.narrowed(buffer)
        held = self._held(payload)
        with self._losses_explained():
            self._client.replicate(futures_of(held))  # or else blocks would travel to the worker that has it
        there[_content(buffer.raw())] = one = _Sent(held)
        one.belongs_to(array)
        return one, len(payload)

    def keep(self, tasks: Sequence[Delayed]) -> list[Delayed]:
        with self._losses_explained(), dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            return list(self._client.persist(list(tasks)))

    def room(self) -> int:
        limits = [worker["memory_limit"] for worker in self._look_for_workers()]
        return int(_KEPT * sum(limits)) if all(limits) else sys.maxsize

    @contextmanager
    def _losses_explained(self) -> Iterator[None]:
        """Turn the loss of the scheduler, or of worker after worker, into an error that says so."""
        from distributed import KilledWorker
        from distributed.comm import CommClosedError

        scheduler = self._client.scheduler.address if self._client.scheduler is not None else "its address"
        try:
            yield
        except KilledWorker as error:
            raise ClusterError(
                f"workers died again and again with the same partition ({error.task}): a partition and what is "
                "computed from it must fit into a worker's memory. Use smaller partitions, or larger workers."
            ) from None
        except (CancelledError, asyncio.CancelledError, CommClosedError, TimeoutError) as error:
            raise ClusterError(
                f"the Dask scheduler at {scheduler} was lost ({type(error).__name__}), and with it what its workers "
                "were computing; nothing was written. Start it again, and run this again."
            ) from None
        except (RuntimeError, OSError):
            if self._client.status in ("running", "newly-created"):
                raise
            raise ClusterError(f"the Dask scheduler at {scheduler} was lost; nothing was written.") from None


def _content(data: bytes | memoryview) -> str:
    return blake2b(data, digest_size=16).hexdigest()
