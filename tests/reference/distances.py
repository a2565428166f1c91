"""Equation 1: the mean over subsamples of the distance to the nearest member."""

import numpy as np


def sp_scores(X, references, subsample_size):
    """Rows `i * subsample_size` and following of `references` are subsample i."""
    X, references = np.asarray(X, dtype=np.float64), np.asarray(references, dtype=np.float64)
    scores = []
    for x in X:
        nearest = []
        for first in range(0, len(references), subsample_size):
            members = references[first : first + subsample_size]
            nearest.append(min(np.sqrt(np.sum((x - s) ** 2)) for s in members))
        scores.append(np.mean(nearest))
    return np.array(scores)
