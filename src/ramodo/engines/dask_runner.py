"""Runs tasks where their blocks are: on the cluster of the current Dask client, or in this process if there is none.

Only enough tasks to keep the workers busy are submitted at a time, so that few results wait to be collected and little
is lost with a worker. Dask computes again what a dead worker held.
"""

from __future__ import annotations

import asyncio
import math
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from itertools import islice
from typing import Any, ClassVar, Protocol
from uuid import uuid4
from weakref import WeakSet

import dask
from dask.delayed import Delayed, delayed

from . import serialization

Done = Callable[[int, Any], None]
"""Called with the index of a task and its result, in the order in which tasks finish."""

_AHEAD = 4
"""Submitted tasks for each thread of a worker."""

_LEAST = 4
"""Minimum number of threads to assume for tasks that may run anywhere."""

_KEPT = 0.4
"""Share of the workers' memory for blocks that stay there from one pass to the next."""

_KEPT_HERE = "1 GiB"

_FRESH = 5.0
"""Seconds for which the list of workers is cached."""

_FREED: WeakSet[Any] = WeakSet()
"""Clients whose schedulers have the plugin `LoosePins`."""

_STAYS = "split-stage"
"""Prefix of the names of tasks that Dask's work stealing leaves where they are: it decides by name only."""


def is_held(source: Any) -> bool:
    """Return whether workers hold at least a part of it."""
    if "distributed" not in sys.modules:
        return False
    from distributed import futures_of

    return bool(futures_of(source))


def task_on(source: Any, function: Callable[..., Any], *given: Any) -> Delayed:
    """Return a task on the source of a block, which is never stolen from a worker that holds the source.

    Dask assumes half a second for tasks of an unknown kind, and would move blocks between workers.
    """
    named = {"dask_key_name": f"{_STAYS}-{uuid4().hex}"} if is_held(source) else {}
    return delayed(function, pure=False)(*given, **named)


class ClusterError(RuntimeError, OSError):
    """The scheduler, or too many workers, died; nothing was written."""


class Runner(Protocol):
    """Runs tasks."""

    leaves_process: ClassVar[bool]
    """Whether tasks run in other processes, so that their arguments travel."""

    @property
    def n_copies(self) -> int:
        """How many workers get a copy of what all tasks need."""

    def run(self, tasks: Sequence[Delayed], done: Done) -> None:
        """Run tasks, and call `done` with each result."""

    def hold(self, value: Any, is_lazy: bool = False) -> tuple[list[Any], int]:
        """Return arguments for `serialization.opened` that all tasks need, and the bytes sent to each worker.

        Workers that already have a large array, of the same model for example, are not sent it again. `is_lazy` says
        that tasks may run after the value is gone here.
        """

    def keep(self, tasks: Sequence[Delayed]) -> list[Delayed]:
        """Compute tasks, and keep the results where they are."""

    def room(self) -> int:
        """Return how many bytes may be kept."""


def current_runner() -> Runner:
    """Return the current client's cluster; without one, whatever scheduler Dask uses in this process."""
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

    def hold(self, value: Any, is_lazy: bool = False) -> tuple[list[Any], int]:
        return [delayed(serialization.Parcel(serialization.packed(value)), pure=False)], 0

    def keep(self, tasks: Sequence[Delayed]) -> list[Delayed]:
        return list(dask.persist(*tasks))

    def room(self) -> int:
        return dask.utils.parse_bytes(dask.config.get("ramodo.kept-here", _KEPT_HERE))


