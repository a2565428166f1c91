"""The training loop: epochs of drawn triplets, minimised by ADADELTA (algorithm 1, steps 4 to 13).

The loop knows nothing of the layer or the loss. It needs the rows that triplets name, and no others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import kernels
from .rows import Rows

Integers = npt.NDArray[np.int64]

_COMFORTABLE = 2.0**20
"""Largest absolute value at which squared gradients still fit single precision with room to spare."""


@dataclass(frozen=True)
class Adadelta:
    """Zeiler 2012. The rate of 1.0 is part of the method: at 0.001 it hardly trains."""

    learning_rate: float = 1.0
    rho: float = 0.95
    epsilon: float = 1e-7


@dataclass(frozen=True)
class Trained:
    """What training leaves behind."""

    columns: Integers
    weights: npt.NDArray[np.float32]
    loss_curve: npt.NDArray[np.float64]


def scale_for(largest: float) -> float:
    """A power of two that brings huge values into range; 1 for ordinary ones.

    Training on X times s with the margin times s² is training on X: the loss is multiplied by s², to which ADADELTA is
    indifferent.
    """
    return 1.0 if largest <= _COMFORTABLE else 2.0 ** -math.ceil(math.log2(largest / _COMFORTABLE))


def train(
    rows: Rows,
    epochs: Integers,
    batch_size: int,
    *,
    width: int,
    margin: float,
    n_queries: int,
    seed: int,
    limit: float,
    largest: float,
    adadelta: Adadelta,
    n_threads: int,
    show: Callable[[int, int], None],
) -> Trained:
    """Minimise the ranking loss over `epochs` (epochs x triplets x row numbers).

    `loss_curve` is the mean loss of each epoch.
    """
    drawn = np.zeros(rows.n_rows, dtype=bool)
    drawn[epochs] = True
    selected = np.flatnonzero(drawn)
    positions = np.cumsum(drawn) - 1
    trainer = kernels.Trainer(
        rows,
        selected,
        width=width,
        n_queries=n_queries,
        margin=margin,
        scale=scale_for(largest),
        seed=seed,
        limit=limit,
        learning_rate=adadelta.learning_rate,
        rho=adadelta.rho,
        epsilon=adadelta.epsilon,
        n_threads=n_threads,
    )
    curve = []
    for done, epoch in enumerate(epochs, start=1):
        losses = trainer.run(positions[epoch], batch_size)
        sizes = np.full(len(losses), batch_size)
        sizes[-1] = len(epoch) - batch_size * (len(losses) - 1)
        curve.append(float(losses @ sizes / len(epoch)))
        show(done, len(epochs))
    columns, weights = trainer.finish()
    return Trained(columns, weights, np.array(curve))
