"""Rows in the partitions of a Dask collection, with `map` and `take` where the blocks are.

The algorithm is not here. `map` sends a function to the workers once and returns its results, `take` fetches rows; both
count the bytes that travel. What a fit must know of all rows (how many features occur, the largest value, lengths)
comes from one look at each partition, merged exactly.

Blocks stay on their workers from one pass to the next if all of them fit into the memory of the cluster. Otherwise each
pass computes or reads them again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import dask
import numpy as np
from dask.delayed import Delayed

from .. import kernels
from ..data.blocks import Block, SparseRows
from ..data.rows import Doubles, Facts, Integers, Rows, Show
from ..data.validation import LARGEST, DataError
from ..formats.frequencies import DocumentFrequencies
from ..formats.schema import Schema, merged
from . import serialization, tables
from .dask_runner import Runner, current_runner, task_on
from .partitions import Form, Partition, Seen, block_of, look

T = TypeVar("T")

TRAINING_MEMORY = "ramodo.training-memory"
"""Dask's setting for the memory that the rows of some epochs may take in training."""

_TRAINING_MEMORY = "1 GiB"


@dataclass
class Moved:
    """Bytes that travelled between this process and workers, or for functions to all workers.

    functions : sent to workers, with the references or the model in them
    looks : received from looks at partitions: the features that occur, lengths and norms of rows
    values : received results of functions, such as a score for each row
    rows : received rows, and their numbers, which were sent
    """

    functions: int = 0
    looks: int = 0
    values: int = 0
    rows: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.functions + self.looks + self.values + self.rows


@dataclass(frozen=True, kw_only=True)
class _Survey:
    """The properties of all partitions together."""

    form: Form
    facts: Facts
    starts: Integers
    """The first row of each partition, and the number of all rows."""
    n_bytes: int
    n_entries: int
    lengths: Integers
    squared_norms: Doubles
    ids: tuple[str, ...] | None
    classes: Any


