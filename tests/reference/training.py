"""ADADELTA (Zeiler 2012, algorithm 1) over every weight at every step, and the loop over given triplets."""

import numpy as np

from .hinge import hinge_gradient, hinge_loss


class Adadelta:
    def __init__(self, shape, learning_rate=1.0, rho=0.95, epsilon=1e-7):
        self.learning_rate, self.rho, self.epsilon = learning_rate, rho, epsilon
        self.gradients, self.changes = np.zeros(shape), np.zeros(shape)

    def step(self, weights, gradient):
        """The weights after one step."""
        self.gradients = self.rho * self.gradients + (1 - self.rho) * gradient**2
        change = -np.sqrt((self.changes + self.epsilon) / (self.gradients + self.epsilon)) * gradient
        self.changes = self.rho * self.changes + (1 - self.rho) * change**2
        return weights + self.learning_rate * change


def batches(triplets, batch_size):
    """Consecutive triplets, `batch_size` at a time; the last batch may be shorter."""
    return [triplets[first : first + batch_size].tolist() for first in range(0, len(triplets), batch_size)]


def train(X, batches, weights, margin, *, k=1, average=False, slope=0.0, **constants):
    """Weights after one step per batch of triplets, and the loss before each step."""
    X = np.asarray(X, dtype=np.float64)
    optimizer = Adadelta(weights.shape, **constants)
    losses = []
    for batch in batches:
        losses.append(hinge_loss(X, weights, batch, margin, k, average, slope))
        weights = optimizer.step(weights, hinge_gradient(X, weights, batch, margin, k, average, slope))
    return weights, np.array(losses)
