"""Text, one document per line: words and character n-grams, counted, hashed natively, and weighted (frequencies.py).

The feature of a token is its hash, cut to `bits` bits. So there is no vocabulary, the number of documents is unlimited,
and memory depends on the features that occur, not on the number of bits. To find names again, a document is tokenised
once more.

The alternative is to keep a vocabulary, with scikit-learn: every token of the training documents has a column and a
name. That is several times slower (benchmarks/files.py), and it grows with the documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .. import kernels
from .file_lines import lines_of, split
from .format import Format, How
from .frequencies import DocumentFrequencies
from .line_reading import reader_of
from .schema import Column, TextOptions
from .table import FormatError, Table

_AT_ONCE = 1 << 16
"""Texts whose tokens are counted at a time."""

_ROOM = 1.25
"""Of the memory that the first part lets expect; what is not written to takes none."""


def read(path: str, how: How | None = None) -> Table:
    """Return one row per line; empty lines are rows without features, so that line numbers stay the same."""
    how = how or How()
    texts = lines_of(path, how.show)
    if not texts:
        raise FormatError(f"{path} has no lines.")
    return as_table(texts, how)


def as_table(texts: Sequence[str], how: How, name: str = "text") -> Table:
    """Return documents of the column `name` as a matrix, with the tokens and weights of a model if it has any."""
    known = how.schema.texts[0] if how.schema.is_text else None
    matrix, column = counted(name, texts, how, known)
    frequencies = weighed(matrix, how)
    schema = replace(how.schema, columns=(column,), plain=None)
    return Table(matrix, texts=texts, frequencies=frequencies, schema=schema)


def counted(name: str, texts: Sequence[str], how: How, known: Column | None) -> tuple[sp.csr_array, Column]:
    """Return counts of tokens, and their column, which is that of a model or newly learned."""
    options = how.schema.tokens
    if not options.vocabulary:
        matrix = vectorize(texts, options, n_threads=how.n_threads)
        return matrix, known or Column(name=name, kind="text", width=matrix.shape[1])
    matrix, tokens = _over_vocabulary(texts, options, None if known is None else known.values)
    return matrix, known or Column(name=name, kind="text", values=tuple(tokens))


def weighed(counts: sp.csr_array, how: How) -> DocumentFrequencies | None:
    """Replace counts by weights, if requested, and return the document frequencies."""
    if not how.schema.tokens.idf:
        return None
    frequencies = how.frequencies or DocumentFrequencies.of(counts)
    frequencies.weigh(counts, how.n_threads)
    return frequencies


def _over_vocabulary(
    texts: Sequence[str], options: TextOptions, names: Sequence[str] | None
) -> tuple[sp.csr_array, list[str]]:
    """Return counts of words and quoted character n-grams, and their names."""
    from sklearn.feature_extraction.text import CountVectorizer

    parts, found = [], list[str]()
    for analyzer, quoted, n_grams in (("word", False, options.words), ("char", True, options.characters)):
        if n_grams[1] == 0:
            continue
        known = None if names is None else [n[1:-1] if quoted else n for n in names if _is_quoted(n) == quoted]
        counter = CountVectorizer(analyzer=analyzer, ngram_range=n_grams, vocabulary=known, dtype=np.float32)
        try:
            parts.append(counter.fit_transform(texts) if known is None else counter.transform(texts))
        except ValueError:  # no document has a token of this kind
            continue
        tokens = counter.get_feature_names_out() if known is None else known
        found += [f"'{token}'" if quoted else str(token) for token in tokens]
    if not parts:
        raise FormatError("the documents hold no tokens of the requested kinds.")
    return sp.csr_array(sp.hstack(parts, format="csr")), found


def _is_quoted(name: str) -> bool:
    return len(name) > 2 and name[0] == name[-1] == "'"


def vectorize(texts: Sequence[str], options: TextOptions, *, n_threads: int = 1) -> sp.csr_array:
    """Return counts of the tokens of each text, one row each."""
    starts = range(0, max(len(texts), 1), _AT_ONCE)
    parts = (_counted(texts[start : start + _AT_ONCE], options, n_threads) for start in starts)
    lengths, indices, counts = _joined(parts, len(starts))
    matrix = sp.csr_array((len(lengths), options.n_features), dtype=np.float32)
    kind = indices.dtype if len(indices) < 2**31 else np.dtype(np.int64)  # of two types, SciPy copies all to take a row
    matrix.data, matrix.indices = counts, indices
    matrix.indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(kind)
    return matrix


def _joined(parts: Iterator[tuple[npt.NDArray[Any], ...]], n: int) -> Sequence[npt.NDArray[Any]]:
    """Return arrays of `n` parts, which are not kept: joining them at the end would take twice the memory."""
    first = next(parts)
    if n == 1:
        return first
    wholes, ends = [np.empty(int(_ROOM * n * len(part)), part.dtype) for part in first], [0] * len(first)
    for each in chain([first], parts):
        for i, part in enumerate(each):
            end = ends[i] + len(part)
            if end > len(wholes[i]):
                wholes[i] = np.concatenate([wholes[i][: ends[i]], np.empty(end, part.dtype)])
            wholes[i][ends[i] : end] = part
            ends[i] = end
    return [whole[:end] for whole, end in zip(wholes, ends, strict=True)]


def _counted(texts: Sequence[str], options: TextOptions, n_threads: int) -> tuple[npt.NDArray[Any], ...]:
    """Return the lengths of rows, columns and values; lines that are read alike are counted once."""
    reader = reader_of(options)
    if reader is None:
        return _counted_each(texts, options, n_threads)
    places: dict[str, int] = {}
    rows = np.array([places.setdefault(reader.text(line), len(places)) for line in texts], dtype=np.int64)
    lengths, indices, counts = _counted_each(list(places), options, n_threads)
    own, first = lengths[rows], (np.cumsum(lengths) - lengths)[rows]
    taken = np.repeat(first - (np.cumsum(own) - own), own) + np.arange(own.sum())
    return own, indices[taken], counts[taken]


def _counted_each(texts: Sequence[str], options: TextOptions, n_threads: int) -> tuple[npt.NDArray[Any], ...]:
    encoded = [text.encode("utf-8", "replace") for text in texts]
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in encoded])]).astype(np.int64)
    joined = np.frombuffer(b"".join(encoded) or b"\0", dtype=np.uint8)
    lengths, columns, counts = kernels.count_text(
        joined, offsets, options.words, options.characters, options.bits, n_threads, options.marks
    )
    indices = columns.astype(np.int32) if options.bits < 31 else columns
    return lengths, indices, np.ones_like(counts) if options.presence else counts


def token_names(texts: Sequence[str], columns: Iterable[int], options: TextOptions) -> dict[int, str]:
    """Return the token of these texts behind each column; character n-grams are in quotes."""
    reader = reader_of(options)
    wanted, names = np.unique(np.fromiter(columns, dtype=np.int64)), dict[int, str]()
    for text in texts:
        if len(names) == len(wanted):
            break
        spans = spans_of(text if reader is None else reader.text(text), options)
        places = np.minimum(np.searchsorted(wanted, spans.columns), len(wanted) - 1)
        for i in np.flatnonzero(wanted[places] == spans.columns).tolist():
            token = spans.normalised[spans.begins[i] : spans.ends[i]].decode("utf-8", "replace")
            names.setdefault(int(spans.columns[i]), token if i < spans.n_words else f"'{token}'")
    return names


def spans_of(text: str, options: TextOptions) -> kernels.TextSpans:
    """Return every token of a text with its position in the prepared text."""
    encoded = np.frombuffer(text.encode("utf-8", "replace") or b" ", dtype=np.uint8)
    return kernels.text_spans(encoded, options.words, options.characters, options.bits, options.marks)


def _of_stream(name: str, block: bytes, line: int, how: How) -> Table:
    return as_table(split(block), how)


FORMATS = (
    Format(
        "text",
        (".txt", ".text", ".urls"),
        "A document a line.",
        read,
        of_stream=_of_stream,
        has_documents=True,
    ),
)
