"""Matrix Market (.mtx), read by scipy.

scipy's reader trusts the file, and some files make it read out of bounds or end the process. Such files are refused.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from .byte_streams import whole
from .compression import refuse_bomb
from .format import Format
from .table import FormatError, Table


def read(path: str) -> Table:
    """Read a file, sparse or dense, plain or compressed."""
    text = whole(path)
    try:
        if np.count_nonzero(text) < len(text):
            raise ValueError("it contains a byte 0")
        # Both read the same bytes, since the file may change. The last line must end. Never closed.
        raw = text.tobytes()
        stream = io.BytesIO(raw if raw.endswith(b"\n") else raw + b"\n")
        n_rows, n_features, n_entries, _, _, symmetry = scipy.io.mminfo(stream)
        square = n_rows == n_features or symmetry == "general"
        if n_rows < 1 or n_features < 1 or n_entries > 2 * len(text) or not square:
            raise ValueError(
                f"{n_entries:,} entries of a {symmetry} matrix of {n_rows:,} x {n_features:,} cannot be in it"
            )
        refuse_bomb(path, len(text), 8 * n_rows)  # even an empty row takes this much
        stream.seek(0)
        matrix: Any = scipy.io.mmread(stream)
        if matrix.dtype.kind == "c":
            raise ValueError("its numbers must be real, got complex ones")
        return Table(sp.csr_array(matrix) if sp.issparse(matrix) else matrix)
    except FormatError:
        raise
    except (ValueError, OverflowError, TypeError, MemoryError) as error:
        raise FormatError(f"{path} is not a Matrix Market file: {str(error).rstrip('.')}.") from None


FORMATS = (Format("mtx", (".mtx", ".mm"), "Matrix Market, sparse or dense.", lambda path, how: read(path)),)
