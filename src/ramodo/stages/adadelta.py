"""ADADELTA, the update rule for weights (Zeiler 2012; section 4.4 of the paper)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Adadelta:
    """The ADADELTA rule. Its learning rate of 1.0 is part of the method: at 0.001 it hardly trains."""

    learning_rate: float = 1.0
    rho: float = 0.95
    epsilon: float = 1e-7

    def dense(self, shape: tuple[int, ...]) -> Callable[[Floats, Floats], Floats]:
        """Return the rule for one small dense matrix: a function of weights and gradient that returns new weights."""
        squares, steps = np.zeros(shape, dtype=np.float32), np.zeros(shape, dtype=np.float32)

        def step(weights: Floats, gradient: Floats) -> Floats:
            squares[:] = self.rho * squares + (1 - self.rho) * gradient**2
            change = np.sqrt(steps + self.epsilon) / np.sqrt(squares + self.epsilon) * gradient
            steps[:] = self.rho * steps + (1 - self.rho) * change**2
            return weights - np.float32(self.learning_rate) * change

        return step
