"""How labelled outliers enter the final score: the direction in which they differ from everything else.

Labels shape the representation in training. But distances in a representation of a few columns keep little of what
single features say about the labelled outliers, while a direction in the original features does. Two are learned:

- the difference between the means of the labelled outliers and of the others, each feature in its own unit
  (label_means.py): the better choice for few labels, and the only one for a single label;
- a logistic regression (label_regression.py), which accounts for correlated features: better if there are many labels.

The score becomes the sum of the detector's score and the direction c, each in its own standard deviations. Fisher's
rule decides out of sample which of the two directions c is, and the weights of c and the detector: each counts by how
far it separates the labelled outliers, less what the two have in common. The detector's separation is measured on the
initial ranking, which never saw the labels. That of the difference is measured by leaving each labelled outlier out of
the mean that scores it, and that of the regression by folds.

Separation is measured by ranks, so that no single row decides, and all start from the same prior strength: with a
single label, which cannot be left out, detector and direction count about the same. If the initial ranking takes the
labelled outliers for normal, the direction starts weaker, because many rows that resemble them are inliers. If it puts
them on top, the direction starts from how well it finds the other rows at the top.
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
"""Maximum number of rows that represent the others."""

_PRIOR = 1.0
"""Prior strength: one standard deviation, an AUC of .76, which detectors often reach."""

_TRUST = 4
"""Weight of the prior strength, in number of labels."""

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
    """Return the labelled rows of X and those outside X; at least one is an outlier."""
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
    """Return a model of the detector plus the direction from `others` to the known outliers, and its scores of `rows`.

    `others` are rows not known to be outliers. `initial`, and the initial scores of the known outliers, come from a
    ranking that never saw the labels.
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
    """Return the direction, and where each labelled outlier lies on it out of sample (nowhere if there is only one)."""
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
    """Scores of the others by a detector or a direction, and out-of-sample scores of labelled outliers."""

    others: Doubles
    outliers: Doubles
    prior: float = _PRIOR

    @property
    def below(self) -> Doubles:
        """The share of the others that is below each outlier; ties count half."""
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
    """Return the prior strength of a direction, which depends on where the initial ranking puts the labelled outliers.

    It rises from 0 at the bottom to the usual strength in the middle, and from there to how well the direction finds
    the highest rows.
    """
    place = 2 * float(ranked.below.mean())
    if place <= 1:
        return _PRIOR * place
    highest = np.argsort(-ranked.others, kind="stable")[: max(_LEAST_HIGHEST, round(_HIGHEST * len(along)))]
    found = float(np.clip(ndtri(Measured(along, along[highest]).below).mean(), 0.0, _PRIOR))
    return (2 - place) * _PRIOR + (place - 1) * found


def fisher(one: Measured, other: Measured, trust: float = 1.0) -> tuple[float, float]:
    """Return non-negative weights of two measures from their strengths and their correlation.

    If strengths are similar, little remains after subtracting what the two have in common, and with few labels that
    remainder is chance. `trust` is how much of the common part to subtract.
    """
    flat = one.others.std() == 0 or other.others.std() == 0
    common = 0.0 if flat else trust * float(np.corrcoef(one.others, other.others)[0, 1])
    return max(0.0, one.strength - common * other.strength), max(0.0, other.strength - common * one.strength)


def _factors(detector: float, direction: float, detector_scores: Doubles, along: Doubles) -> tuple[float, float]:
    """Return the factors of c and of the detector's score; 0 for one that is constant or misleading."""
    detector *= np.std(detector_scores) > 0
    direction *= np.std(along) > 0
    total = detector + direction
    if total == 0:
        return 0.0, 1.0
    return direction / total / _spread(along), detector / total / _spread(detector_scores)


def _spread(scores: Doubles) -> float:
    return float(np.std(scores)) or 1.0
