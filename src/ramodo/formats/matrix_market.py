"""Matrix Market (.mtx), read by scipy."""

from __future__ import annotations

import scipy.io
import scipy.sparse as sp

from .opening import open_binary
from .table import FormatError, Table

SUFFIXES = (".mtx", ".mm")


def read(path: str) -> Table:
    """Sparse or dense, plain or compressed."""
    try:
        with open_binary(path) as stream:
            matrix = scipy.io.mmread(stream)
    except (ValueError, EOFError, OverflowError, TypeError) as error:
        raise FormatError(f"{path} is not a Matrix Market file: {str(error).rstrip('.')}.") from None
    return Table(sp.csr_array(matrix) if sp.issparse(matrix) else matrix)
