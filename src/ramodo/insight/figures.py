"""The numbers behind pictures of a fitted detector: bars, points and curves for the report and for notebooks.

Nothing here draws, and nothing grows with the number of rows: scores are counted in bins, maps are sampled, curves
are thinned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.labels import read_labels
from ..options import OptionError

Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_MOST_BARS, _FEWEST_BARS = 60, 10
_STRETCH = 10.0
"""Bars reach this multiple of the threshold, or of the 99th percentile; the last one includes all rows beyond."""

SAMPLED, FLAGGED = 4000, 1000
"""Rows on a map: at most this many at random, and this many of the highest flagged rows."""

_DRAW = 20180819
"""Seed of the sample; unusual, since data made or shuffled with the same seed could bias the sample."""

_FAR = 5.0
"""A direction whose farthest point lies this many times as far out as 95 % of them is drawn on a compressed scale."""

_POINTS = 500


@dataclass(frozen=True)
class Histogram:
    """Rows per interval of scores. The threshold is one of the edges, so no bar lies on both sides of it."""

    edges: Doubles
    counts: Integers
    threshold: float
    n_beyond: int
    """Rows above the last edge, which the last bar includes."""


@dataclass(frozen=True)
class FlatMap:
    """Points in two dimensions, close together if their rows are close in the representation."""

    points: Doubles
    shares: tuple[float, float]
    """Share of the rows' spread that each axis shows."""
    compressed: bool
    """Whether far points were pulled in, by arcsinh of the coordinates."""


@dataclass(frozen=True, kw_only=True)
class Curves:
    """How scores agree with labels at every possible threshold; at most 500 points each."""

    false_positives: Doubles
    true_positives: Doubles
    recall: Doubles
    precision: Doubles
    auc: float
    average_precision: float


def percentiles(scores: Doubles, known: Doubles) -> Doubles:
    """Return the share of the training rows, in percent, that score lower."""
    return 100 * np.searchsorted(np.sort(known), scores) / max(1, len(known))


def score_histogram(scores: Doubles, threshold: float) -> Histogram:
    """Return bars of equal width from the lowest score to the highest, or to where nearly all scores end."""
    low, highest = min(float(scores.min()), threshold), max(float(scores.max()), threshold)
    usual = max(threshold, float(np.quantile(scores, 0.99)))
    high = min(highest, low + _STRETCH * (usual - low)) if usual > low else highest
    n_bars = int(np.clip(3 * np.sqrt(len(scores)), _FEWEST_BARS, _MOST_BARS))
    width = min(high - low, max(3 * (usual - low), (high - low) / 3)) / n_bars
    if width <= 1e-12 * max(abs(low), abs(high)):  # all scores equal: a single bar, next to the threshold
        width = max(abs(low), 1.0) / n_bars
    below = int(np.ceil((threshold - low) / width))
    above = max(1, int(np.ceil((high - threshold) / width)))
    edges = np.asarray(threshold + width * np.arange(-below, above + 1), dtype=np.float64)
    edges[0] = min(edges[0], low)
    counts, _ = np.histogram(np.clip(scores, None, edges[-1]), edges)
    return Histogram(edges, counts.astype(np.int64), threshold, int((scores > edges[-1]).sum()))


def rows_of_map(scores: Doubles, threshold: float) -> Integers:
    """Return rows for a map: a random sample, the same each time, and the highest flagged rows."""
    every = np.arange(len(scores))
    if len(scores) > SAMPLED:
        every = np.random.default_rng(_DRAW).choice(every, SAMPLED, replace=False)
    highest = np.argsort(-scores, kind="stable")[:FLAGGED]
    return np.union1d(every, highest[scores[highest] >= threshold])


def flat_map(representation: npt.NDArray[np.floating]) -> FlatMap:
    """Return the rows along the two directions in which they differ most.

    The directions are the principal components of rows pulled in to where 95 % of them lie. Otherwise a single giant
    row would define its own direction, and all others would be one point.
    """
    centred = representation.astype(np.float64) - np.median(representation, axis=0)
    distances = np.linalg.norm(centred, axis=1)
    reach = float(np.quantile(distances, 0.95)) or float(distances.max()) or 1.0
    held = centred / np.maximum(1.0, distances / reach)[:, None]
    held -= held.mean(axis=0)
    _, sizes, directions = np.linalg.svd(held, full_matrices=False)
    directions = np.vstack([directions, np.zeros((2, directions.shape[1]))])[:2]
    largest = np.abs(directions).argmax(axis=1)
    directions *= np.where(directions[np.arange(2), largest] < 0, -1.0, 1.0)[:, None]
    points = centred @ directions.T
    spread = np.append(sizes**2, [0.0, 0.0])
    shares = spread[:2] / (spread.sum() or 1.0)
    farthest = np.abs(points).max(axis=0)
    usual = np.quantile(np.abs(points), 0.95, axis=0)
    compressed = bool((farthest > _FAR * np.where(usual > 0, usual, np.inf)).any())
    if compressed:
        scale = np.quantile(np.abs(points), 0.75, axis=0)
        points = np.arcsinh(points / np.where(scale > 0, scale, np.where(farthest > 0, farthest, 1.0)))
    return FlatMap(points, (float(shares[0]), float(shares[1])), compressed)


def truth_of(y: Any, n_rows: int) -> npt.NDArray[np.bool_]:
    """Return a mask of the rows labelled 1, outlier; raise unless some are, but not all."""
    truth = read_labels(y, n_rows, "y") == 1
    if truth.all() or not truth.any():
        raise OptionError(f"y must label some rows, but not all, as outliers (1), got {int(truth.sum())} of {n_rows}.")
    return truth


def curves(truth: npt.NDArray[np.bool_], scores: Doubles) -> Curves:
    """ROC and precision-recall curves, thinned; their areas are those of the full curves."""
    from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

    false_positives, true_positives, _ = roc_curve(truth, scores)
    precision, recall, _ = precision_recall_curve(truth, scores)
    false_positives, true_positives = _thinned(false_positives, true_positives)
    recall, precision = _thinned(recall[::-1], precision[::-1])
    return Curves(
        false_positives=false_positives,
        true_positives=true_positives,
        recall=recall,
        precision=precision,
        auc=float(roc_auc_score(truth, scores)),
        average_precision=float(average_precision_score(truth, scores)),
    )


def _thinned(x: Doubles, y: Doubles) -> tuple[Doubles, Doubles]:
    """Points spaced about evenly along the curve, so that nothing visible is lost."""
    if len(x) <= _POINTS:
        return x, y
    along = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y)))])
    kept = np.unique(np.searchsorted(along, np.linspace(0, along[-1], _POINTS)).clip(max=len(x) - 1))
    kept[-1] = len(x) - 1
    return x[kept], y[kept]