class DaskRows(Rows):
    """Rows in consecutive partitions; each becomes a block on the worker that holds it.

    `form` is what is known about all partitions before any is read.
    """

    def __init__(self, partitions: Sequence[Partition], form: Form | None = None) -> None:
        if not partitions:
            raise DataError("X must have at least one partition, got none.")
        self.partitions, self._given = tuple(partitions), form or Form()
        self.moved, self._lock = Moved(), threading.Lock()
        self._show_look: Show | None = None

    @cached_property
    def _runner(self) -> Runner:
        return current_runner()

    # ---- the interface -------------------------------------------------------------------------------------------

    @property
    def n_rows(self) -> int:
        return int(self._starts[-1])

    @property
    def n_features(self) -> int:
        return self._form.n_features

    def map(self, function: Callable[[Block], T], show: Show | None = None) -> list[T]:
        held = self._hold(function)
        return self._answers("values", range(len(self.partitions)), [held] * len(self.partitions), show)

    def take(self, numbers: Integers) -> Block:
        wanted, places = np.unique(np.asarray(numbers, dtype=np.int64), return_inverse=True)
        if len(wanted) == 0:
            return self._form.empty()
        starts = self._starts
        owner = np.searchsorted(starts, wanted, "right") - 1
        owners = np.unique(owner).tolist()
        calls = [_Take(wanted[owner == part] - starts[part]) for part in owners]
        parcels = [[serialization.Parcel(serialization.packed(call))] for call in calls]
        self._count("rows", sum(len(parcel.data) for (parcel,) in parcels))
        first, *others = self._answers("rows", owners, parcels, None)
        taken = first.stacked(others) if others else first
        return taken if np.array_equal(places, np.arange(taken.n_rows)) else taken.take(places)

    # ---- derived, without another pass ---------------------------------------------------------------------------

    def facts(self) -> Facts:
        return self._survey.facts

    def lengths(self) -> Integers:
        return self._survey.lengths

    def squared_norms(self, n_threads: int = 1) -> Doubles:
        return self._survey.squared_norms

    def epochs_at_once(self, epochs: Integers) -> int:
        """Return how many epochs' rows fit in the training-memory limit."""
        limit = dask.utils.parse_bytes(dask.config.get(TRAINING_MEMORY, _TRAINING_MEMORY))
        of_row = self.n_bytes / max(1, self.n_rows)
        if len(np.unique(epochs)) * of_row <= limit:
            return len(epochs)
        of_epoch = max(len(np.unique(epoch)) for epoch in epochs) * of_row
        return max(1, int(limit / of_epoch))

    def learned_attributes(self) -> dict[str, Any]:
        schema = self.schema
        if schema is None or schema.n_features is None:
            return {}
        found = {"schema_": schema, "document_frequencies_": self.frequencies}
        names = schema.names if schema.first_named == 0 else None
        return found if names is None else found | {"feature_names_in_": np.array(names, dtype=object)}

    def traffic(self) -> str:
        moved, whole = self.moved, max(1, self.n_bytes)
        mb = _megabytes
        return (
            f"{moved.total / whole:.1%} of the {mb(whole)} of the data: {mb(moved.functions)} of models and references "
            f"sent to workers, {mb(moved.rows)} of rows, {mb(moved.values)} of scores and {mb(moved.looks)} of facts "
            "received"
        )

    # ---- more than the interface asks for ------------------------------------------------------------------------

    @property
    def n_bytes(self) -> int:
        """Bytes of all blocks in memory."""
        return self._survey.n_bytes

    @property
    def nnz(self) -> int:
        """Non-zeros."""
        return self._survey.n_entries

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n_rows, self.n_features

    @property
    def schema(self) -> Schema:
        """How the rows were read, with the columns that were learned."""
        return self._survey.form.schema or Schema()

    @property
    def names(self) -> list[str] | None:
        """Names of the features; None if they have none."""
        return self.schema.names

    @property
    def frequencies(self) -> DocumentFrequencies | None:
        """Document frequencies by which tokens are weighted, where files hold documents."""
        return None if self._given.how is None else self._given.how.frequencies

    @property
    def ids(self) -> tuple[str, ...] | None:
        """Names of the rows, if the files have any."""
        return self._survey.ids

    @property
    def classes(self) -> Any:
        """Labels as the files have them."""
        return self._survey.classes

    @property
    def sizes(self) -> list[int]:
        """Rows of each partition."""
        return np.diff(self._starts).tolist()

    def __getitem__(self, numbers: Any) -> Any:
        """Return some rows as a matrix, fetched here."""
        return self.take(np.asarray(numbers, dtype=np.int64)).to_matrix()

    def sized_partitions(self) -> list[Partition]:
        """Return the partitions, with their numbers of rows if those are known."""
        if "_survey" not in self.__dict__:
            return list(self.partitions)
        return [replace(part, n_rows=n) for part, n in zip(self.partitions, self.sizes, strict=True)]

    def look_at_all(self, show: Show | None = None) -> None:
        """Read every partition once, unless that was done before; `show` gets the number done and of all."""
        self._show_look = show
        self._survey  # noqa: B018 - cached

    def form_for(self, form: Form) -> Form:
        """Return the form that a model expects, with the way in which these files are read."""
        return replace(form, how=self._given.how)

    # ---- how -----------------------------------------------------------------------------------------------------

    def _hold(self, value: Any) -> list[Any]:
        """Return a value that all tasks of a pass need, sent to each worker once."""
        held, n_bytes = self._runner.hold(value)
        self._count("functions", n_bytes * self._runner.n_copies)
        return held

    def _answers(self, kind: str, parts: Sequence[int], calls: Sequence[Any], show: Show | None) -> list[Any]:
        """Return the result of each call for its partition, in order."""
        sources = self._sources
        pairs = zip(parts, calls, strict=True)
        tasks = [task_on(sources[part][0], _answer, len(call), *call, *sources[part]) for part, call in pairs]
        return self._unpacked(kind, tasks, [self.sizes[part] for part in parts], show)

    def _unpacked(self, kind: str, tasks: Sequence[Delayed], sizes: Sequence[int], show: Show | None) -> list[Any]:
        """Return the unpacked results of tasks, in order; `show` gets the size of the finished ones and of all."""
        found, done = [None] * len(tasks), 0

        def arrived(place: int, data: bytes) -> None:
            nonlocal done
            self._count(kind, len(data))
            found[place] = serialization.unpacked(data)
            done += sizes[place]
            if show is not None:
                show(done, sum(sizes))

        self._runner.run(tasks, arrived)
        return found

    def _count(self, kind: str, n: int) -> None:
        if self._runner.leaves_process:
            with self._lock:
                setattr(self.moved, kind, getattr(self.moved, kind) + n)

    @cached_property
    def _starts(self) -> Integers:
        sizes = [part.n_rows for part in self.partitions]
        if self._is_known and None not in sizes:
            return np.cumsum([0, *sizes])  # rows can be found without a look at the partitions
        return self._survey.starts

    @property
    def _is_known(self) -> bool:
        """Whether a model says what form the rows must have."""
        return self._given.n_features > 0

    @property
    def _form(self) -> Form:
        return self._given if self._is_known else self._survey.form

    @cached_property
    def _survey(self) -> _Survey:
        found = self._look(self._given)
        how, guesses = self._given.how, {one.schema.zero_based for one in found}
        if how is not None and guesses == {True, False}:  # an index 0 in any of them says that all begin at 0
            how = replace(how, schema=replace(how.schema, zero_based=True))
            self._given = replace(self._given, how=how)
            found = self._look(self._given)
        return _together(found, self.partitions, self._given)

    def _look(self, form: Form) -> list[Seen]:
        held = self._hold(form)
        tasks = [task_on(part.source, _look, part.source, part.place, *held) for part in self.partitions]
        return self._unpacked("looks", tasks, [1] * len(tasks), self._show_look)

    @cached_property
    def _sources(self) -> list[tuple[Any, ...]]:
        """Arguments of a task for each block: the block if memory allows for all, otherwise its source."""
        held = self._hold(self._form)
        sources = [(part.source, part.place, *held) for part in self.partitions]
        if self._is_known or self.n_bytes > self._runner.room():
            return sources
        kept = self._runner.keep([task_on(source[0], _block, *source) for source in sources])
        return [(block,) for block in kept]


