"""How many training documents contain each token, in the model file; scoring weights tokens by it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt

from ...formats.frequencies import DocumentFrequencies
from ..saved import CHECKED_AT_ONCE, check_array, check_features, require, shown

HEADER = "documents"
"""The header's field for the number of documents; absent if values are counts or there are no documents."""

COLUMNS, DOCUMENTS = "documents.columns", "documents.with_each"

_MOST_DOCUMENTS = 2**31 - 1


def describe(found: DocumentFrequencies | None) -> tuple[dict[str, str], dict[str, npt.NDArray[Any]]]:
    """Return the fields for the header, and the arrays."""
    if found is None:
        return {}, {}
    arrays: dict[str, npt.NDArray[Any]] = {
        COLUMNS: np.ascontiguousarray(found.columns, dtype=np.int64),
        DOCUMENTS: np.ascontiguousarray(found.documents, dtype=np.int32),
    }
    return {HEADER: json.dumps(found.n_documents)}, arrays


def read(header: dict[str, str], tensors: dict[str, npt.NDArray[Any]], n_features: int) -> DocumentFrequencies | None:
    """Return the frequencies, if the file has them. Arrays too large to check here are checked when they are used."""
    if HEADER not in header:
        return None
    n_documents = json.loads(header[HEADER])
    fine = type(n_documents) is int and 1 <= n_documents <= _MOST_DOCUMENTS
    require(fine, f"its number of documents is {shown(n_documents)}")
    for name in (COLUMNS, DOCUMENTS):
        require(name in tensors, f"{name} is missing")
    columns, documents = tensors.pop(COLUMNS), tensors.pop(DOCUMENTS)
    check_array(COLUMNS, columns, "int64", 1)
    check_array(DOCUMENTS, documents, "int32", 1)
    require(len(columns) == len(documents), f"{DOCUMENTS} has {len(documents)} values for {len(columns)} columns")
    check_features(COLUMNS, columns, n_features)
    if len(documents) and documents.nbytes <= CHECKED_AT_ONCE:
        inside = bool(documents.min() >= 1) and int(documents.max()) <= n_documents
        require(inside, f"{DOCUMENTS} has numbers that are not from 1 to {n_documents}")
    return DocumentFrequencies(columns, documents, n_documents, n_features)
