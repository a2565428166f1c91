"""Large arrays that every worker of a cluster has once: those of a model, for as long as the model is here.

Tasks do not depend on them: Dask drops copies of what no task waits for, and would send a model anew in each pass. An
array is sent to all workers when it is first needed, and a worker takes it out of what it was sent at the first task
that uses it. A worker that has none, since it started later, asks for it, and gets it from here. All lose it when
nobody here needs it any more.
"""

from __future__ import annotations

import asyncio
import pickle
import threading
import time
import weakref
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from distributed import get_worker
from distributed.comm import CommClosedError

from . import serialization

_TRIES = 3
"""Times that an array is sent where a worker dies meanwhile."""

_RECENT = 2
"""Lazy collections whose arrays stay though they are gone here: their tasks may be under way."""

_COMPARED = 1 << 16
"""Bytes of arrays that are compared at a time."""

_TOPIC = "ramodo-asks"
"""Under which workers ask for arrays."""

_PATIENCE, _AGAIN = 60.0, 5.0
"""Seconds that a worker waits for an array, and after which it asks again."""


class Shared:
    """An array that workers have, for as long as one of the arrays is here whose content it is.

    `digest` is its content's, of an array that may change later.
    """

    def __init__(self, client: Any, digest: str | None) -> None:
        self.name, self._digest = f"ramodo-{uuid4().hex}", digest
        self._owners: dict[int, weakref.finalize[Any, Any]] = {}
        weakref.finalize(self, _withdraw, weakref.ref(client), self.name).atexit = False

    def is_of(self, array: Any, digest: str | None) -> bool:
        """Whether it was sent for that array, or for one of the same content."""
        if digest is not None or self._digest is not None:
            return digest == self._digest
        return id(array) in self._owners or ((own := self.array()) is not None and _equal(own, array))

    def belongs_to(self, array: Any) -> None:
        """Keep this for as long as that array is here."""
        if id(array) not in self._owners:
            self._owners[id(array)] = weakref.finalize(array, self.leaves, id(array))  # which keeps this until then
            self._owners[id(array)].atexit = False

    def leaves(self, owner: int) -> None:
        """An array of that identity is gone, or has another content."""
        kept = self._owners.pop(owner, None)
        if kept is not None:
            kept.detach()

    def is_still(self, array: Any) -> bool:
        """Whether one of the arrays has not changed since."""
        return self._digest is None or serialization.content_of(pickle.PickleBuffer(array).raw()) == self._digest

    def array(self) -> Any:
        """One of the arrays, or None."""
        found = (kept.peek() for kept in list(self._owners.values()))
        return next((one[0] for one in found if one is not None), None)


class Carried:
    """What a task has of an array that its worker has."""

    def __init__(self, name: str, shared: Shared | None = None, sent: Any = None) -> None:
        self.name, self.shared, self._sent = name, shared, sent  # which must not go as long as there are tasks here

    def __reduce__(self) -> tuple[Any, ...]:
        return Carried, (self.name,)

    def array(self) -> Any:
        """The bytes of the array, in the process of a worker."""
        return _kept(self.name).array()

    def open_parcel(self, parcel: serialization.Parcel, arrays: Sequence[serialization.LargeArray]) -> Any:
        """What is in a parcel with these arrays; it stays opened for as long as all of them are here."""
        found = _OPENED.get(parcel.content)
        if found is None:
            found = Using(frozenset(one.name for one in arrays), parcel.opened(arrays))
            _OPENED[parcel.content] = found
        return found.value


class Using(NamedTuple):
    """Something that has arrays in it, and their names."""

    names: frozenset[str]
    value: Any


def _without(name: str, held: dict[str, Using]) -> None:
    """Drop what has an array in it."""
    for content, one in list(held.items()):
        if name in one.names:
            held.pop(content, None)


_SENT: weakref.WeakKeyDictionary[Any, weakref.WeakValueDictionary[str, Shared]] = weakref.WeakKeyDictionary()
"""What the workers of each client have, by its name."""

_FUNCTIONS: weakref.WeakKeyDictionary[Any, dict[str, Using]] = weakref.WeakKeyDictionary()
"""What was packed without its arrays, as tasks that workers hold, by its content."""

_LAST: weakref.WeakKeyDictionary[Any, deque[list[Any]]] = weakref.WeakKeyDictionary()


def share(client: Any, buffer: pickle.PickleBuffer) -> tuple[Carried, int]:
    """An array that workers have from now on, as tasks are given it, and the bytes sent to each worker for it."""
    there = _sent_by(client)
    array: Any = memoryview(buffer).obj
    digest = serialization.content_of(buffer.raw()) if array.flags.writeable else None
    one = next((one for one in list(there.values()) if one.is_of(array, digest)), None)
    sent, n_sent = None, 0
    if one is None:
        for other in list(there.values()):
            other.leaves(id(array))  # whose content it has no longer
        one, payload = Shared(client, digest), _payload(client, buffer)
        sent, n_sent = _scatter(client, one.name, payload), serialization.size_of(payload)
        there[one.name] = one
    one.belongs_to(array)
    return Carried(one.name, one, sent), n_sent


