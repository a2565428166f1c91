"""The layers of a representation as a stage of RAMODO: how many, how wide, and how they train.

A user-defined representation has a `first_width` (columns of x W) and a method `head(rng)`, which returns an object
with

    forward(hidden) -> rows of the representation           hidden is x W, one row per row
    backward(gradient) -> gradient with respect to hidden   of the last forward; may take a step of its own parameters
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from ..constraints import either
from ..model.representation import DenseLayer, Representation, SparseLayer, initial_limit
from ..options import option_error

Floats = npt.NDArray[np.float32]

SLOPES = {"relu": 0.0, "leaky_relu": 0.01, "linear": 1.0}
"""Activations by their slope below zero; above it is 1."""

_WIDEST = 4096


class Layers(BaseEstimator):
    """Fully connected layers of the given widths, first to last, each followed by the activation.

    Parameters
    ----------
    widths : int or sequence of int, default (20,)
        Units of each layer; those of the last are the columns of the representation.
    activation : 'relu', 'leaky_relu' or 'linear', default 'relu'

    Examples
    --------
    >>> import numpy as np
    >>> from ramodo import RAMODO, Layers
    >>> X = np.random.default_rng(0).normal(size=(100, 30))
    >>> detector = RAMODO(representation=Layers((16, 4), "leaky_relu"), n_epochs=1, random_state=0).fit(X)
    >>> detector.transform(X).shape
    (100, 4)
    """

    def __init__(self, widths: Any = (20,), activation: str = "relu") -> None:
        self.widths = widths
        self.activation = activation

    @property
    def slope(self) -> float:
        """The slope of the activation below zero."""
        if self.activation not in SLOPES:
            raise option_error("activation", either(map(repr, SLOPES)), repr(self.activation))
        return SLOPES[self.activation]

    def checked_widths(self) -> tuple[int, ...]:
        """`widths` as a tuple."""
        widths = (self.widths,) if isinstance(self.widths, int | np.integer) else self.widths
        fine = isinstance(widths, list | tuple | np.ndarray) and len(widths) > 0
        if not fine or any(not isinstance(w, int | np.integer) or not 1 <= w <= _WIDEST for w in widths):
            raise option_error("widths", f"integers from 1 to {_WIDEST:,}, one for each layer", repr(self.widths))
        return tuple(int(w) for w in widths)

    @property
    def first_width(self) -> int:
        """Columns of the first layer."""
        return self.checked_widths()[0]

    def head(self, rng: np.random.Generator) -> UpperLayers:
        """Return what follows the first layer's sums: its activation and the other layers."""
        widths = self.checked_widths()
        weights = []
        for n_inputs, n_outputs in pairwise(widths):
            limit = initial_limit(n_inputs, n_outputs)
            weights.append(rng.uniform(-limit, limit, (n_inputs, n_outputs)).astype(np.float32))
        return UpperLayers(weights, self.slope)

    # ---- what a fit asks of built-in ones ------------------------------------------------------------------------

    @property
    def is_native(self) -> bool:
        """Whether only an activation follows the first layer, which the kernels can compute."""
        return len(self.checked_widths()) == 1

    def shape(self) -> str:
        """Return a description of the network. A warm start reuses weights only if it is unchanged."""
        return repr((type(self).__name__, self.first_width, self.checked_widths(), self.slope))

    def training_head(self, rng: np.random.Generator, optimizer: Any, previous: Representation | None) -> UpperLayers:
        """Return the head, updated by `optimizer` and starting from the weights of a previous fit, if any."""
        head = self.head(rng)
        if previous is not None:
            head.weights = [layer.weights.copy() for layer in previous.upper]
        head.optimize_with(optimizer)
        return head

    def fitted(self, first: SparseLayer, head: UpperLayers | None) -> Representation:
        """Return the trained representation."""
        upper = () if head is None else tuple(DenseLayer(weights, self.slope) for weights in head.weights)
        return Representation(first, upper)


class UpperLayers:
    """The activation of the first layer and all layers above it, in training."""

    homogeneous = True

    def __init__(self, weights: list[Floats], slope: float) -> None:
        self.weights, self._slope = weights, slope
        self._sums: list[npt.NDArray[Any]] = []
        self._steps: list[Any] = []

    def optimize_with(self, adadelta: Any) -> None:
        """Update the weights by this rule."""
        self._steps = [adadelta.dense(w.shape) for w in self.weights]

    def forward(self, hidden: Floats) -> Floats:
        """Return rows of the representation."""
        self._sums = [hidden]
        for weights in self.weights:
            self._sums.append(self._activate(self._sums[-1]) @ weights)
        return self._activate(self._sums[-1])

    def backward(self, gradient: Floats) -> Floats:
        """Return the gradient with respect to `hidden` of the last forward; the weights take a step."""
        gradient = self._through(self._sums[-1], gradient)
        for i in reversed(range(len(self.weights))):
            below = self._sums[i]
            own = self._activate(below).T @ gradient
            gradient = self._through(below, gradient @ self.weights[i].T)
            if self._steps:
                self.weights[i] = self._steps[i](self.weights[i], own)
        return gradient

    def _activate(self, sums: Floats) -> Floats:
        return np.where(sums > 0, sums, np.float32(self._slope) * sums)

    def _through(self, sums: Floats, gradient: Floats) -> Floats:
        return np.where(sums > 0, gradient, np.float32(self._slope) * gradient)
