"""Large arrays of models, which every worker of a cluster keeps for as long as the model exists here.

Tasks do not depend on them: Dask drops copies of data that no task waits for, and would send a model again in each
pass. An array is scattered to all workers when it is first needed, and a worker keeps it from the first task that uses
it. A worker that lacks an array, because it started later, asks for it and this process sends it. Workers drop an array
once nobody here needs it.

Registering each array as a worker plugin would be simpler, but the scheduler would hold it and send it to each worker
itself: 80 MB to two workers took several times as long as a scatter.
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
"""Attempts to send an array while workers die."""

_RECENT = 2
"""The last lazy collections whose arrays stay on the workers: their tasks may still run after the model is gone."""

_COMPARED = 1 << 16
"""Bytes of two arrays that are compared at a time."""

_TOPIC = "ramodo-asks"
"""Dask's event topic under which workers ask for arrays."""

_PATIENCE, _AGAIN = 60.0, 5.0
"""Seconds that a worker waits for an array, and after which it asks again."""


class SharedArray:
    """Keeps an array on the workers for as long as this object exists; arrays with that content keep it alive.

    `digest` is a hash of the content of an array that may change later, otherwise None.
    """

    def __init__(self, client: Any, digest: str | None) -> None:
        self.name, self._digest = f"ramodo-{uuid4().hex}", digest
        self._owners: dict[int, weakref.finalize[Any, Any]] = {}
        weakref.finalize(self, _withdraw, weakref.ref(client), self.name).atexit = False

    def has_content(self, array: Any, digest: str | None) -> bool:
        """Return whether the workers have the content of an array."""
        if digest is not None or self._digest is not None:
            return digest == self._digest
        return id(array) in self._owners or ((own := self.array()) is not None and _equal(own, array))

    def add_owner(self, array: Any) -> None:
        """Keep this object for as long as an array exists."""
        if id(array) not in self._owners:
            self._owners[id(array)] = weakref.finalize(array, self.remove_owner, id(array))  # refers to self until then
            self._owners[id(array)].atexit = False

    def remove_owner(self, owner: int) -> None:
        """Forget the array with that id, which is gone or has changed."""
        kept = self._owners.pop(owner, None)
        if kept is not None:
            kept.detach()

    def is_unchanged(self, array: Any) -> bool:
        """Return whether an owner still has the content that was sent."""
        return self._digest is None or serialization.content_of(pickle.PickleBuffer(array).raw()) == self._digest

    def array(self) -> Any:
        """Return one of the owners, or None."""
        found = (kept.peek() for kept in list(self._owners.values()))
        return next((one[0] for one in found if one is not None), None)


class WorkerArray:
    """A stand-in for an array in the arguments of a task, pickled by name only."""

    def __init__(self, name: str, shared: SharedArray | None = None, sent: Any = None) -> None:
        self.name, self.shared, self._sent = name, shared, sent  # workers keep the array while there are tasks here

    def __reduce__(self) -> tuple[Any, ...]:
        return WorkerArray, (self.name,)

    def array(self) -> Any:
        """Return the bytes of the array; called on a worker."""
        return _kept(self.name).array()

    def open_parcel(self, parcel: serialization.Parcel, arrays: Sequence[serialization.LargeArray]) -> Any:
        """Return the value in a parcel, which stays opened for as long as this worker has all of its arrays."""
        found = _OPENED.get(parcel.content)
        if found is None:
            found = ArrayUser(frozenset(one.name for one in arrays), parcel.opened(arrays))
            _OPENED[parcel.content] = found
        return found.value


class ArrayUser(NamedTuple):
    """A value, and the names of the large arrays in it."""

    names: frozenset[str]
    value: Any


def _drop_users(name: str, users: dict[str, ArrayUser]) -> None:
    """Drop all values that contain an array."""
    for content, one in list(users.items()):
        if name in one.names:
            users.pop(content, None)


_SENT: weakref.WeakKeyDictionary[Any, weakref.WeakValueDictionary[str, SharedArray]] = weakref.WeakKeyDictionary()
"""For each client, the arrays that its workers have, by name."""

_PARCELS: weakref.WeakKeyDictionary[Any, dict[str, ArrayUser]] = weakref.WeakKeyDictionary()
"""For each client, the parcels with large arrays that its workers hold, by content."""

_LAST: weakref.WeakKeyDictionary[Any, deque[list[Any]]] = weakref.WeakKeyDictionary()


def share(client: Any, buffer: pickle.PickleBuffer) -> tuple[WorkerArray, int]:
    """Return an array for the arguments of tasks, and the bytes sent to each worker (0 if they had it already)."""
    there = _sent_by(client)
    array: Any = memoryview(buffer).obj
    digest = serialization.content_of(buffer.raw()) if array.flags.writeable else None
    one = next((one for one in list(there.values()) if one.has_content(array, digest)), None)
    sent, n_sent = None, 0
    if one is None:
        for other in list(there.values()):
            other.remove_owner(id(array))  # its content has changed
        one, payload = SharedArray(client, digest), _payload(client, buffer)
        sent, n_sent = _scatter(client, one.name, payload), serialization.size_of(payload)
        there[one.name] = one
    one.add_owner(array)
    return WorkerArray(one.name, one, sent), n_sent