def functions_of(client: Any) -> dict[str, Using]:
    """What workers hold that has arrays in it, by its content, for as long as they have all of the arrays."""
    return _FUNCTIONS.setdefault(client, {})


def keep_for_a_while(client: Any, carried: Sequence[Carried]) -> None:
    """Let workers have arrays that only a lazy collection needs: who persists it may forget the detector."""
    kept = [(one, one.shared.array()) for one in carried if one.shared is not None]
    _LAST.setdefault(client, deque(maxlen=_RECENT)).append(kept)


def _equal(first: Any, second: Any) -> bool:
    """Whether two arrays have the same bytes; of different ones few are compared."""
    a, b = (np.frombuffer(pickle.PickleBuffer(one).raw(), dtype=np.uint8) for one in (first, second))
    return len(a) == len(b) and all(
        np.array_equal(a[at : at + _COMPARED], b[at : at + _COMPARED]) for at in range(0, len(a), _COMPARED)
    )


def _sent_by(client: Any) -> weakref.WeakValueDictionary[str, Shared]:
    there = _SENT.get(client)
    if there is None:
        there = _SENT[client] = weakref.WeakValueDictionary()
        mine = weakref.ref(client)
        client.subscribe_topic(_TOPIC, lambda event: _answer(mine(), event))
    return there


def _payload(client: Any, buffer: pickle.PickleBuffer) -> Any:
    """What is sent of an array: nothing that workers in this process would keep alive, and with it the array."""
    payload = serialization.compressed(buffer)
    is_view = isinstance(payload, np.ndarray)
    return payload.copy() if is_view and client.scheduler.address.startswith("inproc") else payload


def _scatter(client: Any, name: str, payload: Any) -> Any:
    """Futures of an array: for as long as one is here, workers that have not used it yet need not ask."""
    for again in reversed(range(_TRIES)):
        try:
            return client.scatter({name: payload}, broadcast=True)
        except (CommClosedError, OSError, ValueError) as error:  # a worker died
            if not again or client.status != "running" or isinstance(error, TimeoutError):
                raise
    raise AssertionError  # unreachable


def _answer(client: Any, event: tuple[float, tuple[str, str]]) -> None:
    """Send an array to a worker that asks for it, if it is of this process; called in the client's loop."""
    name, worker = event[1]
    shared = _SENT[client].get(name) if client is not None else None
    if shared is not None:
        client.loop.add_callback(_send, client, shared, worker)


async def _send(client: Any, shared: Shared, worker: str) -> None:
    array = shared.array()
    if array is None or not await asyncio.to_thread(shared.is_still, array):
        return
    payload = await asyncio.to_thread(_payload, client, pickle.PickleBuffer(array))
    with suppress(CommClosedError, OSError, ValueError):  # it, or the cluster, is gone, or it asks again
        sent = await client.scatter({shared.name: payload}, workers=[worker])
        await asyncio.sleep(_AGAIN)  # by then it has taken it
        del sent


def _withdraw(client: weakref.ref[Any], name: str) -> None:
    """Take an array from the workers, without waiting for it: this may run wherever garbage is collected."""
    one = client()
    if one is not None:
        _without(name, functions_of(one))
        if one.status == "running":
            one.loop.add_callback(_forget_everywhere, one, name)


async def _forget_everywhere(client: Any, name: str) -> None:
    with suppress(CommClosedError, OSError, ValueError):  # the cluster is gone
        await client.run(_forget, name, on_error="ignore")


# ---- in the process of a worker --------------------------------------------------------------------------------------


class _Kept:
    """An array as it came, and from its first use on as it is used."""

    def __init__(self, payload: Any) -> None:
        self._payload, self._lock = payload, threading.Lock()
        self._array: Any = None

    def array(self) -> Any:
        with self._lock:
            if self._array is None:
                self._array, self._payload = serialization.decompressed(self._payload), None
        return self._array


_HERE: dict[str, _Kept] = {}
_OPENED: dict[str, Using] = {}
"""What was opened with arrays, by its content."""
_LOCK = threading.Lock()


def _kept(name: str) -> _Kept:
    """An array that this worker has, or asks for; called in a task."""
    started, asked = time.monotonic(), 0.0
    while True:
        with _LOCK:
            if name in _HERE:
                return _HERE[name]
            worker = get_worker()
            payload = worker.data.get(name)
            if payload is not None:
                return _HERE.setdefault(name, _Kept(payload))
        waited = time.monotonic() - started
        if waited > _PATIENCE:
            raise RuntimeError(
                "an array of a model was withdrawn from this worker before a task was done that needs it: keep the "
                "detector until the scores are computed."
            )
        if waited >= asked:
            worker.log_event(_TOPIC, (name, worker.address))
            asked += _AGAIN
        time.sleep(0.01)


def _forget(name: str) -> None:
    with _LOCK:
        _HERE.pop(name, None)
        _without(name, _OPENED)
