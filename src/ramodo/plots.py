"""Plots for notebooks, with the same numbers as the report. Each takes and returns matplotlib axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .explain.explanation import Explanation, RowExplanation
from .extras import pip_install
from .insight.figures import curves, flat_map, rows_of_map, score_histogram, truth_of
from .options import OptionError, option_error

if TYPE_CHECKING:
    from .model.fitted import FittedDetector

_USUAL, _OUTLIER, _LOWERS, _INK = "#8fa3b8", "#c2410c", "#2f6fb0", "#1b2430"


def plot_scores(detector: FittedDetector, ax: Any = None) -> Any:
    """Plot the distribution of the training rows' scores, with the cut-off.

    Examples
    --------
    >>> import numpy as np
    >>> from ramodo import Consensus
    >>> from ramodo.plots import plot_scores
    >>> X = np.random.default_rng(0).normal(size=(100, 30))
    >>> detector = Consensus(random_state=0).fit(X)
    >>> ax = plot_scores(detector)
    """
    ax = _axes(ax, detector)
    bars = score_histogram(detector.outlier_scores_, float(detector.threshold_))
    flagged = bars.edges[:-1] >= bars.threshold
    for chosen, colour, label in ((~flagged, _USUAL, "below the cut-off"), (flagged, _OUTLIER, "flagged")):
        ax.bar(
            bars.edges[:-1][chosen],
            bars.counts[chosen],
            np.diff(bars.edges)[chosen],
            align="edge",
            color=colour,
            label=label,
        )
    ax.axvline(bars.threshold, color=_INK, linestyle="--", linewidth=1)
    ax.set_yscale("log" if bars.counts.max() > 100 else "linear")
    ax.set(xlabel="score", ylabel="rows", title=f"Cut-off {bars.threshold:.4g}: {int(bars.counts[flagged].sum())} rows")
    ax.legend(frameon=False)
    return ax


def plot_map(detector: FittedDetector, X: Any, ax: Any = None) -> Any:
    """Plot a map of the rows' representation, with flagged rows on top; many rows are sampled.

    Examples
    --------
    >>> import numpy as np
    >>> from ramodo import Consensus
    >>> from ramodo.plots import plot_map
    >>> X = np.random.default_rng(0).normal(size=(100, 30))
    >>> detector = Consensus(random_state=0).fit(X)
    >>> ax = plot_map(detector, X)
    """
    ax = _axes(ax, detector)
    scores, rows = detector.outlier_score(X), detector.rows_of(X)
    chosen = rows_of_map(scores, detector.threshold_)
    found = flat_map(detector.model_.transform(rows.take(chosen), 1))
    flagged = scores[chosen] >= detector.threshold_
    x, y = found.points.T
    ax.scatter(x[~flagged], y[~flagged], s=8, color=_USUAL, alpha=0.5, label="below the cut-off")
    ax.scatter(x[flagged], y[flagged], s=20, color=_OUTLIER, marker="D", label="flagged")
    scale = ", arcsinh scale" if found.compressed else ""
    for direction, share, name in (
        (ax.set_xlabel, found.shares[0], "first"),
        (ax.set_ylabel, found.shares[1], "second"),
    ):
        direction(f"{name} direction, {share:.0%} of the spread{scale}")
    ax.set(xticks=[], yticks=[], title=f"{len(chosen):,} of {len(scores):,} rows")
    ax.legend(frameon=False)
    return ax


def plot_reasons(row: RowExplanation | Explanation, ax: Any = None) -> Any:
    """Plot what each feature adds to a row's score, strongest at the top, with a bar each for lacks and the rest.

    Examples
    --------
    >>> import numpy as np
    >>> from ramodo import Consensus
    >>> from ramodo.plots import plot_reasons
    >>> X = np.random.default_rng(0).normal(size=(100, 30))
    >>> detector = Consensus(random_state=0).fit(X)
    >>> ax = plot_reasons(detector.explain(X[:1]))
    """
    row, ax = _single(row), _axes(ax)
    values = [*[reason.contribution for reason in row.reasons], *[value for _, value in row.others()]]
    labels = [*[reason.in_words() for reason in row.reasons], *[label for label, _ in row.others()]]
    places = np.arange(len(values))[::-1]
    ax.barh(places, values, color=[_OUTLIER if value >= 0 else _LOWERS for value in values])
    ax.set_yticks(places, [label.replace("$", r"\$") for label in labels])  # names are not formulas
    ax.axvline(0, color=_INK, linewidth=0.8)
    ax.set(xlabel="adds to the score", title=f"row {row.name}: score {row.score:.4g}")
    return ax


def plot_curves(y: Any, scores: Any, ax: Any = None) -> Any:
    """Plot the ROC and precision-recall curves of scores against labels: 1 outlier, 0 or -1 not.

    Examples
    --------
    >>> from ramodo.plots import plot_curves
    >>> ax = plot_curves([0, 0, 1, 0], scores=[0.1, 0.3, 0.9, 0.2])
    """
    ax = _axes(ax)
    scores = np.asarray(scores, dtype=np.float64)
    found = curves(truth_of(y, len(scores)), scores)
    ax.plot(found.false_positives, found.true_positives, color=_OUTLIER, label=f"ROC, area {found.auc:.4f}")
    label = f"precision over recall, average {found.average_precision:.4f}"
    ax.plot(found.recall, found.precision, color=_LOWERS, linestyle="--", label=label)
    ax.plot([0, 1], [0, 1], color=_USUAL, linestyle=":", linewidth=1)
    ax.set(xlabel="false positive rate; recall", ylabel="true positive rate; precision", xlim=(0, 1), ylim=(0, 1.02))
    ax.legend(frameon=False)
    return ax


def plot_training(detector: FittedDetector, ax: Any = None) -> Any:
    """Plot the mean ranking loss of each epoch.

    Examples
    --------
    >>> import numpy as np
    >>> from ramodo import Consensus
    >>> from ramodo.plots import plot_training
    >>> X = np.random.default_rng(0).normal(size=(100, 30))
    >>> detector = Consensus(random_state=0).fit(X)
    >>> ax = plot_training(detector)
    """
    ax = _axes(ax, detector)
    ax.plot(np.arange(1, len(detector.loss_curve_) + 1), detector.loss_curve_, color=_OUTLIER, marker=".")
    ax.set(xlabel="epoch", ylabel="mean ranking loss")
    ax.set_ylim(bottom=0)
    return ax


def _single(given: Any) -> RowExplanation:
    """Return the explanation of a row, or the only one in a sequence."""
    if isinstance(given, Explanation) and len(given) == 1:
        return given[0]
    if isinstance(given, RowExplanation):
        return given
    what = f"one of {len(given)} rows" if isinstance(given, Explanation) else f"{type(given).__name__}"
    raise option_error("why", "the explanation of one row, such as detector.explain(X)[0]", what)


def _axes(given: Any, detector: FittedDetector | None = None) -> Any:
    """Return the given axes or those of a new figure, after checking that the detector, if any, is fitted."""
    pyplot = None if given is not None else _pyplot()
    if detector is not None:
        check_is_fitted(detector, "outlier_scores_")
    return given if pyplot is None else pyplot.subplots(layout="constrained")[1]


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise OptionError(f"plots need the package matplotlib: {pip_install('plots')}.") from None
    return pyplot
