"""The columns written about each row: id, score, percentile and flag, and extra columns that the user requested."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..data.blocks import Block
from ..data.validation import open_block
from ..explain.explanation import RowExplanation
from ..explain.naming import KeptExplainer, explained
from ..formats import FormatError, Table, all_formats
from ..insight.figures import percentiles
from ..options import OptionError
from ..threads import n_threads
from .flags import Writing
from .rules import Rules
from .source import Source

if TYPE_CHECKING:
    from ..model.fitted import FittedDetector

Rows = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]

TEXT, REAL, INTEGER, REASONS, AS_GIVEN = "text", "real", "integer", "reasons", "as given"
"""Kinds of columns, each with a type in every file format."""

DOCUMENT = "text"
"""The name of the document of a row in `--with`."""

_AT_ONCE = 4096
"""Number of rows whose reasons and views are computed together."""

_FOR_NAMES = 64
"""Number of training rows to search for names of views."""

_OWN = ("id", "score", "percentile", "flag", "muted", "reasons")


@dataclass(frozen=True)
class Column:
    """A column to write; `type` is that of the input's column, if none of our kinds describes it."""

    name: str
    kind: str
    values: Sequence[Any]
    type: Any = None


@dataclass(frozen=True)
class Records:
    """Columns of equal length; the first is the id."""

    columns: tuple[Column, ...]

    @property
    def names(self) -> list[str]:
        """Names of the columns, in order."""
        return [column.name for column in self.columns]

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows, one after the other."""
        return zip(*[column.values for column in self.columns], strict=True)


class Recorder:
    """Makes records of rows and their scores, with the columns that the flags ask for."""

    def __init__(self, detector: FittedDetector, writing: Writing, found: npt.NDArray[np.bool_] | None = None) -> None:
        """`found` says which rows are flagged, if not those that reach the threshold."""
        self._detector, self._writing, self._found = detector, writing, found
        self._rules = None if writing.rules is None else Rules.read(writing.rules)
        self.n_flagged, self.muted = 0, Counter[str]()
        self._known, self._explainer = np.sort(detector.outlier_scores_), KeptExplainer(detector)

    def of_file(self, path: str, table: Table, scores: Scores) -> Records:
        """Return all rows in their order, or flagged rows highest first, since people work from the top."""
        flags, muted = self._decided(path, table, scores)
        rows: Rows = np.arange(len(scores))
        if self._writing.flagged:
            rows = np.flatnonzero(flags)
            rows = rows[np.argsort(-scores[rows], kind="stable")]
        return self._records(path, table, scores, rows, 0, flags, muted)

    def of_block(self, table: Table, scores: Scores, first: int) -> Records:
        """Return rows of a stream, as they arrive; `first` is the number of the first of them."""
        flags, muted = self._decided("standard input", table, scores)
        rows = np.flatnonzero(flags) if self._writing.flagged else np.arange(len(scores))
        return self._records("standard input", table, scores, rows, first, flags, muted)

    def nothing(self) -> Records:
        """Return the columns without any rows."""
        beside = [_free(name) for name in beside_of(self._writing)]
        views = [f"view: {name}" for name in self._view_names()] if self._writing.views else []
        names = [
            *_OWN[:4],
            *["muted"] * (self._rules is not None),
            *beside,
            *["reasons"] * bool(self._writing.reasons),
            *views,
        ]
        return Records(tuple(Column(name, TEXT, []) for name in names))

    def said_of_muted(self) -> str:
        """Say how many rows were muted so far, by which rules; nothing where there are no rules."""
        if self._rules is None:
            return ""
        by = ", ".join(f"{name} {count:,}" for name, count in self.muted.most_common())
        expired = f"; expired: {', '.join(self._rules.expired)}" if self._rules.expired else ""
        return f"{self.muted.total():,} muted{by and f' ({by})'}{expired}"

    def _decided(self, path: str, table: Table, scores: Scores) -> tuple[npt.NDArray[np.bool_], list[str] | None]:
        """Return which rows are flagged and, for each row, the rule that mutes it; None without rules."""
        flags = scores >= self._detector.threshold_ if self._found is None else self._found
        muted = None
        if self._rules is not None:
            every = np.arange(len(scores))
            values = {name: column_of(path, table, name, every).values for name in self._rules.columns}
            muted = self._rules.muted(values, len(scores))
            flags = flags & np.array([not name for name in muted], dtype=bool)
            self.muted.update(filter(None, muted))
        self.n_flagged += int(flags.sum())
        return flags, muted

    def _records(
        self,
        path: str,
        table: Table,
        scores: Scores,
        rows: Rows,
        first: int,
        are_flagged: npt.NDArray[np.bool_],
        muted: list[str] | None,
    ) -> Records:
        taken = scores[rows]
        ids = [str(first + row) if table.ids is None else table.ids[row] for row in rows.tolist()]
        shares = [round(share, 3) for share in percentiles(taken, self._known).tolist()]
        flags = are_flagged[rows].astype(np.int64).tolist()
        columns = [Column("id", TEXT, ids), Column("score", REAL, taken.tolist())]
        columns += [Column("percentile", REAL, shares), Column("flag", INTEGER, flags)]
        if muted is not None:
            columns.append(Column("muted", TEXT, [muted[row] for row in rows.tolist()]))
        columns += [column_of(path, table, name, rows) for name in beside_of(self._writing)]
        if self._writing.reasons:
            columns.append(Column("reasons", REASONS, self._reasons(table, scores, rows)))
        return Records((*columns, *(self._views(table, rows) if self._writing.views else ())))

    def _reasons(self, table: Table, scores: Scores, rows: Rows) -> list[RowExplanation]:
        asked, explainer = self._writing.reasons, self._explainer(table)
        return [
            row
            for some in _parts(rows)
            for row in explained(self._detector, table, some.tolist(), scores, asked, explainer=explainer)
        ]

    def _views(self, table: Table, rows: Rows) -> list[Column]:
        """Return what each view adds to the scores; the columns of a row sum to its score."""
        found: dict[str, list[float]] = {name: [] for name in self._view_names()}
        for some in _parts(rows):
            added = self._breakdown(open_block(table.X[some]))
            for name, values in found.items():
                values += added.get(name, np.zeros(len(some))).tolist()
        return [Column(f"view: {name}", REAL, values) for name, values in found.items()]

    def _view_names(self) -> list[str]:
        """Return the views or terms of the score, collected from training rows, since folds may have different ones."""
        return list(self._breakdown(self._detector.model_.origins()[0].rows.part(0, _FOR_NAMES)))

    def _breakdown(self, block: Block) -> dict[str, Scores]:
        found: dict[str, Scores] = self._detector.model_.breakdown(block, n_threads(self._detector.n_jobs))
        return found


def _parts(rows: Rows) -> Iterator[Rows]:
    return (rows[start : start + _AT_ONCE] for start in range(0, len(rows), _AT_ONCE))


# ---- columns of the input --------------------------------------------------------------------------------------------


def beside_of(writing: Writing) -> list[str]:
    """Return the columns named in `--with`, each once; a name with a comma is given in quotes."""
    given = [name.strip() for value in writing.beside or () for name in next(csv.reader([value]), [])]
    return list(dict.fromkeys(filter(None, given)))


def to_read(path: str, source: Source, writing: Writing) -> Source:
    """Return how to read the data so that the requested columns can be written; raise early if they cannot."""
    of_rules = [] if writing.rules is None else Rules.read(writing.rules).columns
    names = list(dict.fromkeys([*beside_of(writing), *of_rules]))
    kind = source.format_at(path)
    if "with" in kind.columns:
        is_document = DOCUMENT in names and bool(source.schema.text)  # of a table that need not have such a column
        return replace(source, beside=names, optional=[*source.optional, *[DOCUMENT] * is_document])
    for name in names:
        if kind.has_documents and name != DOCUMENT:
            raise OptionError(
                f"--with must be {DOCUMENT}, since {path} is read as {kind.name}, which has no columns, got {name}. "
                f"{_have_columns()}"
            )
    return source


def _have_columns() -> str:
    return f"Formats with columns are {', '.join(kind.name for kind in all_formats() if 'with' in kind.columns)}."


def column_of(path: str, table: Table, name: str, rows: Rows) -> Column:
    """Return a column of the input, unchanged; for a matrix with names, its numbers."""
    if name in table.beside:
        values = table.beside[name]
        if hasattr(values, "to_pylist"):
            return Column(_free(name), AS_GIVEN, values.take(rows).to_pylist(), values.type)
        return Column(_free(name), AS_GIVEN, [values[row] for row in rows.tolist()])
    if name == DOCUMENT and table.texts is not None:
        return Column(_free(name), TEXT, [table.texts[row] for row in rows.tolist()])
    known = list(table.names or ())
    if name not in known:
        has = f"it has {', '.join(known[:10])}{', ...' * (len(known) > 10)}" if known else "its columns have no names"
        raise FormatError(f"{path} has no column {name!r}, which --with names; {has}. {_have_columns()}")
    found = table.X[rows][:, [known.index(name)]]
    dense = found.toarray() if hasattr(found, "toarray") else np.asarray(found)
    return Column(_free(name), REAL, dense.ravel().tolist())


def _free(name: str) -> str:
    """Return a name that differs from those of our columns."""
    return f"input {name}" if name in _OWN or name.startswith("view: ") else name
