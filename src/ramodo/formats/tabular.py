"""Tables: CSV, TSV, Parquet and Feather, through pyarrow.

Numbers stay numbers, booleans become 0 and 1, dates seconds since 1970. Text becomes one column per value, named
`country=NZ`, and sparse. What is missing is an error unless the caller says what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .opening import open_binary, suffixes_of
from .table import FormatError, Table

SUFFIXES = (".csv", ".tsv", ".parquet", ".feather", ".arrow")

MISSING = ("error", "zero", "mean", "indicator")


@dataclass(frozen=True)
class TableOptions:
    """Columns with a meaning of their own, and what missing values become.

    missing : "error"; "zero"; "mean" of the column; "indicator", zero and a column `name is missing`
    """

    id: str | None = None
    label: str | None = None
    text: str | None = None
    ignore: Sequence[str] = ()
    missing: str = "error"


def read(path: str, options: TableOptions | None = None, *, suffix: str | None = None) -> Table:
    """A table as a matrix with named columns; `Table.texts` holds the text column where one is named."""
    options = options or TableOptions()
    if options.missing not in MISSING:
        raise FormatError(f"missing={options.missing!r} was given; allowed: {', '.join(MISSING)}.")
    table = _load(path, suffix or (suffixes_of(path) or [".csv"])[-1])
    if table.num_rows == 0:
        raise FormatError(f"{path} has no rows.")
    _refuse_unknown(path, table, options)
    special = {options.id, options.label, options.text, *options.ignore}
    texts = None if options.text is None else [str(t or "") for t in table.column(options.text).to_pylist()]
    columns = [
        _Column(path, name, table.column(name), options.missing) for name in table.column_names if name not in special
    ]
    parts = [part for column in columns for part in column.parts()]
    if not parts and texts is None:
        raise FormatError(f"{path} has no columns besides {', '.join(sorted(filter(None, special)))}.")
    return Table(
        X=None if texts is not None else _matrix(parts),
        ids=None if options.id is None else _ids(path, options.id, table),
        names=None if texts is not None else [name for _, names in parts for name in names],
        classes=None if options.label is None else _labels(path, options.label, table),
        texts=texts,
    )


def read_pairs(path: str, id: str, label: str) -> list[tuple[str, float]]:
    """Two columns of a table: ids, each once, and numbers."""
    table = _load(path, (suffixes_of(path) or [".csv"])[-1])
    _refuse_unknown(path, table, TableOptions(id=id, label=label))
    return list(zip(_ids(path, id, table), _labels(path, label, table).tolist(), strict=True))


def _load(path: str, suffix: str) -> Any:
    try:
        import pyarrow
        import pyarrow.csv
        import pyarrow.feather
        import pyarrow.parquet
    except ImportError:
        raise FormatError(f"{path}: {suffix} files need the package pyarrow: pip install 'ramodo[files]'.") from None
    try:
        if suffix in (".csv", ".tsv"):
            parse = pyarrow.csv.ParseOptions(delimiter="\t" if suffix == ".tsv" else ",", newlines_in_values=True)
            read_options = pyarrow.csv.ReadOptions(block_size=1 << 24)
            with open_binary(path) as stream:
                return pyarrow.csv.read_csv(stream, read_options=read_options, parse_options=parse)
        if suffix == ".parquet":
            return pyarrow.parquet.read_table(path)
        return pyarrow.feather.read_table(path)
    except (pyarrow.ArrowException, UnicodeDecodeError, EOFError, OSError) as error:
        if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
            raise
        raise FormatError(f"{path} is not a {suffix[1:]} file: {str(error).splitlines()[0].rstrip('.')}.") from None


def _refuse_unknown(path: str, table: Any, options: TableOptions) -> None:
    names = table.column_names
    repeated = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if repeated:
        raise FormatError(f"{path} has several columns named {repeated[0]!r}; allowed: one of each name.")
    for name in filter(None, (options.id, options.label, options.text, *options.ignore)):
        if name not in names:
            shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
            raise FormatError(f"{path} has no column {name!r}; it has {shown}.")


class _Column:
    """One column of a table, on its way to columns of a matrix."""

    def __init__(self, path: str, name: str, values: Any, missing: str) -> None:
        self._path, self._name, self._values, self._missing = path, name, values, missing

    def parts(self) -> list[tuple[Any, list[str]]]:
        """Matrices and the names of their columns."""
        import pyarrow as pa
        import pyarrow.compute as pc

        kind = self._values.type
        if pa.types.is_null(kind):
            return self._numbers(np.full(len(self._values), np.nan))
        if pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
            return self._categories()
        if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            stamps = pc.cast(pc.cast(self._values, pa.timestamp("us")), pa.int64())
            return self._numbers(stamps.to_numpy(zero_copy_only=False).astype(np.float64) / 1e6)
        if (
            pa.types.is_boolean(kind)
            or pa.types.is_integer(kind)
            or pa.types.is_floating(kind)
            or pa.types.is_decimal(kind)
        ):
            numbers = pc.cast(self._values, pa.float64(), safe=False)
            return self._numbers(numbers.to_numpy(zero_copy_only=False).astype(np.float64))
        raise FormatError(
            f"{self._path}, column {self._name!r} holds {kind}; allowed: numbers, booleans, dates and text. Leave it "
            "out with --ignore."
        )

    def _numbers(self, numbers: npt.NDArray[np.float64]) -> list[tuple[Any, list[str]]]:
        gaps = np.isnan(numbers)
        if not gaps.any():
            return [(numbers[:, None], [self._name])]
        if self._missing == "error":
            raise FormatError(
                f"{self._path}, row {int(np.argmax(gaps)) + 1}, column {self._name!r}: the value is missing; say what "
                "to do with --missing zero, mean or indicator."
            )
        filling = float(np.nanmean(numbers)) if self._missing == "mean" and not gaps.all() else 0.0
        parts: list[tuple[Any, list[str]]] = [(np.where(gaps, filling, numbers)[:, None], [self._name])]
        if self._missing == "indicator":
            parts.append((gaps.astype(np.float64)[:, None], [f"{self._name} is missing"]))
        return parts

    def _categories(self) -> list[tuple[Any, list[str]]]:
        """One column per value; a missing value has none of them, or one of its own for an indicator."""
        values = np.array([None if v is None else str(v) for v in self._values.to_pylist()], dtype=object)
        gaps = np.array([v is None for v in values])
        if gaps.any() and self._missing == "error":
            raise FormatError(
                f"{self._path}, row {int(np.argmax(gaps)) + 1}, column {self._name!r}: the value is missing; say what "
                "to do with --missing zero, mean or indicator."
            )
        rows = np.flatnonzero(~gaps)
        kinds, codes = np.unique(values[rows].astype(str), return_inverse=True) if len(rows) else (np.array([]), rows)
        matrix = sp.csr_array((np.ones(len(rows)), (rows, codes)), shape=(len(values), len(kinds)))
        parts: list[tuple[Any, list[str]]] = [(matrix, [f"{self._name}={kind}" for kind in kinds])]
        if gaps.any() and self._missing == "indicator":
            parts.append((gaps.astype(np.float64)[:, None], [f"{self._name} is missing"]))
        return parts


def _matrix(parts: list[tuple[Any, list[str]]]) -> Any:
    if not any(sp.issparse(part) for part, _ in parts):
        return np.hstack([part for part, _ in parts])
    return sp.hstack([sp.csr_array(part) for part, _ in parts], format="csr")


def _ids(path: str, name: str, table: Any) -> list[str]:
    ids = [str(value) for value in table.column(name).to_pylist()]
    if len(set(ids)) < len(ids):
        seen: set[str] = set()
        twice = next(value for value in ids if value in seen or seen.add(value))  # type: ignore[func-returns-value]
        raise FormatError(f"{path}, column {name!r}: the id {twice!r} is given twice; allowed: each id once.")
    return ids


def _labels(path: str, name: str, table: Any) -> npt.NDArray[np.float64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        numbers = pc.cast(pc.cast(table.column(name), pa.string()), pa.float64())
    except pa.ArrowInvalid as error:
        raise FormatError(f"{path}, column {name!r}: {error}; allowed as labels: numbers.") from None
    return np.nan_to_num(numbers.to_numpy(zero_copy_only=False).astype(np.float64))
