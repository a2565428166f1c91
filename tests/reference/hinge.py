"""The ranking loss of a batch of triplets, and its gradient with respect to the rows and to the weights."""

import numpy as np

from .layer import derivative, forward


def _named(rows, row, queries, k, average):
    """The queries that φ looks at, the first ones of equals, and φ: a mean of squared distances."""
    distances = [np.sum((rows[row] - rows[query]) ** 2) for query in queries]
    order = np.argsort(distances, kind="stable")[:k]
    named = order if average else order[-1:]
    return [queries[place] for place in named], np.mean([distances[place] for place in named])


def rows_loss(rows, triplets, margin, k=1, average=False):
    """Mean over triplets (queries ..., positive, negative) of max(0, c + φ(positive) - φ(negative))."""
    losses = []
    for *queries, positive, negative in triplets:
        near, far = (_named(rows, row, queries, k, average)[1] for row in (positive, negative))
        losses.append(max(0.0, margin + near - far))
    return float(np.mean(losses))


def rows_gradient(rows, triplets, margin, k=1, average=False):
    """The derivative of `rows_loss` by the rows; zero at the corners of the hinge."""
    rows = np.asarray(rows, dtype=np.float64)
    gradient = np.zeros_like(rows)
    for *queries, positive, negative in triplets:
        near, near_distance = _named(rows, positive, queries, k, average)
        far, far_distance = _named(rows, negative, queries, k, average)
        if margin + near_distance - far_distance <= 0:
            continue
        for row, named, sign in ((positive, near, 1), (negative, far, -1)):
            for query in named:
                difference = 2 * sign * (rows[row] - rows[query]) / len(named) / len(triplets)
                gradient[row] += difference
                gradient[query] -= difference
    return gradient


def hinge_loss(X, weights, triplets, margin, k=1, average=False, slope=0.0):
    """`rows_loss` of the rows that the layer gives."""
    return rows_loss(forward(X, weights, slope), triplets, margin, k, average)


def hinge_gradient(X, weights, triplets, margin, k=1, average=False, slope=0.0):
    """The derivative of `hinge_loss` by the weights; zero at the corners of hinge and ReLU."""
    X = np.asarray(X, dtype=np.float64)
    hidden = forward(X, weights, slope)
    return X.T @ (rows_gradient(hidden, triplets, margin, k, average) * derivative(hidden, slope))