class ClusterRunner:
    """The workers of a dask.distributed cluster."""

    leaves_process: ClassVar[bool] = True

    def __init__(self, client: Any) -> None:
        self._client = client
        if client not in _FREED:
            from .loose_pins import LoosePins

            client.register_plugin(LoosePins())
            _FREED.add(client)
        self._workers: dict[str, dict[str, Any]] = {}
        self._asked = -math.inf

    def _look_for_workers(self) -> dict[str, dict[str, Any]]:
        """Return the workers by address, as of a few seconds ago at most."""
        if time.monotonic() - self._asked > _FRESH:
            self._workers = self._client.scheduler_info(n_workers=-1)["workers"]
            self._asked = time.monotonic()
        return self._workers

    @property
    def n_copies(self) -> int:
        return max(1, len(self._look_for_workers()))

    def run(self, tasks: Sequence[Delayed], done: Done) -> None:
        from distributed import as_completed

        with self._losses_explained():
            homes, threads = self._homes(tasks), self._threads()
            waiting = {home: iter(places) for home, places in _by_home(homes).items()}
            under_way: dict[Any, int] = {}

            def submit(home: str, n: int) -> list[Any]:
                places = list(islice(waiting[home], n))
                futures = self._client.compute([tasks[place] for place in places], **_at(home)) if places else []
                under_way.update(zip(futures, places, strict=True))
                return futures

            first = [future for home in waiting for future in submit(home, _AHEAD * threads[home])]
            finished = as_completed(first, with_results=True)
            for future, result in finished:
                if isinstance(result, BaseException):  # the task failed
                    raise result
                place = under_way.pop(future)
                done(place, result)
                finished.update(submit(homes[place], 1))

    def _threads(self) -> defaultdict[str, int]:
        """Threads of each worker by address, and of all together, under "", for tasks that may run anywhere."""
        there = {address: worker["nthreads"] for address, worker in self._look_for_workers().items()}
        return defaultdict(lambda: 1, {**there, "": max(_LEAST, sum(there.values()))})

    def _homes(self, tasks: Sequence[Delayed]) -> list[str]:
        """Return the worker that has the block of each task, or an empty string."""
        from distributed import futures_of

        needed = [futures_of(task) for task in tasks]
        times = Counter(future.key for futures in needed for future in futures)
        own = [next((future for future in futures if times[future.key] == 1), None) for futures in needed]
        blocks = [future for future in own if future is not None]
        have, load, homes = self._client.who_has(blocks) if blocks else {}, Counter[str](), []
        for future in own:
            holders = have.get(future.key) if future is not None else None
            homes.append(min(holders, key=load.__getitem__) if holders else "")
            load[homes[-1]] += 1
        return homes

    def _spread(self, homes: Sequence[str]) -> list[str]:
        """The same, with tasks that may run anywhere shared out among all threads, where their results stay."""
        load, found, workers = Counter(homes), list(homes), self._look_for_workers()
        for place, home in enumerate(homes):
            if not home and workers:
                found[place] = min(workers, key=lambda one: load[one] / workers[one]["nthreads"])
                load[found[place]] += 1
        return found

    def hold(self, value: Any, is_lazy: bool = False) -> tuple[list[Any], int]:
        from . import worker_arrays

        body, buffers = serialization.pickled(value)
        with self._losses_explained():
            found = [worker_arrays.share(self._client, buffer) for buffer in buffers if serialization.is_large(buffer)]
        arrays, n_sent = [one for one, _ in found], sum(n for _, n in found)
        if is_lazy:
            worker_arrays.keep_for_a_while(self._client, arrays)
        known = worker_arrays.parcels_of(self._client) if arrays else {}
        small = (buffer.raw() for buffer in buffers if not serialization.is_large(buffer))
        content = serialization.content_of(body, *(one.name.encode() for one in arrays), *small)
        if content not in known or _is_lost(known[content].value):
            payload = serialization.packed_without_large(body, buffers)
            known[content] = worker_arrays.ArrayUser(
                frozenset(one.name for one in arrays), self._held(payload, content)
            )
            n_sent += len(payload)
        return [known[content].value, *arrays], n_sent

    def _held(self, payload: bytes, content: str) -> Delayed:
        """Return the result of a task: the scheduler keeps the payload, and can make it again if workers die."""
        return self.keep([delayed(serialization.Parcel, pure=False)(payload, content)])[0]

    def keep(self, tasks: Sequence[Delayed]) -> list[Delayed]:
        from distributed import wait

        kept: dict[int, Delayed] = {}
        with self._losses_explained(), dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            by_home, threads = _by_home(self._spread(self._homes(tasks))), self._threads()
            while any(by_home.values()):
                for home, places in by_home.items():
                    some = [
                        places.pop(0) for _ in range(min(len(places), _AHEAD * threads[home] if home else len(tasks)))
                    ]
                    kept.update(zip(some, self._client.persist([tasks[i] for i in some], **_at(home)), strict=True))
                if any(by_home.values()):
                    wait(list(kept.values()))
        return [kept[place] for place in range(len(tasks))]

    def room(self) -> int:
        limits = [worker["memory_limit"] for worker in self._look_for_workers().values()]
        return int(_KEPT * sum(limits)) if all(limits) else sys.maxsize

    @contextmanager
    def _losses_explained(self) -> Iterator[None]:
        """Turn the loss of the scheduler, or of one worker after another, into a clear error."""
        from distributed import KilledWorker
        from distributed.comm import CommClosedError

        scheduler = self._client.scheduler.address if self._client.scheduler is not None else "its address"
        try:
            yield
        except KilledWorker as error:
            raise ClusterError(
                f"workers died again and again with the same partition ({error.task}): a partition and everything "
                "computed from it must fit into a worker's memory. Use smaller partitions or larger workers."
            ) from None
        except (CancelledError, asyncio.CancelledError, CommClosedError, TimeoutError) as error:
            raise ClusterError(
                f"the Dask scheduler at {scheduler} was lost ({type(error).__name__}), and with it the results of its "
                "workers; nothing was written. Restart the scheduler, and run this again."
            ) from None
        except (RuntimeError, OSError):
            if self._client.status in ("running", "newly-created"):
                raise
            raise ClusterError(f"the Dask scheduler at {scheduler} was lost; nothing was written.") from None


def _is_lost(held: Delayed) -> bool:
    """Return whether workers no longer hold it, for example because all were restarted."""
    from distributed import futures_of

    return any(future.cancelled() or future.status in ("lost", "error") for future in futures_of(held))


def _by_home(homes: Sequence[str]) -> dict[str, list[int]]:
    """Return the indices of the tasks of each worker."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for place, home in enumerate(homes):
        found[home].append(place)
    return found


def _at(home: str) -> dict[str, Any]:
    """Options for tasks of a worker; others run them only if it is gone."""
    return {"workers": [home], "allow_other_workers": True} if home else {}
