"""R8: two files of lines `class<TAB>stemmed words`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from ...formats import FormatError
from ...formats.file_lines import lines_of
from .prepared import LabeledData


def convert(files: Sequence[Path], seed: int) -> LabeledData:
    """Return the rarest class against the largest, training documents before test documents; 1 where a term occurs.

    Columns are the terms of these documents, in alphabetical order.
    """
    documents = [document for path in files for document in _documents(path)]
    counts = Counter(label for label, _ in documents)
    if len(counts) < 2:
        raise FormatError(f"{files[0]} must have several classes, got {len(counts)}.")
    (inlier, _), *_, (outlier, _) = counts.most_common()
    kept = [(label, sorted(set(words))) for label, words in documents if label in (inlier, outlier)]
    columns = {term: i for i, term in enumerate(sorted({term for _, terms in kept for term in terms}))}
    indices = np.array([columns[term] for _, terms in kept for term in terms], dtype=np.int32)
    indptr = np.concatenate([[0], np.cumsum([len(terms) for _, terms in kept])]).astype(np.int32)
    X = sp.csr_array((np.ones(len(indices), np.float32), indices, indptr), shape=(len(kept), len(columns)))
    return LabeledData(X, np.array([label == outlier for label, _ in kept], dtype=np.int8), None)


def _documents(path: Path) -> list[tuple[str, list[str]]]:
    found = []
    for number, line in enumerate(lines_of(str(path)), 1):
        if not line.strip():
            continue
        label, tab, words = line.partition("\t")
        if not tab or not label:
            raise FormatError(f"{path}, line {number}: class, tab and words were expected; found {line[:40]!r}.")
        found.append((label, words.split()))
    return found
