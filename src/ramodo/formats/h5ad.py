"""AnnData (.h5ad): cells by genes, read where the package anndata is installed."""

from __future__ import annotations

from typing import Any

from .classes import classes_of
from .table import FormatError, Table, TableOptions, refuse_repeated

SUFFIXES = (".h5ad",)


def read(path: str, options: TableOptions | None = None) -> Table:
    """The matrix X with the names of observations and variables; ids and labels may be columns of `obs`."""
    options = options or TableOptions()
    try:
        import anndata
    except ImportError:
        raise FormatError(f"{path}: .h5ad files need the package anndata: pip install 'ramodo[h5ad]'.") from None
    with open(path, "rb"):
        pass
    try:
        data = anndata.read_h5ad(path)
    except Exception as error:  # anndata and h5py raise many kinds
        raise FormatError(f"{path} is not an AnnData file: {str(error).splitlines()[0].rstrip('.')}.") from None
    if data.X is None:
        raise FormatError(f"{path} holds no matrix X.")
    ids, labels = (_observed(path, data.obs, name, options) for name in (options.id, options.label))
    names = [str(name) for name in (data.obs_names if ids is None else ids)]
    if ids is not None:
        refuse_repeated(f"{path}, obs[{options.id!r}]", names)
    return Table(data.X, names, [str(name) for name in data.var_names], None if labels is None else classes_of(labels))


def _observed(path: str, obs: Any, name: str | None, options: TableOptions) -> list[Any] | None:
    """A column of `obs`, with None for what is missing."""
    if name is None or (name not in obs.columns and name in options.optional):
        return None
    if name not in obs.columns:
        found = [str(column) for column in obs.columns]
        shown = ", ".join(found[:10]) + (", ..." if len(found) > 10 else "")
        raise FormatError(f"{path} has no column {name!r} in obs; it has {shown or 'none'}.")
    values: list[Any] = obs[name].astype(object).where(obs[name].notna(), None).tolist()
    return values
