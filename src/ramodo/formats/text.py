"""Text, a document a line: counts of words and character n-grams, hashed natively.

The feature of a token is a hash of it, cut to `bits` bits: no vocabulary, any number of documents, and memory that
follows the features seen however many bits there are. Names are found again by tokenising a document once more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .. import kernels
from .opening import line_blocks
from .table import FormatError, Table

SUFFIXES = (".txt", ".text", ".log", ".urls")


@dataclass(frozen=True)
class TextOptions:
    """Which tokens: n-grams of words and of characters, from .. to, (0, 0) for none; 2^bits features."""

    words: tuple[int, int] = (1, 1)
    characters: tuple[int, int] = (3, 5)
    bits: int = 22

    @property
    def n_features(self) -> int:
        """Columns of the matrix."""
        return 1 << self.bits


def read(path: str, options: TextOptions | None = None, *, n_threads: int = 1) -> Table:
    """One row per line; empty lines are rows without a feature, so that line numbers stay."""
    options = options or TextOptions()
    texts = list(lines(path))
    if not texts:
        raise FormatError(f"{path} has no lines.")
    return Table(vectorize(texts, options, n_threads=n_threads), texts=texts)


def lines(path: str) -> Iterator[str]:
    """The lines of a file; bytes that are not UTF-8 become the replacement character."""
    for block in line_blocks(path):
        yield from _split(block)


def _split(block: npt.NDArray[np.uint8]) -> list[str]:
    text = block.tobytes().decode("utf-8", "replace")
    return [line.rstrip("\r") for line in text.removesuffix("\n").split("\n")]


def vectorize(texts: Iterable[str], options: TextOptions, *, n_threads: int = 1) -> sp.csr_array:
    """Counts of the tokens of each text, one row each."""
    encoded = [text.encode("utf-8", "replace") for text in texts]
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in encoded])]).astype(np.int64)
    joined = np.frombuffer(b"".join(encoded) or b"\0", dtype=np.uint8)
    lengths, columns, counts = kernels.count_text(
        joined, offsets, options.words, options.characters, options.bits, n_threads
    )
    indices: npt.NDArray[Any] = columns.astype(np.int32) if options.bits < 31 else columns
    matrix = sp.csr_array((len(encoded), options.n_features), dtype=np.float32)
    matrix.data, matrix.indices, matrix.indptr = counts, indices, np.concatenate([[0], np.cumsum(lengths)])
    return matrix


def token_names(texts: Sequence[str], columns: Iterable[int], options: TextOptions) -> dict[int, str]:
    """Which token of these texts stands behind each of the columns; character n-grams in quotes."""
    wanted, names = set(columns), dict[int, str]()
    for text in texts:
        encoded = np.frombuffer(text.encode("utf-8", "replace") or b" ", dtype=np.uint8)
        for column, token, is_word in kernels.text_tokens(encoded, options.words, options.characters, options.bits):
            if column in wanted and column not in names:
                shown = token.decode("utf-8", "replace")
                names[column] = shown if is_word else f"'{shown}'"
    return names
