"""The checks that a careful analyst would make on a fitted detector, in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.stats import spearmanr
from sklearn.base import clone

from ..data.labels import read_labels
from ..data.scaling_advice import scaling_advice
from ..data.validation import open_rows
from ..explain.contributions import Explainer
from ..model.evidence import Evidence
from ..model.rarity import Rarity
from ..model.references import References
from ..options import OptionError

if TYPE_CHECKING:
    from ..model.fitted import FittedDetector

Scores = npt.NDArray[np.float64]

_MOSTLY = 0.9
"""A higher rank correlation means that something other than the detector explains the ranking."""

_BOTH_SIDES = 0.25
"""Data are centred if at least this share of values is on either side of 0."""

_UNSTEADY = 0.8
"""If the rank correlation of two halves of the subsamples is lower, more subsamples are needed."""

_DISAGREES = 0.3
"""A view with a lower rank correlation with all views together sees something the others do not."""

_FEW_FEATURES = 50
"""With fewer features, most of them non-zero, a representation has little to leave out."""

_HALF, _SEVERAL, _FEWEST = 0.5, 3, 10
_MANY_COLUMNS = 1000
"""Warn if one column makes more than half of the scores, given 3 to 1,000 columns and at least 10 rows to look at."""

_TIED = 0.25
"""Warn if at least this share of the rows have the same score."""


@dataclass(frozen=True)
class Finding:
    """The result of one check. `warning` says what is wrong and what to do; empty if nothing is."""

    name: str
    value: float
    meaning: str
    warning: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """Findings by name; prints as a table with warnings below."""

    findings: tuple[Finding, ...]
    terms: tuple[str, ...] = ()
    """The terms that a score is the sum of."""
    normalizations: dict[str, float] | None = None
    """For each normalisation, the mean share of unlabelled rows that known outliers outrank."""
    views: dict[str, float] = field(default_factory=dict)
    """The rank correlation of each view with all views together."""

    def __getitem__(self, name: str) -> Finding:
        return {f.name: f for f in self.findings}[name]

    @property
    def warnings(self) -> tuple[str, ...]:
        """Everything that needs attention."""
        return tuple(f.warning for f in self.findings if f.warning)

    def to_dict(self) -> dict[str, Any]:
        """Return values by name, and the warnings."""
        values: dict[str, Any] = {f.name: f.value for f in self.findings}
        said = {
            "terms": list(self.terms),
            "views": self.views,
            "warnings": list(self.warnings),
            "normalizations": self.normalizations,
        }
        return {**values, **said}

    def with_normalizations(self, ranks: dict[str, float]) -> Diagnosis:
        """Return the same findings, and how high each normalisation ranks known outliers."""
        return replace(self, normalizations=ranks)

    def __str__(self) -> str:
        lines = [f"{f.name:<22}{f.value:>9.3g}  {f.meaning}" for f in self.findings]
        if self.terms:
            lines.append(f"a score is the sum of: {'; '.join(self.terms)}")
        if self.views:
            lines += ["", "rank correlation of each view with all of them together:"]
            lines += [f"  {value:>6.3f}  {name}" for name, value in self.views.items()]
        if self.normalizations is not None:
            best = max(self.normalizations, key=lambda name: self.normalizations[name])  # type: ignore[index]
            lines.append("")
            lines.append("share of the other rows that known outliers outrank, for a detector fitted without labels:")
            lines += [
                f"  normalize={n:<8}{v:>7.3f}{'  <- highest' if n == best else ''}"
                for n, v in self.normalizations.items()
            ]
        return "\n".join(lines + [""] * bool(self.warnings) + [f"! {warning}" for warning in self.warnings])

    __repr__ = __str__


def diagnose(detector: FittedDetector) -> Diagnosis:
    """Return findings about a fitted detector, from what it recorded about its training rows."""
    scores, evidence = detector.outlier_scores_, detector.model_.evidence
    views = {} if evidence is None else dict(zip(evidence.names, evidence.agreement, strict=True))
    return Diagnosis(
        (
            *_of_length(detector, scores),
            *_of_candidates(detector, len(scores)),
            _of_units(detector),
            *_of_columns(detector),
            *_of_points(detector, scores),
            *_of_training(detector),
            *_of_subsamples(detector),
            _of_agreement(detector, scores),
            *_of_views(views, set() if evidence is None else _silent(evidence)),
        ),
        detector.model_.names(),
        views=views,
    )


def _of_length(detector: FittedDetector, scores: Scores) -> list[Finding]:
    """Does the ranking follow something simple, such as row length?"""
    findings: list[Finding] = []
    for name, ranking, values, words in (
        ("row_length", scores, detector.row_lengths_, "row length"),
        ("row_norm", scores, detector.row_norms_, "row norm"),
        ("initial_row_length", detector.initial_scores_, detector.row_lengths_, "row length"),
    ):
        value, which = _correlation(ranking, values), "initial " if name.startswith("initial") else ""
        warning = ""
        if abs(value) > _MOSTLY and not (name == "row_norm" and value > 0 and _is_centred(detector)):
            warning = (
                f"this {which}ranking mostly follows {words}{'' if value > 0 else ', upside down'}: rank correlation "
                f"{value:.2f}. If {words} does not make an outlier, try normalize='l2' or 'max' (--normalize); "
                "diagnose(X, labels=...) compares them on known outliers."
            )
        findings.append(Finding(name, value, f"rank correlation of {which}score and {words}", warning))
    return findings


def _is_centred(detector: FittedDetector) -> bool:
    """Return whether values are about as often below 0 as above, so that the norm is a distance from the middle."""
    values = [origin.rows.as_sparse().data for origin in detector.model_.origins()[:1]]
    below = [float((data < 0).mean()) for data in values if len(data)]
    return bool(below) and min(below[0], 1 - below[0]) > _BOTH_SIDES


def _of_candidates(detector: FittedDetector, n_rows: int) -> list[Finding]:
    n = len(detector.candidate_outliers_)
    warning = ""
    if detector.fallback_used_:
        warning = (
            "hardly any row stood out before training, so the rows with the highest scores served as examples of "
            "outliers, and some of them may be ordinary. Labels of known outliers are better examples: give them as "
            "labels (--labels)."
        )
    return [
        Finding("candidates", n, "rows that training treated as outliers"),
        Finding("candidate_share", n / n_rows, "their share of all rows", warning),
    ]


def _of_units(detector: FittedDetector) -> Finding:
    units = sum(sample.shape[1] for sample in detector.samples_)
    dead = units - sum(detector.n_alive_)
    warning = ""
    if 2 * dead > units:
        warning = (
            f"{dead} of {units} units of the representation respond to no row. Features on very different scales "
            f"cause this: {_advice(detector)}, or use units that respond to all rows: "
            "RAMODO(representation=Layers((20,), 'leaky_relu'))."
        )
    return Finding("dead_units", dead, f"how many of {units} units respond to no row", warning)


def _advice(detector: FittedDetector) -> str:
    origins = detector.model_.origins()
    return scaling_advice(origins[0].rows) if origins else "scale them (--scale standard)"


def _of_columns(detector: FittedDetector) -> list[Finding]:
    """Does one column make the ranking?"""
    origins = detector.model_.origins()
    if not origins or not _SEVERAL <= detector.n_features_in_ <= _MANY_COLUMNS:
        return []
    numbers, first = np.unique(origins[0].numbers, return_index=True)
    scores = detector.outlier_scores_[numbers]
    highest = first[np.argsort(-scores, kind="stable")[: max(_FEWEST, len(first) // 10)]]
    rows = origins[0].rows.take(highest)
    scores = detector.model_.score(rows, 1)
    if scores.mean() <= 0:
        return []
    try:
        explainer = Explainer(detector.model_, detector.outlier_scores_, rows.n_features)
        drivers = explainer.explain(rows, scores, _name(detector), 1, 1).drivers
    except OptionError:  # user-defined scorers and heads
        return []
    strongest = max(drivers, key=lambda driver: driver.contribution, default=None)
    if strongest is None:
        return []
    share, warning = float(strongest.contribution / scores.mean()), ""
    if share > _HALF:
        warning = (
            f"one column, {strongest.feature}, makes up {min(share, 1):.0%} of the scores of the top rows. If others "
            "should count too, scale them (--scale auto), or leave it out (--ignore)."
        )
    meaning = f"share of one column, {strongest.feature}, in the scores of the top rows"
    return [Finding("largest_column", share, meaning, warning)]


def _name(detector: FittedDetector) -> Callable[[int], str]:
    """Return a function that names columns, by the model's names if it has them."""
    names, schema = getattr(detector, "feature_names_in_", None), getattr(detector, "schema_", None)
    if names is None and schema is not None:
        names = schema.names
    first = detector.n_features_in_ - (0 if names is None else len(names))
    return lambda column: f"feature {column}" if names is None or column < first else repr(str(names[column - first]))


