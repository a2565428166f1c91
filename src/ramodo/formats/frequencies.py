"""Weights of tokens: the fewer training documents have a token, the larger its weight.

A token that occurs `count` times in a document has the value (1 + ln count) * (ln((1 + N) / (1 + n)) + 1) there, where
n of N training documents have it, or 0 if none has: scikit-learn's TfidfVectorizer(sublinear_tf=True, norm=None).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .. import kernels


@dataclass(frozen=True, eq=False)
class DocumentFrequencies:
    """How many of the training documents have each token.

    columns : columns of the tokens that occur, in order
    documents : number of documents with each of these tokens
    n_documents : number of training documents
    n_features : number of all columns
    """

    columns: npt.NDArray[np.int64]
    documents: npt.NDArray[np.int32]
    n_documents: int
    n_features: int

    @classmethod
    def of(cls, counts: sp.csr_array) -> Self:
        """Count the documents in a matrix of counts, one row per document."""
        n_documents, n_features = counts.shape
        return cls(*kernels.document_frequencies(counts.indices, n_features), n_documents, n_features)

    def __reduce__(self) -> tuple[Any, ...]:
        """Send only the counts to another process; the weights follow from them."""
        return DocumentFrequencies, (self.columns, self.documents, self.n_documents, self.n_features)

    def weigh(self, counts: sp.csr_array, n_threads: int = 1) -> None:
        """Replace counts by weighted values, in place."""
        self._weights.weigh(counts.indices, counts.data, n_threads)

    def counts(self, columns: npt.NDArray[Any], values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return the counts behind these weighted values in these columns."""
        of_one = np.ones(len(columns), dtype=np.float32)
        self._weights.weigh(columns, of_one, 1)
        return np.where(values == 0, 0.0, np.rint(np.exp(values / of_one.astype(np.float64) - 1)))

    @cached_property
    def _weights(self) -> kernels.TokenWeights:
        return kernels.TokenWeights(self.columns, self.documents, self.n_documents, self.n_features)
