"""AnnData (.h5ad): cells by genes; needs the package anndata."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import scipy.sparse as sp

from ..data.validation import refuse_indices, refuse_structure
from ..extras import pip_install
from . import h5ad_check
from .byte_streams import need_threads
from .classes import classes_of
from .format import Format, How
from .missing_values import filled
from .table import FormatError, Table, refuse_repeated


def read(path: str, how: How) -> Table:
    """Return the matrix X with the names of observations and variables; ids and labels may be columns of `obs`."""
    schema = how.schema
    with open(path, "rb"):
        pass
    need_threads(path, 2)  # one of these is a process
    with ThreadPoolExecutor(1) as pool:
        checking = pool.submit(h5ad_check.what_is_wrong, path)  # meanwhile this process imports
        try:
            import anndata
        except ImportError:
            raise FormatError(f"{path}: .h5ad files need the package anndata: {pip_install('h5ad')}.") from None
        wrong = checking.result()
    if wrong is not None:
        raise _refusal(path, wrong)
    try:
        _refuse_parts(path)
        data = anndata.read_h5ad(path)
        data = data.T if schema.transpose else data
        given = _matrix(path, data, schema.layer)
    except FormatError:
        raise
    except Exception as error:  # anndata and h5py raise many kinds
        raise _refusal(path, str(error) or type(error).__name__) from None
    ids, labels = (_observed(path, data.obs, name, how) for name in (schema.id, schema.label))
    names = [str(name) for name in (data.obs_names if ids is None else ids)]
    if ids is not None:
        refuse_repeated(f"{path}, obs[{schema.id!r}]", names)
    found = {name: _observed(path, data.obs, name, how) for name in how.beside}
    beside = {name: values for name, values in found.items() if values is not None}
    X, schema = filled(path, given, names, [str(name) for name in data.var_names], schema)
    return Table(X, ids=names, classes=None if labels is None else classes_of(labels), schema=schema, beside=beside)


def _matrix(path: str, data: Any, layer: str | None) -> Any:
    """X, or a layer."""
    name = "X" if layer is None else f"layer {layer!r}"
    if layer is not None and layer not in data.layers:
        raise FormatError(f"{path} has no {name}; it has {', '.join(map(repr, data.layers)) or 'none'}.")
    found = data.X if layer is None else data.layers[layer]
    if found is None:
        raise FormatError(f"{path} holds no matrix X.")
    if sp.issparse(found):
        refuse_structure(found, name)  # scipy trusts such arrays
        refuse_indices(found.indices, found.shape[found.format == "csr"], name)
    return found


def _refuse_parts(path: str) -> None:
    """Raise if the file lacks names of cells or genes, since anndata would invent some."""
    import h5py

    with h5py.File(path, "r") as file:
        absent = [name for name in ("obs", "var") if name not in file]
    if absent:
        raise FormatError(
            f"{path} must be an AnnData file with names of cells in obs and of genes in var, got no "
            f"{' and no '.join(absent)}. Write it again with anndata."
        )


def _refusal(path: str, reason: str) -> FormatError:
    return FormatError(
        f"{path} is not an AnnData file, or is damaged: {reason.splitlines()[0].rstrip('.')}. Get or write it again."
    )


def _observed(path: str, obs: Any, name: str | None, how: How) -> list[Any] | None:
    """Return a column of `obs`, with None for missing values."""
    if name is None or (name not in obs.columns and name in how.optional):
        return None
    if name not in obs.columns:
        found = [str(column) for column in obs.columns]
        shown = ", ".join(found[:10]) + (", ..." if len(found) > 10 else "")
        raise FormatError(f"{path} has no column {name!r} in obs; it has {shown or 'none'}.")
    values: list[Any] = obs[name].astype(object).where(obs[name].notna(), None).tolist()
    return values


FORMATS = (
    Format(
        "h5ad",
        (".h5ad",),
        "AnnData, cells by genes; needs anndata.",
        read,
        columns=("id", "label", "with"),
        names_rows=True,
        are_genes=True,
    ),
)
