"""AE: an autoencoder with one hidden layer, trained like REPEN.

h = g(xW + b) is decoded as hV + c, and half the squared error, summed over features and averaged over rows, is
minimised by ADADELTA. g is ReLU with a slope of 0.01 below 0: without it all units die within a few steps on
dense rows.

The error hV + c - x is dense even if x is sparse, but its gradient needs only products with it, which split into small
dense ones and sparse ones: with h' = (h, 1), and V' for V with c as last column, one row per feature,

    ∂V' = V'(h'ᵀh') - xᵀh'          ∂h = first M columns of h'(V'ᵀV') - xV'

so no row is ever made dense. If a weight of the encoder is not used, its gradient is 0 and ADADELTA only decays its
accumulators; this is made up for when the feature occurs again.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ...detector import seed_of
from ...options import check
from .limits import DEFAULT_MEMORY, refuse_beyond

Array = npt.NDArray[Any]

_LEAK = 0.01
_RHO, _EPSILON = 0.95, 1e-7
_MOST_SAMPLES = 5000
_BLOCK = 1 << 11
"""Features whose weights are updated at a time, so that intermediate results stay in the cache."""


class AE(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """An autoencoder: leaky ReLU units, linear reconstruction, ADADELTA at rate 1.0; options mean what REPEN's do."""

    def __init__(
        self,
        n_components: int = 20,
        *,
        n_epochs: int = 30,
        samples_per_epoch: int | str = "auto",
        batch_size: int = 256,
        memory_limit: float = DEFAULT_MEMORY,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_epochs = n_epochs
        self.samples_per_epoch = samples_per_epoch
        self.batch_size = batch_size
        self.memory_limit = memory_limit
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train encoder and decoder on the rows of X."""
        check(self.get_params(deep=False))
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        n_rows, n_features = X.shape
        needed = 3.0 * n_features * (2 * self.n_components + 1) * X.dtype.itemsize
        refuse_beyond(self.memory_limit, needed, "AE: weights and accumulators")
        rng = np.random.default_rng(seed_of(self.random_state))
        net = Net(n_features, self.n_components, X.dtype, rng)
        per_epoch = self.samples_per_epoch if isinstance(self.samples_per_epoch, int) else _MOST_SAMPLES
        for _ in range(self.n_epochs):
            drawn = rng.permutation(n_rows)[:per_epoch]
            for begin in range(0, len(drawn), self.batch_size):
                net.step(X[drawn[begin : begin + self.batch_size]])
        self.weights_, self.bias_ = net.encoder.value, net.bias.value[0]
        self.decoder_ = net.decoder.value
        self._n_features_out = self.n_components
        return self

    def transform(self, X: Any) -> Array:
        """Return the hidden layer of each row."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return _leaky(X @ self.weights_.astype(X.dtype, copy=False) + self.bias_.astype(X.dtype))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class Parameters:
    """Weights, a row to a feature, with ADADELTA's two accumulators and the step at which each row was last updated."""

    def __init__(self, value: Array) -> None:
        self.value, self.squares, self.updates = value, np.zeros_like(value), np.zeros_like(value)
        self.last = np.zeros(len(value), dtype=np.int64)

    def descend(self, rows: Any, gradient: Array, step: int) -> None:
        """One step for some rows; the others have gradient 0 and catch up when they are next used."""
        kept = self.value[rows], self.squares[rows], self.updates[rows]
        decay = np.power(_RHO, step - self.last[rows])[:, None].astype(gradient.dtype)
        adadelta(*kept, gradient, decay)
        self.value[rows], self.squares[rows], self.updates[rows] = kept
        self.last[rows] = step

    def descend_block(self, rows: slice, gradient: Array) -> None:
        """The same for neighbouring rows that miss no step, in place."""
        adadelta(self.value[rows], self.squares[rows], self.updates[rows], gradient, _RHO)


def adadelta(value: Array, squares: Array, updates: Array, gradient: Array, decay: Any) -> None:
    """One step in place, with the rate 1.0; `decay` is ρ for each step since the last one. `gradient` is used up."""
    squares *= decay
    change = gradient * gradient
    change *= 1 - _RHO
    squares += change
    np.add(squares, _EPSILON, out=change)
    ratio = updates + _EPSILON if np.ndim(decay) == 0 else updates * (decay / _RHO) + _EPSILON
    ratio /= change
    np.sqrt(ratio, out=ratio)
    ratio *= gradient
    value -= ratio
    updates *= decay
    ratio *= ratio
    ratio *= 1 - _RHO
    updates += ratio


class Net:
    """Encoder, its bias, and decoder with its bias as last column; weights by Glorot's rule, biases 0."""

    def __init__(self, n_features: int, width: int, dtype: Any, rng: np.random.Generator) -> None:
        limit = np.sqrt(6.0 / (n_features + width))
        encoder, decoder = np.empty((n_features, width), dtype), np.zeros((n_features, width + 1), dtype)
        for begin in range(0, n_features, _BLOCK):
            for weights in (encoder, decoder[:, :width]):
                block = weights[begin : begin + _BLOCK]
                block[:] = rng.uniform(-limit, limit, block.shape)
        self.encoder, self.decoder = Parameters(encoder), Parameters(decoder)
        self.bias = Parameters(np.zeros((1, width), dtype))
        self._gram = decoder.T @ decoder
        self._step = 0

    def step(self, X: Any) -> None:
        """One batch."""
        self._step += 1
        features, X = _occurring(X)
        encoder, bias, products, inner = self.gradients(features, X)
        self.encoder.descend(features, encoder, self._step)
        self.bias.descend(slice(None), bias, self._step)
        self._descend_decoder(features, products, inner)

    def gradients(self, features: Any, X: Any) -> tuple[Array, Array, Array, Array]:
        """Gradients of the encoder's rows `features` and of its bias; for the decoder, xᵀh' of `features` and h'ᵀh'."""
        n, width = X.shape[0], self.bias.value.shape[1]
        hidden = np.ones((n, width + 1), self.bias.value.dtype)
        hidden[:, :width] = _leaky(X @ self.encoder.value[features] + self.bias.value)
        back = (hidden @ self._gram - X @ self.decoder.value[features])[:, :width] / n
        back *= np.where(hidden[:, :width] > 0, 1, _LEAK).astype(back.dtype)
        return X.T @ back, back.sum(axis=0, keepdims=True), X.T @ hidden / n, hidden.T @ hidden / n

    def _descend_decoder(self, features: Any, products: Array, inner: Array) -> None:
        """Every feature has a gradient here; `_gram` follows in the same pass over the weights."""
        decoder = self.decoder
        self._gram[:] = 0
        n_features = len(decoder.value)
        edges = np.searchsorted(features, np.arange(0, n_features + _BLOCK, _BLOCK))
        for number, begin in enumerate(range(0, n_features, _BLOCK)):
            block = slice(begin, min(begin + _BLOCK, n_features))
            here = slice(edges[number], edges[number + 1])
            gradient = decoder.value[block] @ inner
            gradient[features[here] - begin] -= products[here]
            decoder.descend_block(block, gradient)
            self._gram += decoder.value[block].T @ decoder.value[block]


def _leaky(values: Array) -> Array:
    return np.maximum(values, _LEAK * values)


def _occurring(X: Any) -> tuple[npt.NDArray[np.int64], Any]:
    """Return the features of some rows in order, and these rows with no others."""
    if not sp.issparse(X):
        return np.arange(X.shape[1]), X
    features, places = np.unique(X.indices, return_inverse=True)
    return features, sp.csr_array((X.data, places, X.indptr), shape=(X.shape[0], len(features)))
