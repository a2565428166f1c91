"""Equation 2: the line above which a score is called high."""

import numpy as np


def cantelli_line(scores, alpha):
    mean = sum(scores) / len(scores)
    variance = sum((score - mean) ** 2 for score in scores) / len(scores)
    return mean + alpha * np.sqrt(variance)
