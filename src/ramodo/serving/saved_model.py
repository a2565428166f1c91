"""Opens a model file to score tables and JSON rows."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..explain.naming import KeptExplainer, explained
from ..formats import FormatError, Table
from ..formats.values import named_values
from ..insight.drift import Drift
from ..insight.figures import percentiles
from ..insight.recent import Recent
from ..model.file.saving import open_model
from ..options import TOP, OptionError
from ..threads import n_threads
from . import arrow_rows, json_rows
from .model_rows import PLACE, ModelReading

Scores = npt.NDArray[np.float64]

RESULTS = ("score", "percentile", "flag")
"""Columns of an answer; `reasons` adds one more."""


class DriftWarning(UserWarning):
    """Rows differ from those that the model was fitted to."""


class SavedModel:
    """Scores rows by column name: the same bits as `ramodo score`, whatever rows come with them.

    It warns when the rows that it scored last differ from the training rows; `drift` says how.

    The file records column names, categories, how to treat missing values and how to read text. Models saved from
    Python record column names only. Several threads may share an object.

    path : a file that `ramodo fit` or `detector.save` wrote
    n_jobs : threads to score with, -1 for all cores
    """

    def __init__(self, path: str | os.PathLike[str], *, n_jobs: int = 1) -> None:
        self.path = path
        self._detector = open_model(path)
        self._detector.n_jobs = n_threads(n_jobs)
        self._known = np.sort(self._detector.outlier_scores_)
        self._explainer = KeptExplainer(self._detector)
        self.reading = ModelReading(self._detector, self._detector.n_jobs)
        self.recent = Recent(self._detector)

    @property
    def threshold(self) -> float:
        """Rows scoring at least this are flagged."""
        return float(self._detector.threshold_)

    @property
    def identity(self) -> dict[str, str]:
        """Which model this is: the checksum of its file, and the version of the ramodo that wrote it."""
        return {"checksum": self._detector.checksum_, "version": self._detector.version_}

    def drift(self) -> Drift | None:
        """How the rows that were scored last, up to 4,096, differ from the training rows; None where there are few."""
        return self.recent.drift()

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the training data."""
        return str(self._detector.fingerprint_)

    def score(self, batch: Any, *, keep: Sequence[str] = (), reasons: int = 0) -> Any:
        """Score a table of any library that supports Arrow, such as pyarrow, pandas, polars or DuckDB.

        Returns a `pyarrow.RecordBatch` with the score, percentile and flag of each row.

        keep : columns of `batch` to put before the scores
        reasons : how many of the strongest reasons to give for each row, in a column `reasons`
        """
        import pyarrow

        batch = arrow_rows.opened(batch)
        schema = _schema(batch.schema, keep, reasons)
        if batch.num_rows == 0:
            return pyarrow.RecordBatch.from_arrays([pyarrow.array([], field.type) for field in schema], schema=schema)
        table = arrow_rows.table_of(batch, self.reading)
        scores = self._scores(table)
        found = {"score": scores, "percentile": self._percentiles(scores), "flag": self._flags(scores)}
        columns = [*(_whole(name, batch) for name in keep), *map(_owned, found.values())]
        if reasons:
            why = [[_brief(reason) for reason in row["reasons"]] for row in self._reasons(table, scores, reasons)]
            columns.append(pyarrow.array(why, _reasons_type()))
        return pyarrow.RecordBatch.from_arrays(columns, schema=schema)

    def batches(self, batches: Any, *, keep: Sequence[str] = (), reasons: int = 0) -> Iterator[Any]:
        """Score record batches one by one, as they arrive."""
        for batch in batches:
            yield self.score(batch, keep=keep, reasons=reasons)

    def reader(self, source: Any, *, keep: Sequence[str] = (), reasons: int = 0) -> Any:
        """Return a `pyarrow.RecordBatchReader` that scores rows as an engine reads from it.

        source : a table or stream of any library that supports Arrow, such as a relation of DuckDB
        """
        import pyarrow

        given = pyarrow.RecordBatchReader.from_stream(source)
        schema = _schema(given.schema, keep, reasons)
        return pyarrow.RecordBatchReader.from_batches(schema, self.batches(given, keep=keep, reasons=reasons))

    def score_rows(self, rows: Sequence[Any], *, reasons: int = 0) -> list[dict[str, Any]]:
        """Score rows in JSON form: objects of columns, strings of text, {feature: value}, or lists of all values.

        Returns the id (or number), score, percentile and flag of each row, and its strongest `reasons`.
        """
        table = json_rows.table_of(rows, self.reading)
        return self._answers(table, json_rows.ids_of(rows, self.reading), reasons)

    def _answers(self, table: Table, ids: Sequence[str | None], reasons: int) -> list[dict[str, Any]]:
        scores = self._scores(table)
        columns = (scores.tolist(), self._percentiles(scores).tolist(), self._flags(scores).tolist())
        found = [
            {"id": str(row) if id is None else id, **dict(zip(RESULTS, values, strict=True))}
            for row, (id, values) in enumerate(zip(ids, zip(*columns, strict=True), strict=True))
        ]
        if reasons:
            for answer, why in zip(found, self._reasons(table, scores, reasons), strict=True):
                answer |= why
        return found

    def _scores(self, table: Table) -> Scores:
        with named_values(PLACE, table):
            scores = self._detector.outlier_score(table.X)
        if moved := self.recent.add(table.X, scores):
            warnings.warn(moved.in_words(), DriftWarning, stacklevel=2)
        return scores

    def _percentiles(self, scores: Scores) -> Scores:
        return np.round(percentiles(scores, self._known), 3)

    def _flags(self, scores: Scores) -> npt.NDArray[np.int64]:
        return (scores >= self._detector.threshold_).astype(np.int64)

    def _reasons(self, table: Table, scores: Scores, top: int) -> list[dict[str, Any]]:
        """For each row: its reasons, the contribution of all other features, and the nearest training rows."""
        TOP.refuse_unless_allowed(top)
        explainer = self._explainer(table)
        found = explained(self._detector, table, range(len(scores)), scores, top, explainer=explainer)
        return [
            {
                "reasons": [reason.to_dict() for reason in row.reasons],
                "lacks": row.lacks.to_dict(),
                "rest": row.rest,
                "nearest": list(map(self._detector.provenance_.id_of, row.nearest)),
            }
            for row in found
        ]


