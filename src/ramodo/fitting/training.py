"""The training loop: epochs of drawn triplets, minimised by ADADELTA (algorithm 1, steps 4 to 13).

The loop contains no maths of the layer or the loss. It needs only the rows that triplets refer to. One layer with the
hinge runs natively from end to end; anything else runs batch by batch, with a native first layer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..data.blocks import Block
from ..data.rows import TrainingRows
from ..stages.adadelta import Adadelta

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Show = Callable[[int, int], None]

_COMFORTABLE = 2.0**20
"""Largest absolute value at which squared gradients still fit single precision with room to spare."""


@dataclass(frozen=True)
class Start:
    """Initial weights of the first layer: uniform within `limit`, by the seed, except those given explicitly."""

    seed: int
    limit: float
    columns: Integers | None = None
    weights: Floats | None = None


@dataclass(frozen=True)
class Trained:
    """The result of training."""

    columns: Integers
    weights: Floats
    loss_curve: npt.NDArray[np.float64]
    early: tuple[Integers, Floats] | None = None
    """Columns and weights after the first epoch, where they were asked for."""


def scale_for(largest: float) -> float:
    """Return a power of two that brings huge values into range; 1 for ordinary values.

    Training on X times s with the margin times s² is the same as training on X: the loss is multiplied by s², which
    does not affect ADADELTA.
    """
    return 1.0 if largest <= _COMFORTABLE else 2.0 ** -math.ceil(math.log2(largest / _COMFORTABLE))


def train(
    rows: TrainingRows,
    n_epochs: int,
    batch_size: int,
    *,
    width: int,
    slope: float,
    loss: Any,
    head: Any,
    start: Start,
    scale: float,
    adadelta: Adadelta,
    n_threads: int,
    show: Show,
    early: bool = False,
) -> Trained:
    """Minimise the ranking loss over epochs of triplets, on their rows times `scale`.

    `head` is what follows the first layer's sums; None for only an activation of the given slope. `loss_curve` is the
    mean loss of each epoch. With `early`, the weights after the first epoch are kept too.
    """
    hinge = loss.native if head is None else None
    first = next(rows.parts)
    trainer = kernels.Trainer(
        first[0],
        _selected(*first),
        rows.n_entries,
        width=width,
        n_queries=first[1].shape[2] - 2,
        k=hinge.phi.k if hinge else 1,
        average=hinge.phi.average if hinge else False,
        margin=hinge.margin if hinge else 1.0,
        slope=slope,
        scale=scale,
        seed=start.seed,
        limit=start.limit,
        learning_rate=adadelta.learning_rate,
        rho=adadelta.rho,
        epsilon=adadelta.epsilon,
        n_threads=n_threads,
    )
    if start.columns is not None and start.weights is not None:
        trainer.start_from(start.columns, start.weights)
    run = trainer.run if hinge else _Batches(trainer, head, loss, scale).run
    curve: list[float] = []
    after_one, epochs = None, _renumbered(*first)
    del first  # the next part needs its memory
    for epoch in chain(epochs, _of_further_parts(trainer, rows.parts, start)):
        losses = run(epoch, batch_size)
        sizes = np.full(len(losses), batch_size)
        sizes[-1] = len(epoch) - batch_size * (len(losses) - 1)
        curve.append(float(losses @ sizes / len(epoch)))
        if early and len(curve) == 1:
            after_one = _with_start(*trainer.so_far(), start)
        show(len(curve), n_epochs)
    columns, weights = _with_start(*trainer.finish(), start)
    return Trained(columns, weights, np.array(curve), after_one)


def _of_further_parts(
    trainer: kernels.Trainer, parts: Iterator[tuple[Block, Integers]], start: Start
) -> Iterator[Integers]:
    """Yield the epochs of further parts, as positions among the rows that the trainer then has."""
    for rows, epochs in parts:
        trainer.go_on(rows, _selected(rows, epochs))
        if start.columns is not None and start.weights is not None:
            trainer.start_from(start.columns, start.weights)  # features that have not occurred before
        positions = _renumbered(rows, epochs)
        del rows, epochs
        yield from positions


def _drawn(rows: Block, epochs: Integers) -> npt.NDArray[np.bool_]:
    drawn = np.zeros(rows.n_rows, dtype=bool)
    drawn[epochs] = True
    return drawn


def _selected(rows: Block, epochs: Integers) -> Integers:
    """Return the rows that triplets refer to."""
    return np.flatnonzero(_drawn(rows, epochs))


def _renumbered(rows: Block, epochs: Integers) -> Iterator[Integers]:
    """Return epochs with positions among those rows."""
    positions = np.cumsum(_drawn(rows, epochs)) - 1
    return (positions[epoch] for epoch in epochs)  # keeps no rows in memory


class _Batches:
    """Epochs batch by batch, for heads and losses that are not native.

    A head that is `homogeneous`, f(s h) = s f(h), works on small numbers where the data are huge.
    """

    def __init__(self, trainer: kernels.Trainer, head: Any, loss: Any, scale: float) -> None:
        self._trainer, self._head, self._loss = trainer, head, loss
        inside = scale if getattr(head, "homogeneous", False) else 1.0
        self._inside, self._outside = np.float32(inside), np.float32(scale**2 / inside)

    def run(self, triplets: Integers, batch_size: int) -> npt.NDArray[np.float64]:
        return np.array([self._step(triplets[i : i + batch_size]) for i in range(0, len(triplets), batch_size)])

    def _step(self, triplets: Integers) -> float:
        hidden, places = self._trainer.begin(triplets)
        rows = hidden if self._head is None else self._head.forward(hidden * self._inside) / self._inside
        value, gradient = self._loss(rows, places)
        if self._head is not None:
            gradient = self._head.backward(gradient * self._inside)
        self._trainer.end(gradient * self._outside)
        return float(value)


def _with_start(columns: Integers, weights: Floats, start: Start) -> tuple[Integers, Floats]:
    """Merge the weights that training changed with the initial weights that it left alone."""
    if start.columns is None or start.weights is None:
        return columns, weights
    kept = ~np.isin(start.columns, columns, assume_unique=True)
    if not kept.any():
        return columns, weights
    columns = np.concatenate([columns, start.columns[kept]])
    order = np.argsort(columns, kind="stable")
    return columns[order], np.ascontiguousarray(np.concatenate([weights, start.weights[kept]])[order])
