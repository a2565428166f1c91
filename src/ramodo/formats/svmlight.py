"""svmlight and libsvm: `label index:value index:value ... # comment`, plain or compressed.

Native code reads it on all cores. Indices begin at 0 or at 1: unless the caller says otherwise, a file without an index
0 begins at 1, as in scikit-learn.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import IO, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .. import kernels
from .byte_streams import Show, is_compressed, line_blocks, whole
from .format import Format, How, Piece
from .schema import Schema
from .table import FormatError, Table

_ERRORS = (
    "",
    "a label was expected, a finite number",
    "an index was expected, digits alone",
    "index:value was expected",
    "a number was expected",
    "the value must be a finite number",
    "the index must be from 0 to 2^48",
    "the index is given twice",
)


class Block(NamedTuple):
    """Consecutive lines."""

    labels: npt.NDArray[np.float64]
    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[np.signedinteger]
    data: npt.NDArray[np.floating]
    largest: int
    smallest: int


_WATCHED = 1 << 27
"""Minimum bytes of a file to read in blocks in order to show progress; smaller ones take no time."""


def read(
    path: str,
    *,
    zero_based: bool | None = None,
    n_features: int | None = None,
    n_threads: int = 1,
    show: Show | None = None,
) -> Table:
    """Read the whole file; values are in single precision if that can hold all of them."""
    if path == "-" or is_compressed(path) or (show is not None and os.path.getsize(path) > _WATCHED):
        block = _joined(list(blocks(path, n_threads=n_threads, show=show)))
    else:
        block = _parse(path, whole(path), 0, n_threads)
    if len(block.labels) == 0:
        raise FormatError(f"{path} has no rows.")
    shift = shift_of(path, block.smallest, zero_based)
    return Table(_matrix(path, block, shift, n_features), classes=block.labels, schema=Schema(zero_based=shift == 0))


def parse(
    path: str,
    text: npt.NDArray[np.uint8],
    line: int,
    *,
    zero_based: bool | None = None,
    n_features: int | None = None,
    n_threads: int = 1,
) -> Table:
    """Read rows from whole lines; the first is line number `line` + 1 of `path`."""
    block = _parse(path, text, line, n_threads)
    shift = shift_of(path, block.smallest, zero_based)
    return Table(_matrix(path, block, shift, n_features), classes=block.labels, schema=Schema(zero_based=shift == 0))


def blocks(path: str, *, n_threads: int = 1, show: Show | None = None) -> Iterator[Block]:
    """Yield the file in blocks, with its own indices, for files larger than memory."""
    line = 0
    for text in line_blocks(path, show=show):
        yield _parse(path, text, line, n_threads)
        line += int(np.count_nonzero(text == ord("\n")))


def shift_of(path: str, smallest: int, zero_based: bool | None) -> int:
    """Return the number to subtract from indices."""
    if zero_based is None:
        return int(smallest != 0)
    if not zero_based and smallest == 0:
        raise FormatError(f"{path} must have indices of at least 1, since it is said to begin at 1, got 0.")
    return int(not zero_based)


def _parse(path: str, text: npt.NDArray[np.uint8], line: int, n_threads: int) -> Block:
    error, at, labels, lengths, indices, data, largest, smallest = kernels.read_svmlight(text, n_threads)
    if error:
        before = text[:at]
        line += int(np.count_nonzero(before == ord("\n"))) + 1
        start = int(at - 1 - np.argmax(before[::-1] == ord("\n"))) + 1 if (before == ord("\n")).any() else 0
        shown = bytes(text[at : at + 20]).split(b"\n")[0].decode("utf-8", "replace")
        raise FormatError(f"{path}, line {line}, column {at - start + 1}: {_ERRORS[error]}; found {shown!r}.")
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return Block(labels, indptr, indices, data, largest, smallest)


def _joined(parts: list[Block]) -> Block:
    if not parts:
        return Block(np.empty(0), np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0), -1, -1)
    starts = np.cumsum([0] + [len(part.data) for part in parts])
    return Block(
        np.concatenate([part.labels for part in parts]),
        np.concatenate([[0]] + [part.indptr[1:] + start for part, start in zip(parts, starts, strict=False)]),
        np.concatenate([part.indices for part in parts]),
        np.concatenate([part.data for part in parts]),
        max(part.largest for part in parts),
        min((part.smallest for part in parts if part.smallest >= 0), default=-1),
    )


def _matrix(path: str, block: Block, shift: int, n_features: int | None) -> sp.csr_array:
    width = max(block.largest + 1 - shift, 1)
    if n_features is not None and width > n_features:
        raise FormatError(
            f"{path} must have indices from {shift} to {n_features - 1 + shift:,}, the features of the model, got "
            f"{width - 1 + shift:,}. If the indices of the model's data began at {1 - shift}, say so; else fit it "
            "again."
        )
    if shift:
        np.subtract(block.indices, shift, out=block.indices)
    matrix = sp.csr_array((len(block.labels), n_features or width), dtype=block.data.dtype)
    matrix.data, matrix.indices, matrix.indptr = block.data, block.indices, block.indptr
    return matrix


def write(file: IO[bytes], matrix: sp.csr_array, labels: npt.NDArray[np.float64] | None) -> None:
    """Write CSR rows as text; indices start at 1, and digits suffice to restore the same double."""
    for row in range(matrix.shape[0]):
        entries = slice(matrix.indptr[row], matrix.indptr[row + 1])
        pairs = zip(matrix.indices[entries].tolist(), matrix.data[entries].astype(np.float64).tolist(), strict=True)
        label = 0.0 if labels is None else float(labels[row])
        file.write(" ".join([_shown(label), *[f"{index + 1}:{_shown(value)}" for index, value in pairs]]).encode())
        file.write(b"\n")


def _shown(value: float) -> str:
    return repr(value).removesuffix(".0")


def _read(path: str, how: How) -> Table:
    return read(
        path, zero_based=how.schema.zero_based, n_features=how.n_features, n_threads=how.n_threads, show=how.show
    )


def _of_stream(name: str, block: bytes, line: int, how: How) -> Table:
    """Read lines of a stream. Indices begin at 1 by default, since a stream cannot be searched for an index 0 first."""
    return parse(
        name,
        np.frombuffer(block, dtype=np.uint8),
        line,
        zero_based=bool(how.schema.zero_based),
        n_features=how.n_features,
        n_threads=how.n_threads,
    )


def pieces(path: str, how: How) -> Iterator[Piece]:
    """Yield the file in pieces, with indices from 0. The first piece decides whether those in the file begin at 0."""
    shift = None
    for block in blocks(path, n_threads=how.n_threads, show=how.show):
        if shift is None:
            shift = shift_of(path, block.smallest, how.schema.zero_based)
        if 0 <= block.smallest < shift:
            raise FormatError(
                f"{path} has an index 0, but not in its first part; say how its indices begin, with --zero-based."
            )
        yield Piece(block.indptr, block.indices - shift, block.data, block.labels, block.largest + 1 - shift)


FORMATS = (
    Format(
        "svmlight",
        (".svm", ".svmlight", ".libsvm"),
        "`label index:value index:value ...` a line, also known as libsvm.",
        _read,
        of_stream=_of_stream,
        pieces=pieces,
        takes_width=True,
    ),
)
