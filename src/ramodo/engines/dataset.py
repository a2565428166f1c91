"""Data in many files: a glob, on any file system that fsspec knows, each file a partition that a worker reads.

    open_dataset("s3://logs/2026-*.parquet")
    open_dataset("parts/*.svm.zst")
    open_dataset(["a.rows", "b.rows"])

Files here are read where they are, and those elsewhere are copied to the worker that reads them, for as long as that
takes. Order is that of their names.
"""

from __future__ import annotations

import glob
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from ..extras import pip_install
from ..formats import Format, FormatError, How, Table, TableOptions, TextOptions, format_named, format_of, read_as
from ..options import OptionError
from .dask import DaskRows
from .learning import with_frequencies, with_scales
from .partitions import Form, Partition


def open_dataset(
    path: str | Sequence[str],
    format: str | None = None,
    *,
    table: TableOptions | None = None,
    texts: TextOptions | None = None,
    zero_based: bool | None = None,
    n_features: int | None = None,
    storage: Mapping[str, Any] | None = None,
) -> DaskRows:
    """Rows of many files, for `fit`, `outlier_score` and their siblings; workers of the current Dask client read them.

    Parameters
    ----------
    path : a glob, or several, of files or rows folders; with a protocol, such as s3://, wherever fsspec finds them
    format : of all files, where their suffix does not tell
    table : columns of tables with a meaning, what missing values become, and how numbers are scaled; scales and means
        are learned now, for which each file is read, and are then in `how` of what this returns
    texts : which tokens of documents are counted, and whether they are weighed, for which each file is read once more;
        by default they are not
    zero_based : whether the indices of svmlight files begin at 0; otherwise that is so where any of them has an index 0
    n_features : number of columns, where files do not say it and the largest index is not the last
    storage : options of the file system, as fsspec has them
    """
    given = [path] if isinstance(path, str) else list(path)
    storage = dict(storage or {})
    files = [file for one in given for file in found_files(one, storage)]
    how = How(table or TableOptions(), texts or TextOptions(idf=False), zero_based, n_features)
    return rows_of_files(files, format, how, storage)


def rows_of_files(files: Sequence[str], format: str | None, how: How, storage: Mapping[str, Any]) -> DaskRows:
    """Rows of files that were found, all of one format."""
    kinds = {file: format_named(_format_of(file, format)) for file in files}
    kind = kinds[files[0]]
    odd = next((file for file, other in kinds.items() if other.name != kind.name), None)
    if odd is not None:
        raise FormatError(f"{odd} is {kinds[odd].name}; allowed: one format for all, as {files[0]} is {kind.name}.")
    loaders = [File(file, kind.name, dict(storage), kind.takes_width) for file in files]
    how = _learned(loaders, kind, how)
    known = (how.n_features or 0, how.zero_based) if kind.takes_width else (0, None)
    form = Form(known[0], zero_based=known[1], how=how)
    return DaskRows([Partition(loader, loader.path) for loader in loaders], form)


def _learned(files: Sequence[File], kind: Format, how: How) -> How:
    """`how`, with what has to be learned from all files before one of them can be read."""
    table, texts = how.table, how.texts
    has_text = kind.has_documents or bool(table.text)
    has_numbers = kind.is_table and not (table.text and table.text_only)
    if has_text and (texts.vocabulary or (has_numbers and not how.weights)):
        raise OptionError(
            f"{files[0].path} holds text {'whose tokens are listed' if texts.vocabulary else 'beside other columns'}, "
            "which takes all documents at once; allowed of text in several files: documents alone, and hashed tokens, "
            "without --vocabulary."
        )
    if has_text and texts.idf and how.frequencies is None:
        how = with_frequencies(files, how)
    is_scaled, is_filled = table.scale == "none" or table.scales, table.missing != "mean" or table.means
    if not has_numbers or (is_scaled and is_filled):
        return how
    return with_scales(files, how)


@dataclass(frozen=True)
class File:
    """One file, read by the task that needs it."""

    path: str
    format: str
    storage: Mapping[str, Any] = field(default_factory=dict)
    takes_width: bool = False

    def load(self, form: Form) -> Table:
        """Its rows, with as many columns as `form` says where the format does not."""
        how = form.how or How()
        zero_based = how.zero_based if form.zero_based is None else form.zero_based
        return self.read(replace(how, n_features=form.n_features or how.n_features, zero_based=zero_based))

    def read(self, how: How) -> Table:
        """Its rows, read in this way."""
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
    """The files that a glob stands for, in order."""
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
    """By its suffix: a folder elsewhere has to be called .rows."""
    return format_of(PurePosixPath(path).name if _is_remote(path) else _local(path), given)


def _system(path: str, storage: Mapping[str, Any]) -> tuple[Any, str]:
    """The file system of an address, and the path there."""
    try:
        import fsspec
    except ImportError:
        raise FormatError(f"{path}: files elsewhere need the package fsspec: {pip_install('dask')}.") from None
    try:
        return fsspec.core.url_to_fs(path, **storage)
    except (ImportError, ValueError) as error:
        raise FormatError(f"{path} cannot be opened: {str(error).rstrip('.')}.") from None


def _fetch(path: str, target: Path, storage: Mapping[str, Any]) -> None:
    fs, inner = _system(path, storage)
    fs.get(inner, str(target), recursive=fs.isdir(inner))
