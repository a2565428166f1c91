"""Tables in pieces: numbers and categories, encoded as `ramodo.formats` does, with the same columns in each piece.

Each piece has columns for the values that occur in it; all together have those of the whole table, in its order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..formats.columns import Column
from ..formats.table import FormatError, Table, TableOptions

_MISSING = " is missing"


def is_frame(source: Any) -> bool:
    """Whether it is a table of pandas."""
    return type(source).__module__.partition(".")[0] == "pandas" and hasattr(source, "dtypes")


def of_frame(frame: Any, place: str) -> Table:
    """Numbers as they are in memory; with text, categories or dates as a file of them is read."""
    names = [str(name) for name in frame.columns]
    if all(getattr(kind, "kind", "O") in "biuf" for kind in frame.dtypes):
        return Table(frame, names=names) if len(frame) else Table(frame.to_numpy(dtype=np.float64), names=names)
    import pyarrow

    arrow = pyarrow.Table.from_pandas(frame, preserve_index=False)
    columns = [Column(place, name, arrow.column(i), TableOptions()) for i, name in enumerate(names)]
    parts = [part for column in columns for part in column.parts()]
    has_text = any(sp.issparse(part) for part, _ in parts)
    X = (
        sp.hstack([sp.csr_array(part) for part, _ in parts], format="csr")
        if has_text
        else np.hstack([p for p, _ in parts])
    )
    categories = [column.name for column in columns if column.is_category]
    return Table(X, names=[name for _, own in parts for name in own], categories=categories)


def all_names(pieces: Iterable[tuple[Sequence[str], Sequence[str]]]) -> tuple[str, ...]:
    """The names of the columns of all pieces, given those of each and its categories, in the order of one table.

    Columns keep their order, and the values of a category are sorted; what marks missing values comes last.
    """
    found: dict[str, set[tuple[int, str]]] = {}
    for names, categories in pieces:
        plain = set(names)
        for name in names:
            group, rank = _group(name, plain, categories)
            found.setdefault(group, set()).add((rank, name))
    return tuple(name for group in found.values() for _, name in sorted(group))


def _group(name: str, names: set[str], categories: Sequence[str]) -> tuple[str, int]:
    """The column that a name is of, and whether it is that column itself, a value of it, or what it lacks."""
    for category in categories:
        if name.startswith(f"{category}="):
            return category, 1
    marked = name.removesuffix(_MISSING)
    if marked != name and (marked in names or marked in categories):
        return marked, 2
    return name, 0


def aligned(table: Table, names: Sequence[str], place: str) -> Any:
    """The matrix of a table with the columns `names`, those that it has no value for being zero."""
    own = list(table.names or ())
    if own == list(names):
        return table.X
    places = {name: i for i, name in enumerate(names)}
    refuse_other_columns(own, names, table.categories, place)
    X = table.X.to_numpy(dtype=np.float64) if is_frame(table.X) else table.X
    kept = [i for i, name in enumerate(own) if name in places]
    target = np.array([places[own[i]] for i in kept], dtype=np.int64)
    if not sp.issparse(X):
        wide = np.zeros((X.shape[0], len(names)), dtype=X.dtype)
        wide[:, target] = X[:, kept]
        return wide
    moved = sp.csr_array((np.ones(len(kept)), (kept, target)), shape=(len(own), len(names)))
    return sp.csr_array(sp.csr_array(X) @ moved)


def refuse_other_columns(own: Sequence[str], names: Sequence[str], categories: Sequence[str], place: str) -> None:
    """Raise where a column is absent that is no value of a category, or there that no other piece has."""
    there, known = set(own), set(names)
    absent = next((n for n in names if n not in there and _group(n, known | there, categories)[1] == 0), None)
    more = next((n for n in own if n not in known and _group(n, known | there, categories)[1] == 0), None)
    if absent is not None:
        raise FormatError(f"{place} lacks the column {absent!r}; allowed: the {len(names):,} columns of the others.")
    if more is not None:
        raise FormatError(f"{place} has the column {more!r}; allowed: the {len(names):,} columns of the others.")
