"""How labelled outliers enter the final score: the direction in which they differ from everything else.

Training lets labels shape the representation, but distances in a representation of a few columns keep little of what
single features say about the labelled outliers. A direction in the original features keeps it. Two are learned:

- the difference of the means of the labelled outliers and of the others, feature by feature in its own unit
  (label_means.py): the best reading of few labels, and the only one of a single label;
- a logistic regression (label_regression.py), which knows that features go together: better where labels are many.

The score becomes a sum of the detector's score and the direction c, each in its own standard deviations. Which of the
two directions c is, and how much it and the detector count, is decided out of sample by Fisher's rule: weights follow
how far each sets the labelled outliers apart, less what the two have in common. For the detector that is measured on
the initial ranking, which never saw the labels; for the difference by leaving each labelled outlier out of the mean
that scores it; for the regression by folds. It is measured by ranks, so that no single row decides, and starts from the
same strength for all: with a single label, which cannot be left out, detector and direction count about alike. A
direction to labels that the initial ranking takes for normal starts weaker: such rows lie among inliers, and so does
much of what resembles them. One to labels that it puts on top starts from how well it finds the others up there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from ..data.blocks import Block
from ..data.labels import Labels
from ..data.rows import Rows
from ..model.label_direction import Axes, LabelDirection
from ..model.terms import Model, Term
from .label_means import Means
from .label_regression import Regression

Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_BACKGROUND = 20_000
"""Largest number of rows that stand for the others."""

_PRIOR = 1.0
"""Prior strength: one standard deviation, an AUC of .76, which detectors often reach."""

_TRUST = 4
"""The prior strength counts as much as this many labels."""

_HIGHEST, _LEAST_HIGHEST = 0.05, 5
"""The share and the minimum number of rows that count as the top of a ranking: about the usual number of outliers."""


@dataclass(frozen=True)
class LabeledRows:
    """The labelled rows, and the initial scores of the outliers among them."""

    outliers: Block
    inliers: Block | None
    outlier_scores: Doubles


def known_rows(
    rows: Rows, labels: Labels, outliers: Block | None, inliers: Block | None, initial: Doubles, extra: Doubles
) -> LabeledRows:
    """Labelled rows of X and those outside X; at least one of them is an outlier."""
    own = np.flatnonzero(labels == 1)
    known, fine = _both(rows, own, outliers), _both(rows, np.flatnonzero(labels == -1), inliers)
    assert known is not None
    return LabeledRows(known, fine, np.concatenate([initial[own], extra]))


def _both(rows: Rows, own: Integers, extra: Block | None) -> Block | None:
    parts = [part for part in (rows.take(own) if len(own) else None, extra) if part is not None]
    return parts[0].stacked(parts[1:]) if parts else None


def learn_direction(
    rows: Rows,
    others: Integers,
    known: LabeledRows,
    initial: Doubles,
    detector: Term,
    detector_scores: Doubles,
    rng: np.random.Generator,
    n_threads: int,
) -> tuple[Model, Doubles]:
    """A model of the detector and the direction from `others`, rows not known to be outliers, to the known outliers.

    `initial` and the scores of the known outliers that belong to it come from a ranking that never saw the labels.
    Also returns the final scores of `rows`.
    """
    axis, left_out = _axis(rows, others, known, rng, n_threads)
    along = axis.along(rows, n_threads)[:, 0]
    ranked = Measured(initial[others], known.outlier_scores)
    directed = Measured(along[others], left_out, _prior(ranked, along[others]))
    n = known.outliers.n_rows
    weights = fisher(ranked, directed, n / (n + _TRUST))
    factor, detector_factor = _factors(*weights, detector_scores[others], along[others])
    model = Model((detector, LabelDirection(axis)), (detector_factor, factor))
    return model, model.total([detector_scores, along])


def _axis(
    rows: Rows, others: Integers, known: LabeledRows, rng: np.random.Generator, n_threads: int
) -> tuple[Axes, Doubles]:
    """The direction, and where on it each labelled outlier lies out of sample; a single one lies nowhere."""
    means = Means.of(_background(rows, others, rng), known.outliers, known.inliers, n_threads)
    if known.outliers.n_rows == 1:
        return means.axes(means.difference[:, None], rows.n_features), np.empty(0)
    regression = Regression.of(means, rng)
    axes = means.axes(np.column_stack([means.difference, regression.weights]), rows.n_features)
    both = axes.along(rows, n_threads)[others]
    spreads, middles = both.std(axis=0), both.mean(axis=0)
    spreads[spreads == 0] = 1.0
    standardized = (both - middles) / spreads
    left_out = np.column_stack([means.left_out() / spreads[0], regression.left_out])
    difference, regressed = (Measured(standardized[:, i], left_out[:, i]) for i in (0, 1))
    shares = np.array(fisher(difference, regressed))
    if not shares.any():
        shares[:] = 1.0
    axis = means.axes((axes.weights @ (shares / spreads))[:, None], rows.n_features)
    return axis, left_out @ shares + middles @ (shares / spreads)


def _background(rows: Rows, others: Integers, rng: np.random.Generator) -> Block:
    if len(others) > _BACKGROUND:
        others = np.sort(rng.choice(others, _BACKGROUND, replace=False))
    return rows.take(others)


@dataclass(frozen=True)
class Measured:
    """Scores of the others by something, and those of labelled outliers that it has not learnt from."""

    others: Doubles
    outliers: Doubles
    prior: float = _PRIOR

    @property
    def below(self) -> Doubles:
        """Share of the others that is below each outlier; equal ones count half."""
        ordered = np.sort(self.others)
        found = [np.searchsorted(ordered, self.outliers, side) for side in ("left", "right")]
        return (found[0] + found[1] + 1) / (2 * len(ordered) + 2)

    @property
    def strength(self) -> float:
        """Standard deviations by which outliers lie above the others, shrunk towards the prior if they are few.

        They are those of a normal distribution in which as large a share of the others lies below.
        """
        above = float(ndtri(self.below).sum())
        return max(0.0, (above + self.prior * _TRUST) / (len(self.outliers) + _TRUST))


def _prior(ranked: Measured, along: Doubles) -> float:
    """Strength of a direction before labels say more, by where the initial ranking has the labels.

    From 0 for those at its bottom to the usual one in its middle, and on to how far up its highest rows lie here.
    """
    place = 2 * float(ranked.below.mean())
    if place <= 1:
        return _PRIOR * place
    highest = np.argsort(-ranked.others, kind="stable")[: max(_LEAST_HIGHEST, round(_HIGHEST * len(along)))]
    found = float(np.clip(ndtri(Measured(along, along[highest]).below).mean(), 0.0, _PRIOR))
    return (2 - place) * _PRIOR + (place - 1) * found


def fisher(one: Measured, other: Measured, trust: float = 1.0) -> tuple[float, float]:
    """Weights of two from their strengths and their correlation; neither is negative.

    Taking away what they have in common leaves little where strengths are alike, and that little is chance where labels
    are few: `trust` is how much of it to take away.
    """
    flat = one.others.std() == 0 or other.others.std() == 0
    common = 0.0 if flat else trust * float(np.corrcoef(one.others, other.others)[0, 1])
    return max(0.0, one.strength - common * other.strength), max(0.0, other.strength - common * one.strength)


def _factors(detector: float, direction: float, detector_scores: Doubles, along: Doubles) -> tuple[float, float]:
    """Factors of c and of the detector's score; 0 for one that does not vary or that misleads."""
    detector *= np.std(detector_scores) > 0
    direction *= np.std(along) > 0
    total = detector + direction
    if total == 0:
        return 0.0, 1.0
    return direction / total / _spread(along), detector / total / _spread(detector_scores)


def _spread(scores: Doubles) -> float:
    return float(np.std(scores)) or 1.0