def parcels_of(client: Any) -> dict[str, ArrayUser]:
    """Parcels that workers hold, by content, for as long as the workers have all arrays of a parcel."""
    return _PARCELS.setdefault(client, {})


def keep_for_a_while(client: Any, arrays: Sequence[WorkerArray]) -> None:
    """Keep the arrays of a lazy collection on the workers: after `persist`, users may delete the detector."""
    kept = [(one, one.shared.array()) for one in arrays if one.shared is not None]
    _LAST.setdefault(client, deque(maxlen=_RECENT)).append(kept)


def _equal(first: Any, second: Any) -> bool:
    """Return whether two arrays have the same bytes; stops at the first difference."""
    a, b = (np.frombuffer(pickle.PickleBuffer(one).raw(), dtype=np.uint8) for one in (first, second))
    return len(a) == len(b) and all(
        np.array_equal(a[at : at + _COMPARED], b[at : at + _COMPARED]) for at in range(0, len(a), _COMPARED)
    )


def _sent_by(client: Any) -> weakref.WeakValueDictionary[str, SharedArray]:
    there = _SENT.get(client)
    if there is None:
        there = _SENT[client] = weakref.WeakValueDictionary()
        mine = weakref.ref(client)
        client.subscribe_topic(_TOPIC, lambda event: _answer(mine(), event))
    return there


def _payload(client: Any, buffer: pickle.PickleBuffer) -> Any:
    """Return the compressed array. Workers in this process get a copy, since they would keep the array itself alive."""
    payload = serialization.compressed(buffer)
    is_view = isinstance(payload, np.ndarray)
    return payload.copy() if is_view and client.scheduler.address.startswith("inproc") else payload


def _scatter(client: Any, name: str, payload: Any) -> Any:
    """Return futures of an array. While one exists, workers that have not used the array yet need not ask for it."""
    for tries_left in reversed(range(_TRIES)):
        try:
            return client.scatter({name: payload}, broadcast=True)
        except (CommClosedError, OSError, ValueError) as error:  # a worker died
            if not tries_left or client.status != "running" or isinstance(error, TimeoutError):
                raise
    raise AssertionError  # unreachable


def _answer(client: Any, event: tuple[float, tuple[str, str]]) -> None:
    """Send an array of this process to a worker that asks for it; called in the client's event loop."""
    name, worker = event[1]
    shared = _SENT[client].get(name) if client is not None else None
    if shared is not None:
        client.loop.add_callback(_send, client, shared, worker)


async def _send(client: Any, shared: SharedArray, worker: str) -> None:
    array = shared.array()
    if array is None or not await asyncio.to_thread(shared.is_unchanged, array):
        return
    payload = await asyncio.to_thread(_payload, client, pickle.PickleBuffer(array))
    with suppress(CommClosedError, OSError, ValueError):  # the worker or the cluster is gone, or the worker asks again
        sent = await client.scatter({shared.name: payload}, workers=[worker])
        await asyncio.sleep(_AGAIN)  # by then the worker has taken it
        del sent


def _withdraw(client: weakref.ref[Any], name: str) -> None:
    """Remove an array from the workers without waiting: garbage collection calls this."""
    one = client()
    if one is not None:
        _drop_users(name, parcels_of(one))
        if one.status == "running":
            one.loop.add_callback(_forget_everywhere, one, name)


async def _forget_everywhere(client: Any, name: str) -> None:
    with suppress(CommClosedError, OSError, ValueError):  # the cluster is gone
        await client.run(_forget, name, on_error="ignore")


# ---- on a worker -----------------------------------------------------------------------------------------------------


class _Kept:
    """An array that is decompressed when it is first used."""

    def __init__(self, payload: Any) -> None:
        self._payload, self._lock = payload, threading.Lock()
        self._array: Any = None

    def array(self) -> Any:
        with self._lock:
            if self._array is None:
                self._array, self._payload = serialization.decompressed(self._payload), None
        return self._array


_HERE: dict[str, _Kept] = {}
_OPENED: dict[str, ArrayUser] = {}
"""Opened parcels with large arrays, by content."""
_LOCK = threading.Lock()


def _kept(name: str) -> _Kept:
    """Return an array of this worker, which asks for it if it has none; called in a task."""
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
                "this worker no longer has an array of a model that a task needs: keep the detector until the scores "
                "are computed."
            )
        if waited >= asked:
            worker.log_event(_TOPIC, (name, worker.address))
            asked += _AGAIN
        time.sleep(0.01)


def _forget(name: str) -> None:
    with _LOCK:
        _HERE.pop(name, None)
        _drop_users(name, _OPENED)
