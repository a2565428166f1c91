"""How rare the features of rows are, by loops over a dense matrix."""

import math

import numpy as np


def rarity(training, rows, *, unshared, prior):
    """The mean weight of each row's features, with `prior` features of ordinary weight added."""
    n = len(training)
    counts = [sum(1 for row in training if row[feature] != 0) for feature in range(training.shape[1])]

    def weight(feature):
        count = counts[feature] or 0.5
        return float(count <= 1) if unshared else math.log(n / count)

    ordinary = [weight(feature) for row in training for feature in np.flatnonzero(row)]
    mean = 0.0 if unshared else sum(ordinary) / len(ordinary)  # those that are added are shared
    scores = []
    for row in rows:
        own = [weight(feature) for feature in np.flatnonzero(row)]
        scores.append((sum(own) + prior * mean) / (len(own) + prior) if own else 0.0)
    return np.array(scores)
