"""The weights that a seed gives to a feature, and the layer itself (equation 5)."""

import numpy as np

_64, _32 = 2**64 - 1, 2**32 - 1


def _mix(x):
    """The finaliser of splitmix64, in Python's unbounded integers."""
    x = (x + 0x9E3779B97F4A7C15) & _64
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _64
    return x ^ (x >> 31)


def _word(key, place):
    """A signed 32-bit number for weight `place` of the feature with this key."""
    x = (place * 0x9E3779B9 + key) & _32
    x ^= x >> 16
    x = (x * 0x85EBCA6B + (key >> 32)) & _32
    x ^= x >> 13
    x = (x * 0xC2B2AE35) & _32
    x ^= x >> 16
    return x - 2**32 if x >= 2**31 else x


def initial_weights(seed, columns, width, limit):
    """One row of `width` weights per feature, uniform in (-limit, limit): a function of seed and index alone."""
    step = np.float32(limit) * np.float32(2.0**-31)
    keys = [_mix(seed ^ _mix(int(column))) for column in columns]
    words = np.array([[_word(key, place) for place in range(width)] for key in keys], dtype=np.int32)
    return (words.reshape(len(keys), width).astype(np.float32) * step).astype(np.float64)


def forward(X, weights, slope=0.0):
    """f(x) = ψ(x W), ψ with the given slope below zero: 0 is max(0, x W)."""
    return activate(np.asarray(X, dtype=np.float64) @ weights, slope)


def activate(sums, slope):
    return np.where(sums > 0, sums, slope * sums)


def derivative(sums, slope):
    """Of ψ, by the sign of its argument, which is that of its value."""
    return np.where(sums > 0, 1.0, slope)
