"""Read data frames of any library like files: pandas, polars, pyarrow, DuckDB, and those that narwhals knows.

A frame whose columns are all numbers is a matrix with names, and is not changed. Any other frame is read like a table
in a file, by the same code: see assembling.py.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from ..extras import pip_install
from .assembling import assembled
from .columns import kind_of
from .format import How
from .frequencies import DocumentFrequencies
from .left_out import without_left_out
from .schema import Schema
from .table import FormatError, Table
from .tabular import with_all_names

PLACE = "X"
"""The name of a frame in messages, unless it has another."""

MIXED = Schema(missing="indicator", scale="auto")
"""How to read a frame that is not all numbers, by default."""


def is_frame(X: Any) -> bool:
    """Return whether X is a table of columns, of any library."""
    kind = type(X)
    return hasattr(kind, "columns") and (hasattr(kind, "__arrow_c_stream__") or _home(X) in _ARROWLESS)


_ARROWLESS = ("pandas", "polars", "pyarrow", "duckdb", "_duckdb", "modin", "narwhals")
"""Libraries some of whose frames do not offer Arrow's stream."""


def _home(X: Any) -> str:
    return type(X).__module__.partition(".")[0]


def as_arrow(frame: Any, place: str = PLACE) -> Any:
    """Return a frame as a pyarrow table; columns without a name are named by their position."""
    try:
        import pyarrow
    except ImportError:
        raise FormatError(f"{place}: frames that are not all numbers need pyarrow: {pip_install('files')}.") from None
    try:
        if _home(frame) == "modin" or not (_home(frame) == "pandas" or hasattr(frame, "__arrow_c_stream__")):
            frame = _gathered(frame)
        if _home(frame) == "pandas":
            return with_all_names(_of_pandas(frame))
        if isinstance(frame, pyarrow.RecordBatch):
            frame = pyarrow.Table.from_batches([frame])
        return with_all_names(pyarrow.table(frame))
    except (pyarrow.ArrowException, UnicodeDecodeError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
        raise FormatError(f"{place} cannot be read as Arrow: {reason}.") from None


def _gathered(frame: Any) -> Any:
    """Bring a frame into this process and memory: compute a lazy plan, and collect a distributed frame."""
    if isinstance(frame, _arrow_types()):
        return frame
    if hasattr(frame, "collect"):  # polars
        return frame.collect()
    if hasattr(frame, "to_arrow_table"):  # DuckDB
        return frame.to_arrow_table()
    try:
        import narwhals

        found = narwhals.from_native(frame)
    except ImportError:
        raise FormatError(f"frames of {_home(frame)} need the package narwhals: pip install narwhals.") from None
    return (found.collect() if isinstance(found, narwhals.LazyFrame) else found).to_arrow()


def _arrow_types() -> tuple[type, ...]:
    import pyarrow

    return pyarrow.Table, pyarrow.RecordBatch


def _of_pandas(frame: Any) -> Any:
    """Return the columns, without the index. Objects of several types become text."""
    import pyarrow

    arrays = []
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place]
        try:
            arrays.append(pyarrow.Array.from_pandas(column))
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):
            values = zip(column, column.isna(), strict=True)
            arrays.append(pyarrow.array([None if gap else str(value) for value, gap in values], pyarrow.string()))
    return pyarrow.Table.from_arrays(arrays, names=list(map(str, frame.columns)))


def index_of(X: Any) -> list[str] | None:
    """Return the names of rows in the index of a frame; None if it only counts rows, has repeats or does not exist."""
    if _home(X) not in ("pandas", "modin") or not hasattr(X, "columns"):
        return None
    counts = type(X.index).__name__ == "RangeIndex" and (X.index.start, X.index.step) == (0, 1)
    return None if counts or not X.index.is_unique else [_joined(value) for value in X.index]


def _joined(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def to_fit(X: Any, n_threads: int = 1) -> Table | None:
    """Return training data as a table; None if X is a matrix, or a frame that counts as one."""
    if isinstance(X, Table):
        return X
    if not is_frame(X) or _is_matrix(X):
        return None
    arrow = as_arrow(X)
    if all(kind_of(kind) in _NUMBERS for kind in arrow.schema.types):
        return _of_numbers(arrow)
    return replace(read(arrow, MIXED, n_threads=n_threads), ids=index_of(X))


def to_score(X: Any, schema: Schema | None, frequencies: Any, n_threads: int = 1, place: str = PLACE) -> Table | None:
    """Return rows for a model, read by its schema; None if X is a matrix, or a frame that counts as one."""
    if isinstance(X, Table):
        return X
    if not is_frame(X):
        return None
    if schema is not None and schema.columns and not (schema.is_numbered or schema.marks_last):
        return read(X, schema, frequencies, n_threads=n_threads, place=place)
    return None if _is_matrix(X) or _is_of_pandas_or_polars(X) else _of_numbers(as_arrow(X, place))


_NUMBERS = ("number", "boolean")


def _is_of_pandas_or_polars(X: Any) -> bool:
    return _home(X) in ("pandas", "polars") and hasattr(X, "shape")


def _is_matrix(X: Any) -> bool:
    """Return whether all columns of a pandas or polars frame are numbers; scikit-learn takes it for a matrix, too."""
    if not _is_of_pandas_or_polars(X):
        return False
    if _home(X) == "pandas":
        return all(getattr(kind, "kind", "O") in "biuf" for kind in X.dtypes)
    return all(kind_of(kind) in _NUMBERS for kind in X[:0].to_arrow().schema.types)


def _of_numbers(arrow: Any) -> Table:
    """Return a matrix with names; a missing value is NaN."""
    import pyarrow
    import pyarrow.compute as pc

    columns = [pc.cast(each, pyarrow.float64(), safe=False).to_numpy() for each in arrow.columns]
    X = np.column_stack(columns) if columns else np.empty((arrow.num_rows, 0))
    return Table(X, schema=Schema(plain=tuple(arrow.column_names)))


def read(
    X: Any,
    schema: Schema,
    frequencies: DocumentFrequencies | None = None,
    *,
    n_threads: int = 1,
    place: str = PLACE,
) -> Table:
    """Return the rows of a frame, read by a schema, which is a request or was learned. The index names rows."""
    arrow = as_arrow(X, place)
    if arrow.num_rows == 0:
        raise FormatError(f"{place} has 0 sample(s) while a minimum of 1 is required.")
    if schema.columns and schema.id not in arrow.column_names:
        schema = replace(schema, id=None)
    how = How(
        schema=schema,
        frequencies=frequencies,
        optional=schema.unneeded,
        n_threads=n_threads,
        leaves_out=True,
        in_python=True,
    )
    how, notes = without_left_out(arrow, how)
    found = assembled(place, arrow, how)
    for note in () if schema.columns else (*notes, *found.notes):
        warnings.warn(note, UserWarning, stacklevel=3)
    return found if found.ids is not None else replace(found, ids=index_of(X))