def _brief(reason: dict[str, Any]) -> dict[str, Any]:
    return {name: reason[name] for name in ("feature", "value", "contribution")}


def _reasons_type() -> Any:
    import pyarrow

    of_one = [("feature", pyarrow.string()), ("value", pyarrow.float64()), ("contribution", pyarrow.float64())]
    return pyarrow.list_(pyarrow.struct(of_one))


def _schema(given: Any, keep: Sequence[str], reasons: int) -> Any:
    import pyarrow

    results = [("score", pyarrow.float64()), ("percentile", pyarrow.float64()), ("flag", pyarrow.int64())]
    absent = [name for name in keep if name not in given.names]
    if absent:
        raise OptionError(f"keep must name columns of the table, got {absent[0]!r}; it has {', '.join(given.names)}.")
    twice = [name for name, _ in results if name in keep]
    if twice:
        raise OptionError(f"keep must not name a result, got {twice[0]!r}. Rename the column first.")
    fields = [given.field(given.names.index(name)) for name in keep] + [pyarrow.field(*result) for result in results]
    return pyarrow.schema(fields + ([pyarrow.field("reasons", _reasons_type())] if reasons else []))


def _owned(values: npt.NDArray[Any]) -> Any:
    """Return the values in memory that Arrow owns.

    `pyarrow.array` would borrow NumPy's memory, and releasing it takes Python's lock. Polars drops batches in its own
    threads, even after a failed query has raised, and a thread that asks for the lock while the interpreter ends
    aborts.
    """
    import pyarrow

    buffer = pyarrow.allocate_buffer(values.nbytes)
    np.frombuffer(buffer, values.dtype)[:] = values
    return pyarrow.Array.from_buffers(pyarrow.from_numpy_dtype(values.dtype), len(values), [None, buffer])


def _whole(name: str, table: Any) -> Any:
    """Return a column as one array, because a table's columns come in pieces."""
    import pyarrow

    try:
        return pyarrow.concat_arrays(arrow_rows.column_of(table, name).unify_dictionaries().chunks)
    except pyarrow.ArrowException as error:  # of types that pyarrow cannot put together yet
        raise FormatError(f"{PLACE}, column {name!r}: {str(error).rstrip('.')}.") from None