def _of_points(detector: FittedDetector, scores: Scores) -> list[Finding]:
    """Which rows can the detector not tell apart?"""
    values, counts = np.unique(scores, return_counts=True)
    most = int(counts.argmax())
    share, warning = float(counts[most] / len(scores)), ""
    if share >= _TIED:
        warning = (
            f"{share:.0%} of the rows have the same score, {values[most]:.3g}: the representation maps them to one "
            f"point, so outliers among them cannot be found. {_more_models(detector)} or labels of known outliers may "
            "separate them."
        )
    tied = Finding("tied_rows", share, "largest share of rows with the same score", warning)
    empty = int((detector.row_lengths_ == 0).sum())
    rows = "1 row has" if empty == 1 else f"{empty} rows have"
    warning = f"{rows} no features at all and cannot be scored: check by hand." if empty else ""
    return [tied, Finding("empty_rows", empty, "rows without any feature", warning)]


def _more_models(detector: FittedDetector) -> str:
    more = "Several models (n_estimators, --models), another" if hasattr(detector, "n_estimators") else "Another"
    return f"{more} normalisation,"


def _of_training(detector: FittedDetector) -> list[Finding]:
    first, last = float(detector.loss_curve_[0]), float(detector.loss_curve_[-1])
    warning = ""
    if len(detector.loss_curve_) > 1 and last > 0.99 * first > 0:
        what = "more epochs or scaled features" if hasattr(detector, "n_epochs") else "scaled features"
        warning = f"training did not lower the loss ({first:.3g} to {last:.3g}); {what} may help."
    return [
        Finding("loss_first", first, "mean ranking loss of the first epoch"),
        Finding("loss_last", last, "mean ranking loss of the last epoch", warning),
    ]


