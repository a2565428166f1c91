"""The ranking loss of a batch of triplets, and its gradient with respect to the weights."""

import numpy as np

from .layer import forward


def _nearest(hidden, row, queries):
    """The first of the nearest queries, and the squared distance to it."""
    distances = [np.sum((hidden[row] - hidden[query]) ** 2) for query in queries]
    best = int(np.argmin(distances))
    return queries[best], distances[best]


def hinge_loss(X, weights, triplets, margin):
    """Mean over triplets (queries ..., positive, negative) of max(0, c + d(positive) - d(negative))."""
    hidden = forward(X, weights)
    losses = []
    for *queries, positive, negative in triplets:
        near, far = _nearest(hidden, positive, queries)[1], _nearest(hidden, negative, queries)[1]
        losses.append(max(0.0, margin + near - far))
    return float(np.mean(losses))


def hinge_gradient(X, weights, triplets, margin):
    """The derivative of `hinge_loss` by the weights; zero at the corners of hinge and ReLU."""
    X = np.asarray(X, dtype=np.float64)
    hidden = forward(X, weights)
    by_hidden = np.zeros_like(hidden)
    for *queries, positive, negative in triplets:
        near, near_distance = _nearest(hidden, positive, queries)
        far, far_distance = _nearest(hidden, negative, queries)
        if margin + near_distance - far_distance <= 0:
            continue
        for row, query, sign in ((positive, near, 1), (negative, far, -1)):
            difference = 2 * sign * (hidden[row] - hidden[query]) / len(triplets)
            by_hidden[row] += difference
            by_hidden[query] -= difference
    return X.T @ (by_hidden * (hidden > 0))