@dataclass(frozen=True)
class _Take:
    """Takes rows of a block."""

    numbers: Integers

    def __call__(self, block: Block) -> Block:
        return block.take(self.numbers)


def _look(source: Any, place: str, *form: serialization.Parcel) -> bytes:
    return serialization.packed(look(source, place, serialization.opened(form)))


def _block(source: Any, place: str, *form: serialization.Parcel) -> Block:
    return block_of(source, place, serialization.opened(form))


def _answer(n_parcels: int, *given: Any) -> bytes:
    """Return a function's result for a block, kept or made now; the function is in the first `n_parcels` arguments."""
    call, (source, *how) = given[:n_parcels], given[n_parcels:]
    return serialization.packed(serialization.opened(call)(_block(source, *how) if how else source))


def _together(found: Sequence[Seen], partitions: Sequence[Partition], given: Form) -> _Survey:
    """Return the properties of all partitions together."""
    form = _form(found, partitions, given)
    scan = kernels.Scan(form.n_features, sum(len(one.features) for one in found))
    for one in found:
        columns = _places(one, form.schema)
        values = np.ones(len(columns), dtype=np.float32)
        scan.add(SparseRows(np.array([0, len(columns)]), columns, values, form.n_features), LARGEST, 1)
    has_ids, has_classes = (all(getattr(one, name) is not None for one in found) for name in ("ids", "classes"))
    return _Survey(
        form=form,
        facts=Facts(scan.n_seen(), max(one.largest for one in found)),
        starts=np.cumsum([0, *[one.n_rows for one in found]]),
        n_bytes=sum(one.n_bytes for one in found),
        n_entries=sum(one.n_entries for one in found),
        lengths=np.concatenate([one.lengths for one in found]),
        squared_norms=np.concatenate([one.squared_norms for one in found]),
        ids=tuple(id for one in found for id in one.ids or ()) if has_ids else None,
        classes=np.concatenate([one.classes for one in found if one.classes is not None]) if has_classes else None,
    )


def _form(found: Sequence[Seen], partitions: Sequence[Partition], given: Form) -> Form:
    schema = given.schema or found[0].schema
    if given.schema is None and all(one.schema.n_features is not None for one in found):
        for one, part in zip(found, partitions, strict=True):
            tables.refuse_other_columns(one.schema, found[0].schema, part.place)
        schema = merged([one.schema for one in found])
    n_features = given.n_features or _width(found, partitions, schema)
    sparse = {one.is_sparse for one in found if one.n_rows} or {found[0].is_sparse}
    if len(sparse) > 1:
        odd = next(i for i, one in enumerate(found) if one.n_rows and one.is_sparse != found[0].is_sparse)
        raise DataError(
            f"partitions must be all sparse or all dense: {partitions[odd].place} is "
            f"{'sparse' if found[odd].is_sparse else 'dense'}, {partitions[0].place} is not."
        )
    return Form(n_features, schema, sparse.pop(), any(one.is_double for one in found), given.how)


def _width(found: Sequence[Seen], partitions: Sequence[Partition], schema: Schema | None) -> int:
    if schema is not None and schema.n_features is not None:
        return schema.n_features
    widest = max(one.n_features for one in found)
    if all(one.takes_width for one in found):
        return widest
    usual = found[0].n_features
    odd = next((i for i, one in enumerate(found) if one.n_features != usual), None)
    if odd is not None:
        raise DataError(
            f"{partitions[odd].place} must have the {usual:,} columns of {partitions[0].place}, got "
            f"{found[odd].n_features:,}."
        )
    return usual


def _places(one: Seen, schema: Schema | None) -> Integers:
    """Return the features of a partition as features of all of them."""
    if schema is None or schema.n_features is None or one.schema.columns == schema.columns:
        return one.features
    numbers = np.array(one.schema.places_in(schema), dtype=np.int64)[one.features]
    return np.sort(numbers[numbers >= 0])


def _megabytes(n: float) -> str:
    return f"{n / 1e6:,.1f} MB"