def _of_subsamples(detector: FittedDetector) -> list[Finding]:
    """Return how much a score depends on which rows were drawn as references."""
    references, sample = detector.model_.learned[0].detection.references, detector.samples_[0]
    if references is None or len(sample) == 0:
        return []
    n = len(references.rows) // references.size
    each = np.stack(
        [
            References(
                references.rows[s * references.size : (s + 1) * references.size], references.size, references.phi
            ).score(sample, 1)
            for s in range(n)
        ]
    )
    mean = each.mean(axis=0)
    spread = float(np.mean(each.std(axis=0)[mean > 0] / mean[mean > 0])) if (mean > 0).any() else 0.0
    findings = [Finding("subsample_spread", spread, "standard deviation between subsamples, as a share of the score")]
    if n > 1:
        agreement = _correlation(each[: n // 2].mean(axis=0), each[n // 2 :].mean(axis=0))
        warning = ""
        if agreement < _UNSTEADY and hasattr(detector, "n_estimators"):  # several views do not depend on one
            warning = (
                f"two halves of the subsamples have a rank correlation of only {agreement:.2f}: raise n_subsamples or "
                "n_estimators (--models)."
            )
        findings.append(
            Finding("subsample_agreement", agreement, "rank correlation of two halves of the subsamples", warning)
        )
    return findings


def _of_agreement(detector: FittedDetector, scores: Scores) -> Finding:
    value, warning = _correlation(detector.initial_scores_, scores), ""
    if value < _UNSTEADY and _is_low_and_dense(detector):
        warning = (
            f"X has only {detector.n_features_in_} features, most of them non-zero, and the final ranking differs from "
            f"that of the plain distance (rank correlation {value:.2f}). With few features a representation has little "
            "to leave out, and on most such data the plain distance is more reliable: initial_scores_, Sp, or "
            "--method sp. Known outliers can settle it."
        )
    return Finding("initial_agreement", value, "rank correlation of the initial and the final ranking", warning)


def _is_low_and_dense(detector: FittedDetector) -> bool:
    n_features = detector.n_features_in_
    return bool(n_features < _FEW_FEATURES and 2 * detector.row_lengths_.mean() > n_features)


def _silent(evidence: Evidence) -> set[str]:
    """Names of views that most rows tell nothing: their ranks are mostly those of ties."""
    pairs = zip(evidence.names, evidence.views, strict=True)
    return {name for name, view in pairs if any(isinstance(t, Rarity) and t.unshared for t, _ in view.all())}


def _of_views(views: dict[str, float], silent: set[str]) -> list[Finding]:
    """Does a view see something that the others do not? What `silent` views rank is not compared."""
    if not views:
        return []
    lowest = min(views, key=lambda name: views[name])
    warning = ""
    if any(value < _DISAGREES for name, value in views.items() if name not in silent):
        warning = (
            "the ways to compare rows disagree on which rows stand out: label ten of the top rows, outliers and "
            "ordinary ones, and fit again with these labels (--labels), which decide."
        )
    meaning = f"lowest rank correlation of a view with all of them: {lowest}"
    return [Finding("view_agreement", views[lowest], meaning, warning)]


def _correlation(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> float:
    """Spearman's rank correlation; 0 if one of them does not vary."""
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return 0.0
    return float(spearmanr(a, b).statistic)


def compare_normalizations(detector: FittedDetector, X: Any, known: Any, labeled_outliers: Any) -> dict[str, float]:
    """Return the mean share of unlabelled rows that known outliers outrank, by detectors fitted without labels."""
    n_rows = open_rows(X).n_rows
    labels = read_labels(known, n_rows)
    if not (labels == 1).any() and labeled_outliers is None:
        raise OptionError(
            "normalisations are compared on known outliers, so labels must contain a 1, or labeled_outliers must be "
            "given; got neither."
        )
    if (labels == 1).all():
        raise OptionError("labels must leave some rows of X that known outliers can outrank, got 1 for every row.")
    ranks = {}
    for how in (None, "l2", "max"):
        unlabeled = clone(detector).set_params(normalize=how, warm_start=False).fit(X)
        ranked = [unlabeled.outlier_scores_[labels == 1]]
        if labeled_outliers is not None:
            ranked.append(unlabeled.outlier_score(labeled_outliers))
        others = np.sort(unlabeled.outlier_scores_[labels != 1])
        outranked = np.searchsorted(others, np.concatenate(ranked)) / len(others)
        ranks[str(how)] = float(outranked.mean())
    return ranks
