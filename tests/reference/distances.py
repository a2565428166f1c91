"""Equation 1: the mean over subsamples of the distance to the nearest reference, or of another φ."""

import numpy as np


def sp_scores(X, references, subsample_size, k=1, average=False):
    """Rows `i * subsample_size` and following of `references` are subsample i.

    `k` takes the k-th nearest reference in place of the nearest, `average` the mean over the k nearest.
    """
    X, references = np.asarray(X, dtype=np.float64), np.asarray(references, dtype=np.float64)
    scores = []
    for x in X:
        of_subsamples = []
        for first in range(0, len(references), subsample_size):
            subsample = references[first : first + subsample_size]
            nearest = sorted(np.sqrt(np.sum((x - s) ** 2)) for s in subsample)[:k]
            of_subsamples.append(np.mean(nearest) if average else nearest[-1])
        scores.append(np.mean(of_subsamples))
    return np.array(scores)
