"""Data in many files: globs on any file system that fsspec knows. Each file is a partition that a worker reads.

    open_dataset("s3://logs/2026-*.parquet")
    open_dataset("parts/*.svm.zst")
    open_dataset(["a.rows", "b.rows"])

Local files are read in place. Remote files are copied to the worker that reads them, and removed afterwards. Files are
ordered by name.
"""

from __future__ import annotations

import glob
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from ..extras import pip_install
from ..formats import Format, FormatError, How, Schema, Table, TextOptions, format_named, format_of, read_as
from ..options import OptionError
from .dask_rows import DaskRows
from .learning import with_frequencies, with_scales
from .partitions import Form, Partition


def open_dataset(
    path: str | Sequence[str],
    format: str | None = None,
    *,
    schema: Schema | None = None,
    n_features: int | None = None,
    storage: Mapping[str, Any] | None = None,
) -> DaskRows:
    """Return the rows of many files, for `fit` and scoring. Workers of the current Dask client read them.

    Parameters
    ----------
    path : a glob, or several, of files or rows folders; with a protocol, such as s3://, on any file system of fsspec
    format : the format of all files, if their suffix does not tell
    schema : how to read them. Scales and means of tables, and how many documents contain each token, are learned now,
        which reads each file once; the result has them as `schema` and `frequencies`. By default numbers are not
        scaled, and tokens are counted
    n_features : number of columns, if files do not say it and the largest index is not the last
    storage : options of the file system, for fsspec

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from ramodo import open_dataset
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in "ab":
    ...         np.save(f"{folder}/{part}.npy", np.eye(40))
    ...     rows = open_dataset(f"{folder}/*.npy")
    ...     rows.n_rows, rows.n_features
    (80, 40)
    """
    given = [path] if isinstance(path, str) else list(path)
    storage = dict(storage or {})
    files = [file for one in given for file in found_files(one, storage)]
    how = How(schema=schema or Schema(tokens=TextOptions(idf=False)), n_features=n_features)
    return rows_of_files(files, format, how, storage)


def rows_of_files(files: Sequence[str], format: str | None, how: How, storage: Mapping[str, Any]) -> DaskRows:
    """Return the rows of files, all of one format."""
    kinds = {file: format_named(_format_of(file, format)) for file in files}
    kind = kinds[files[0]]
    odd = next((file for file, other in kinds.items() if other.name != kind.name), None)
    if odd is not None:
        raise FormatError(f"all files must have one format: {files[0]} is {kind.name}, {odd} is {kinds[odd].name}.")
    loaders = [File(file, kind.name, dict(storage), kind.takes_width) for file in files]
    form = Form((how.n_features or 0) if kind.takes_width else 0, how=_learned(loaders, kind, how))
    return DaskRows([Partition(loader, loader.path) for loader in loaders], form)


def _learned(files: Sequence[File], kind: Format, how: How) -> How:
    """`how`, with what must be learned from all files before the first is read."""
    schema = how.schema
    has_text = kind.has_documents or bool(schema.text)
    if has_text and not schema.columns and (schema.tokens.vocabulary or kind.is_table):
        kept = "whose tokens are listed" if schema.tokens.vocabulary else "beside other columns"
        raise OptionError(
            f"{files[0].path} holds text {kept}, which needs all documents in one place. Several files may hold "
            "documents alone, with hashed tokens: leave out --vocabulary."
        )
    if has_text and schema.tokens.idf and how.frequencies is None:
        how = with_frequencies(files, how)
    is_known = bool(schema.columns) or (schema.scale == "none" and schema.missing != "mean")
    return how if is_known or not kind.is_table else with_scales(files, how)


@dataclass(frozen=True)
class File:
    """A file, read by the task that needs it."""

    path: str
    format: str
    storage: Mapping[str, Any] = field(default_factory=dict)
    takes_width: bool = False

    def load(self, form: Form) -> Table:
        """Return its rows, with as many columns as `form` says if the format does not say it."""
        how = form.how or How()
        return self.read(replace(how, n_features=(form.n_features or how.n_features) if self.takes_width else None))

    def read(self, how: How) -> Table:
        """Return its rows, read in this way."""
        kind = format_named(self.format)
        if not _is_remote(self.path):
            return read_as(kind, _local(self.path), how)
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / PurePosixPath(self.path).name
            _fetch(self.path, copy, self.storage)
            try:
                return read_as(kind, str(copy), how)
            except FormatError as error:  # which names the copy
                raise FormatError(str(error).replace(str(copy), self.path)) from None


def found_files(path: str, storage: Mapping[str, Any]) -> list[str]:
    """Return the files that match a glob, in order."""
    if not _is_remote(path):
        local = _local(path)
        files = sorted(glob.glob(local)) if glob.has_magic(local) else [local] * Path(local).exists()
    else:
        fs, inner = _system(path, storage)
        names = sorted(fs.glob(inner)) if glob.has_magic(inner) else [inner] * fs.exists(inner)
        files = [fs.unstrip_protocol(name) for name in names]
    if not files:
        raise FileNotFoundError(2, "there is no such file", path)
    return files


def _is_remote(path: str) -> bool:
    return "://" in path and not path.startswith("file://")


def _local(path: str) -> str:
    return path.removeprefix("file://")


def _format_of(path: str, given: str | None) -> str:
    """Return the format of a file by its suffix; a remote rows folder must end in .rows."""
    return format_of(PurePosixPath(path).name if _is_remote(path) else _local(path), given)


def _system(path: str, storage: Mapping[str, Any]) -> tuple[Any, str]:
    """Return the file system of an address, and the path in it."""
    try:
        import fsspec
    except ImportError:
        raise FormatError(f"{path}: remote files need the package fsspec: {pip_install('dask')}.") from None
    try:
        return fsspec.core.url_to_fs(path, **storage)
    except (ImportError, ValueError) as error:
        raise FormatError(f"{path} cannot be opened: {str(error).rstrip('.')}.") from None


def _fetch(path: str, target: Path, storage: Mapping[str, Any]) -> None:
    fs, inner = _system(path, storage)
    fs.get(inner, str(target), recursive=fs.isdir(inner))
