"""AnnData (.h5ad): cells by genes, read where the package anndata is installed."""

from __future__ import annotations

from .table import FormatError, Table

SUFFIXES = (".h5ad",)


def read(path: str) -> Table:
    """The matrix X with the names of observations and variables."""
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
    return Table(data.X, [str(name) for name in data.obs_names], [str(name) for name in data.var_names])
