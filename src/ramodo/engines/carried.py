"""Large arrays that every worker of a cluster has once: those of a model, for as long as the model is here.

They are no results of tasks. Dask drops copies of those as soon as no task waits for them, and would send a model anew
in each pass. A plugin of the workers carries each array instead: all workers get it when it is first needed, a worker
that starts later before its first task, and all lose it when nobody here needs it any more.
"""

from __future__ import annotations

import pickle
import threading
import weakref
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import Any
from uuid import uuid4

from dask.delayed import Delayed
from distributed import WorkerPlugin
from distributed.comm import CommClosedError

from . import wire

_TRIES = 3
"""Times that an array is sent where a worker dies meanwhile."""

_RECENT = 2
"""Lazy collections whose arrays stay though they are gone here: their tasks may be under way."""


class Shared:
    """An array that workers have, for as long as one of the arrays is here whose content it is."""

    def __init__(self, client: Any, content: str, payload: bytes) -> None:
        self.content, self.functions = content, dict[str, Delayed]()
        """`functions`: what has this array in it, packed without it, by its content."""
        self._owners: set[int] = set()
        name = f"ramodo-{uuid4().hex}"
        weakref.finalize(self, _withdraw, weakref.ref(client), name).atexit = False
        _register(client, _Carrier(content, payload), name)

    def is_of(self, array: Any) -> bool:
        """Whether it was sent for that array."""
        return id(array) in self._owners

    def belongs_to(self, array: Any) -> None:
        """Keep this for as long as that array is here."""
        if not self.is_of(array):
            self._owners.add(id(array))
            weakref.finalize(array, self.leaves, id(array)).atexit = False  # which keeps this until then

    def leaves(self, owner: int) -> None:
        """An array of that identity is gone, or has another content."""
        self._owners.discard(owner)


class Carried:
    """What a task has of an array that its worker has."""

    def __init__(self, content: str, shared: Shared | None = None) -> None:
        self._content, self.shared = content, shared  # which must not go as long as there are tasks here

    def __reduce__(self) -> tuple[Any, ...]:
        return Carried, (self._content,)

    def array(self) -> Any:
        """The bytes of the array, in the process of a worker."""
        return self._kept().array()

    def with_others(self, parcel: wire.Parcel, apart: Sequence[wire.Apart]) -> Any:
        """What is in a parcel, which this array is the first of; it stays opened for as long as the array is here."""
        opened = self._kept().opened
        if parcel.content not in opened:
            opened[parcel.content] = parcel.opened(apart)
        return opened[parcel.content]

    def _kept(self) -> _Kept:
        with _LOCK:
            kept = _HERE.get(self._content)
        if kept is None:
            raise RuntimeError(
                "an array of a model was withdrawn from this worker before a task was done that needs it: keep the "
                "detector until the scores are computed."
            )
        return kept


_SENT: weakref.WeakKeyDictionary[Any, weakref.WeakValueDictionary[str, Shared]] = weakref.WeakKeyDictionary()
"""What the workers of each client have, by its content."""

_LAST: weakref.WeakKeyDictionary[Any, deque[list[Shared]]] = weakref.WeakKeyDictionary()


def share(client: Any, buffer: pickle.PickleBuffer) -> tuple[Shared, int]:
    """An array that workers have from now on, and the bytes that were sent to each of them for it."""
    there = _SENT.setdefault(client, weakref.WeakValueDictionary())
    array: Any = memoryview(buffer).obj
    one = next((one for one in there.values() if one.is_of(array)), None)
    if one is None or array.flags.writeable:  # and may have changed since then
        one = there.get(content_of(buffer.raw()))
    n_sent = 0
    if one is None:
        for other in there.values():
            other.leaves(id(array))  # whose content it has no longer
        payload, content = wire.narrowed(buffer), content_of(buffer.raw())
        there[content] = one = Shared(client, content, payload)
        n_sent = len(payload)
    one.belongs_to(array)
    return one, n_sent


def keep_for_a_while(client: Any, arrays: Sequence[Shared]) -> None:
    """Let workers have arrays that only a lazy collection needs: who persists it may forget the detector."""
    _LAST.setdefault(client, deque(maxlen=_RECENT)).append(list(arrays))


def content_of(*parts: bytes | memoryview) -> str:
    """A name for the content of bytes."""
    found = blake2b(digest_size=16)
    for part in parts:
        found.update(len(part).to_bytes(8, "little"))
        found.update(part)
    return found.hexdigest()


def _register(client: Any, carrier: _Carrier, name: str) -> None:
    for again in reversed(range(_TRIES)):
        try:
            client.register_plugin(carrier, name=name)
            return
        except (CommClosedError, OSError):  # a worker died
            if not again or client.status != "running":
                raise


def _withdraw(client: weakref.ref[Any], name: str) -> None:
    """Take an array from the workers, without waiting for it: this may run wherever garbage is collected."""
    one = client()
    if one is not None and one.status == "running":
        one.loop.add_callback(_unregister, one, name)


async def _unregister(client: Any, name: str) -> None:
    with suppress(CommClosedError, OSError, ValueError):  # the cluster, or the plugin with it, is gone
        await client.unregister_worker_plugin(name)


# ---- in the process of a worker --------------------------------------------------------------------------------------


class _Kept:
    """An array as it came, and from its first use on as it is used; and what was opened with it, by its content."""

    def __init__(self, payload: bytes) -> None:
        self.n_carriers, self.opened = 0, dict[str, Any]()
        self._payload, self._array, self._lock = payload, None, threading.Lock()

    def array(self) -> Any:
        with self._lock:
            if self._array is None:
                self._array, self._payload = wire.widened(self._payload), b""
        return self._array


_HERE: dict[str, _Kept] = {}
_LOCK = threading.Lock()


class _Carrier(WorkerPlugin):
    """Brings an array to a worker; several workers of one process share it."""

    def __init__(self, content: str, payload: bytes) -> None:
        self._content, self._payload = content, payload

    def setup(self, worker: Any) -> None:
        with _LOCK:
            _HERE.setdefault(self._content, _Kept(self._payload)).n_carriers += 1
        self._payload = b""

    def teardown(self, worker: Any) -> None:
        with _LOCK:
            kept = _HERE[self._content]
            kept.n_carriers -= 1
            if not kept.n_carriers:
                del _HERE[self._content]
