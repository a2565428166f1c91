"""Python's interface to the native kernels. No other module uses `_native` directly.

Scan               is the data usable, and which features occur            native/scan.hpp
squared_norms, ... lengths of rows, for normalisation                      native/norms.hpp
moments            mean and mean square of each feature that occurs        native/moments.hpp
first_equal        which rows are equal                                    native/distinct.hpp
SparseSp, DenseSp  φ on sparse and on dense rows                           native/sp_sparse.hpp, sp_dense.hpp
SmallSp            φ in the representation                                 native/sp_small.hpp
Trainer            the training loop over drawn triplets                   native/*_training.hpp
hinge              the ranking loss alone                                  native/hinge.hpp
read_svmlight      lines of text to CSR arrays                             native/svmlight.hpp
count_text         documents to counts of hashed tokens                    native/text.hpp
TokenWeights       counts to weights by document frequencies               native/document_frequencies.hpp
FeatureSums        sums by feature                                         native/feature_sums.hpp
count_features     in how many rows each feature is                        native/rarity.hpp
FeatureWeights     sums of weights over the features that rows have        native/rarity.hpp
Explainer          what each feature adds to the score of each row         native/explainer.hpp
Projection         ψ(x W) of sparse and dense rows                         native/projection.hpp
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from . import _native
from .memory_errors import MemoryErrorAdvice

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from ..data.blocks import Block, DenseRows, SparseRows

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_FEWER_AT_A_TIME = "Give fewer rows at a time"
_SMALLER_FILES = "Split the file, or convert it to a rows folder on a larger machine"
_FEWER_BITS = "Use fewer bits"
_FEWER_REFERENCES = "Use fewer or smaller subsamples"
_SMALLER_MODEL = "Use a smaller n_components, or fewer features (text: fewer bits)"


def instructions() -> str:
    """Return the instruction set that the kernels use on this machine."""
    return _native.instructions()


def compiler() -> str:
    """Return the compiler that built the kernels, with its version: results may differ in bits between compilers."""
    return _native.compiler()


def _is_sparse(rows: Block) -> TypeIs[SparseRows]:
    return rows.is_sparse


def _as_dense(rows: Block) -> DenseRows:
    return cast("DenseRows", rows)


class Found(NamedTuple):
    """The findings of a scan; a row or column of -1 means that it found nothing."""

    bad_row: int
    bad_column: int
    outside_row: int
    outside: int
    ordered: bool
    largest: float


class Scan:
    """Checks blocks of sparse rows and counts the features that occur in them, unless `n_entries` is None."""

    def __init__(self, n_features: int, n_entries: int | None) -> None:
        self._what, self._seen = f"a list of the features that occur, of {n_features:,}", None
        if n_entries is not None:
            self._what += f" and in {n_entries:,} non-zeros"
            with MemoryErrorAdvice(self._what, _FEWER_AT_A_TIME):
                self._seen = _native.FeatureSet(n_features, n_entries)

    def add(self, block: SparseRows, limit: float, n_threads: int) -> Found:
        """Check one block."""
        with MemoryErrorAdvice(self._what, _FEWER_AT_A_TIME):
            return Found(
                *_native.scan(block.indptr, block.indices, block.data, block.n_features, limit, self._seen, n_threads)
            )

    def n_seen(self) -> int:
        """Features with a non-zero value so far, if they are counted."""
        return 0 if self._seen is None else self._seen.count()


def read_svmlight(text: npt.NDArray[np.uint8], n_threads: int) -> tuple[Any, ...]:
    """Return (error, its byte, labels, lengths of rows, indices, values, largest index, smallest index)."""
    with MemoryErrorAdvice(f"the rows in {len(text):,} bytes of svmlight text", _SMALLER_FILES):
        found: Any = _native.read_svmlight(text, n_threads)
    return tuple(found)


def count_text(
    text: npt.NDArray[np.uint8],
    offsets: Integers,
    words: tuple[int, int],
    characters: tuple[int, int],
    bits: int,
    n_threads: int,
    marks: bool = False,
) -> tuple[Integers, Integers, Floats]:
    """Count hashed tokens; return the number of different tokens in each document, their columns and their counts."""
    with MemoryErrorAdvice(f"the tokens in {len(text):,} bytes of text", _SMALLER_FILES):
        found: Any = _native.count_text(text, offsets, words, characters, bits, n_threads, marks)
    return found[0], found[1], found[2]


class TextSpans(NamedTuple):
    """The tokens of one document as ranges of bytes in its normalised text; the first `n_words` are words."""

    normalised: bytes
    n_words: int
    columns: Integers
    begins: Integers
    ends: Integers


def text_spans(
    text: npt.NDArray[np.uint8], words: tuple[int, int], characters: tuple[int, int], bits: int, marks: bool = False
) -> TextSpans:
    """Return every token of one document, words first, with its position."""
    with MemoryErrorAdvice(f"the tokens in {len(text):,} bytes of text", _FEWER_AT_A_TIME):
        found: Any = _native.text_spans(text, words, characters, bits, marks)
    return TextSpans(*found)


def document_frequencies(columns: npt.NDArray[Any], n_features: int) -> tuple[Integers, npt.NDArray[np.int32]]:
    """Return the columns that occur, in order, and how many documents have each.

    `columns` has one entry per column and document.
    """
    with MemoryErrorAdvice(f"the documents of each token in {len(columns):,} counts", _SMALLER_FILES):
        found: Any = _native.document_frequencies(columns, n_features)
    return found[0], found[1]


class TokenWeights:
    """Weights of tokens: `documents[i]` of the `n_documents` have the token `columns[i]`. Columns increase."""

    def __init__(self, columns: Integers, documents: npt.NDArray[np.int32], n_documents: int, n_features: int) -> None:
        with MemoryErrorAdvice(f"the weights of {len(columns):,} tokens", _FEWER_BITS):
            self._native = _native.TokenWeights(columns, documents, n_documents, n_features)

    def weigh(self, columns: npt.NDArray[Any], counts: Floats, n_threads: int) -> None:
        """Replace counts of the tokens with these columns by weighted values, in place."""
        self._native.weigh(columns, counts, n_threads)


class Phi(NamedTuple):
    """The distance to a set: that to its k-th nearest row, or the mean of those to the k nearest."""

    k: int = 1
    average: bool = False


def squared_norms(block: SparseRows, n_threads: int) -> Doubles:
    """Return the sum of squares of each row."""
    out = np.empty(block.n_rows)
    _native.squared_norms(block.indptr, block.indices, block.data, out, n_threads)
    return out


def largest_values(block: SparseRows, n_threads: int) -> Doubles:
    """Return the largest absolute value of each row."""
    out = np.empty(block.n_rows)
    _native.largest(block.indptr, block.indices, block.data, out, n_threads)
    return out


def moments(rows: SparseRows) -> tuple[Integers, Doubles, Doubles]:
    """Return the features that occur, in order, and the sum and sum of squares of each, over rows times factors."""
    with MemoryErrorAdvice(f"the sums of each feature in {len(rows.data):,} non-zeros", _FEWER_AT_A_TIME):
        return _native.moments(rows.indptr, rows.indices, rows.data, rows.n_features, rows.factors)


def first_equal(rows: Block, n_threads: int) -> Integers:
    """Return for each row the number of the first row equal to it bit for bit, ignoring factors; often its own."""
    out = np.empty(rows.n_rows, dtype=np.int64)
    if _is_sparse(rows):
        _native.first_equal(rows.indptr, rows.indices, rows.data, out, n_threads)
    else:
        _native.first_equal(_as_dense(rows).values, out, n_threads)
    return out


def hinge(hidden: Floats, triplets: npt.NDArray[np.int32], phi: Phi, margin: float) -> tuple[float, Floats]:
    """Return the mean ranking loss of triplets over rows of the representation, and its gradient."""
    gradient = np.empty_like(hidden)
    return _native.hinge(hidden, triplets, phi.k, phi.average, margin, gradient), gradient


class SparseSp:
    """φ averaged over subsamples, for sparse rows and references."""

    def __init__(self, references: SparseRows, subsample_size: int, phi: Phi) -> None:
        values = references.data.astype(np.float64)
        if references.factors is not None:
            values *= np.repeat(references.factors, np.diff(references.indptr))
        columns = references.indices.astype(np.int64)
        with MemoryErrorAdvice(f"an index of the {len(columns):,} non-zeros of the reference rows", _FEWER_REFERENCES):
            self._native = _native.SparseReferences(
                references.indptr, columns, values, references.n_features, subsample_size, phi.k, phi.average
            )

    def score(self, block: SparseRows, n_threads: int) -> Doubles:
        """Return one score per row."""
        scores = np.empty(block.n_rows)
        with MemoryErrorAdvice(f"the distances of {block.n_rows:,} rows", _FEWER_AT_A_TIME):
            self._native.score(
                block.indptr, block.indices, block.data, block.n_features, block.factors, scores, n_threads
            )
        return scores


class DenseSp:
    """φ averaged over subsamples, for dense rows and references."""

    def __init__(self, references: DenseRows, subsample_size: int, phi: Phi) -> None:
        values = references.values.astype(np.float64)
        if references.factors is not None:
            values *= references.factors[:, None]
        with MemoryErrorAdvice(f"two copies of reference rows of {values.nbytes:,} bytes", _FEWER_REFERENCES):
            self._native = _native.DenseReferences(values, subsample_size, phi.k, phi.average)

    def score(self, block: DenseRows, n_threads: int) -> Doubles:
        """Return one score per row."""
        scores = np.empty(block.n_rows)
        with MemoryErrorAdvice(f"the distances of {block.n_rows:,} rows", _FEWER_AT_A_TIME):
            self._native.score(block.values, block.factors, scores, n_threads)
        return scores


def references(rows: Block, subsample_size: int, phi: Phi) -> Callable[[Any, int], Doubles]:
    """Return a function that scores blocks of rows of the same kind on a given number of threads."""
    if _is_sparse(rows):
        return SparseSp(rows, subsample_size, phi).score
    return DenseSp(_as_dense(rows), subsample_size, phi).score


class SmallSp:
    """φ averaged over subsamples, in the representation, where rows are short and dense."""

    def __init__(self, references: Floats, subsample_size: int, phi: Phi) -> None:
        rows = np.ascontiguousarray(references, dtype=np.float32)
        self._native = _native.SmallReferences(rows, subsample_size, phi.k, phi.average)

    def score(self, rows: Floats, n_threads: int) -> Doubles:
        """Return one score per row."""
        scores = np.empty(len(rows))
        self._native.score(rows, scores, n_threads)
        return scores


class FeatureSums:
    """Sums by feature, for any number of features."""

    def __init__(self) -> None:
        self._native = _native.FeatureSums()

    def add(self, columns: Any, sums: Doubles) -> None:
        """Add a number to each of some features."""
        with MemoryErrorAdvice("the sums of each feature", _FEWER_AT_A_TIME):
            self._native.add(columns, sums)

    def top(self, n: int) -> tuple[Integers, Doubles]:
        """Return the features with the largest sums by absolute value, and those sums."""
        with MemoryErrorAdvice("the sums of each feature", _FEWER_AT_A_TIME):
            found: Any = self._native.top(n)
        return found[0], found[1]


def count_features(rows: SparseRows, n_threads: int) -> tuple[Integers, npt.NDArray[np.int32]]:
    """Return the features that occur, in order, and in how many rows each is not zero."""
    with MemoryErrorAdvice(f"counts of the features in {len(rows.data):,} non-zeros", _FEWER_AT_A_TIME):
        found: Any = _native.count_features(rows.indptr, rows.indices, rows.data, rows.n_features, n_threads)
    return found[0], found[1]


class FeatureWeights:
    """A weight for each of the features `columns`, which increase; `unlisted` for all others."""

    def __init__(self, columns: Integers, weights: Floats, n_features: int, unlisted: float) -> None:
        with MemoryErrorAdvice(f"the weights of {len(columns):,} features", _SMALLER_MODEL):
            self.native = _native.FeatureWeights(columns, weights, n_features, unlisted)

    def sums(self, rows: SparseRows, n_threads: int) -> Doubles:
        """For each row, the sum of the weights of its features, whatever their values."""
        out = np.empty(rows.n_rows)
        self.native.sums(rows.indptr, rows.indices, rows.data, out, n_threads)
        return out


class Explained(NamedTuple):
    """Contributions of features to each row: those of each non-zero, and the strongest of features that it lacks."""

    own: Doubles
    totals: Doubles
    ends: Integers
    columns: Integers
    sums: Doubles
    lacking: Doubles
    n_lacking: Integers


class Explainer:
    """Computes what each feature adds to the score of each row. `columns`: features of all references, in order."""

    def __init__(self, columns: Integers, n_features: int) -> None:
        self._what = f"explanations by the {len(columns):,} features of the reference rows"
        with MemoryErrorAdvice(self._what, _FEWER_AT_A_TIME):
            self._native = _native.Explainer(columns, n_features)

    def add_part(self, projection: Projection | None, references: Block, slots: Any) -> None:
        """Add a linear part of the score or, without a projection, a sum of squares.

        `slots` are the positions of the references' entries among `columns`; None if each has all of them.
        """
        if _is_sparse(references):
            given = references.indptr, slots, references.data.astype(np.float64)
        else:
            indptr = np.arange(references.n_rows + 1, dtype=np.int64) * references.n_features
            given = indptr, np.empty(0, dtype=np.int32), _as_dense(references).values.astype(np.float64).ravel()
        with MemoryErrorAdvice(self._what, _SMALLER_MODEL):
            if projection is None:
                self._native.add_squares(*given)
            else:
                self._native.add_part(projection.native, *given)

    def add_presence(self, weights: FeatureWeights) -> None:
        """Add a part that depends on which features a row has: p[0] times the weight of each, plus p[1]."""
        self._native.add_presence(weights.native)

    def explain(self, rows: SparseRows, views: Any, top: int) -> Explained:
        """Return the contributions to each sparse row, given one view per part; `top` of the features that it lacks."""
        p, factors = [view.p for view in views], [view.factors for view in views]
        near, q = [view.near for view in views], [view.q for view in views]
        with MemoryErrorAdvice(self._what, _FEWER_AT_A_TIME):
            found: Any = self._native.explain(rows.indptr, rows.indices, rows.data, p, factors, near, q, top)
        return Explained(*found)


class Projection:
    """ψ(x W), stored as the weights of the features that training changed; all other weights follow from the seed.

    ψ is the identity above 0 and has the given slope below: 0 is ReLU, 1 no activation.
    """

    def __init__(
        self, columns: Integers, weights: Floats, n_features: int, seed: int, limit: float, slope: float = 0.0
    ) -> None:
        self.width = weights.shape[1]
        self._what = f"the {self.width:,} weights of each of {len(columns):,} features"
        with MemoryErrorAdvice(self._what, _SMALLER_MODEL):
            self.native = _native.Projection(columns, weights, n_features, seed, limit, slope)

    def __call__(self, block: Block, n_threads: int) -> Floats:
        """Return one row of the representation per row of the block."""
        out = np.empty((block.n_rows, self.width), dtype=np.float32)
        with MemoryErrorAdvice(self._what, _FEWER_AT_A_TIME):
            if _is_sparse(block):
                arrays = block.indptr, block.indices, block.data, block.factors
                self.native.sparse(*arrays, out, n_threads, block.may_change)
            else:
                self.native.dense(_as_dense(block).values, block.factors, out, n_threads)
        return out


class Trainer:
    """Weights in training, over a set of rows that triplets refer to by position in `selected`.

    `n_entries` is the number of stored values of all rows, if these are only the first of them.
    """

    def __init__(self, rows: Block, selected: Integers, n_entries: int = -1, **options: Any) -> None:
        native_options = _native.TrainingOptions(**options)
        self._width, self._n_features = options["width"], rows.n_features
        self._rows = rows
        self._trainer: Any
        with self._advice():
            if _is_sparse(rows):
                arrays = rows.indptr, rows.indices, rows.data, rows.n_features, rows.factors
                self._trainer = _native.SparseTrainer(*arrays, selected, native_options, rows.may_change, n_entries)
            else:
                self._trainer = _native.DenseTrainer(_as_dense(rows).values, rows.factors, selected, native_options)

    def _advice(self) -> MemoryErrorAdvice:
        what = f"training: {self._width:,} weights, with two running means each, of the features that occur"
        return MemoryErrorAdvice(f"{what}, of {self._n_features:,}", _SMALLER_MODEL)

    def go_on(self, rows: Block, selected: Integers) -> None:
        """Continue training with other rows of the same kind; the weights stay as they are, bit for bit."""
        with self._advice():
            if _is_sparse(rows):
                arrays = rows.indptr, rows.indices, rows.data, rows.factors
                self._trainer.go_on(*arrays, selected, rows.may_change)
            else:
                self._trainer.go_on(_as_dense(rows).values, rows.factors, selected)
        self._rows = rows

    def start_from(self, columns: Integers, weights: Floats) -> None:
        """Replace the weights that the seed gave some features, in order; these must not have been trained."""
        self._trainer.start_from(columns, weights)

    def run(self, triplets: Integers, batch_size: int) -> Doubles:
        """Take one step per batch of triplets (queries, positive, negative); return the loss of each step."""
        self._rows.refuse_changed()
        losses = np.empty(-(-len(triplets) // batch_size))
        try:
            with self._advice():
                self._trainer.run(triplets, batch_size, losses)
        except ValueError:  # perhaps because a file has changed, which the rows can check
            self._rows.refuse_changed()
            raise
        return losses

    def begin(self, triplets: Integers) -> tuple[Floats, npt.NDArray[np.int32]]:
        """Return x W of the distinct rows of one batch, without activation, and the triplets as positions in it."""
        with self._advice():
            hidden, places = self._trainer.begin(triplets)
        return hidden, places

    def end(self, gradient: Floats) -> None:
        """Finish the batch that `begin` started, given the gradient with respect to what it returned."""
        with self._advice():
            self._trainer.end(np.ascontiguousarray(gradient, dtype=np.float32))

    def so_far(self) -> tuple[Integers, Floats]:
        """Return a copy of what `finish` would return now; training can continue."""
        if isinstance(self._trainer, _native.DenseTrainer):
            return self.finish()
        with self._advice():
            columns, weights = self._trainer.so_far()
        return columns, weights

    def finish(self) -> tuple[Integers, Floats]:
        """End training. Return the features whose weights it changed (or all, if it changed most) and those weights.

        Features are in order. The result takes over the memory of the weights.
        """
        if isinstance(self._trainer, _native.DenseTrainer):
            weights = np.empty((self._n_features, self._width), dtype=np.float32)
            self._trainer.weights(weights)
            return np.arange(self._n_features), weights
        with self._advice():
            columns, weights = self._trainer.finish()
        return columns, weights
