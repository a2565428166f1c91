"""Compares rows with the profile of the rows that a model was fitted to, and says in words what moved.

Each feature has two tests. Its values: the largest difference of the two distributions at the knots of the profile, by
the bound of Dvoretzky, Kiefer and Wolfowitz, which holds for any values. How often it is there: a binomial test given
how many rows have it altogether. Columns of categories, features that training rows lack and the length of rows have
one more each. All p-values are multiplied by the number of tests (Bonferroni), so that at most one batch in a thousand
of rows like the training rows gives any warning, however many columns there are. And a difference must also matter: 5 %
of the rows, or 1 % where that is three times as many or as few as in training.

Rows of a sample are compared: 4,096 at most. Dates are left out: time moves on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..data.blocks import SparseRows
from ..data.rows import Rows
from ..formats.schema import Feature, Schema
from ..model.profile import Profile, absent, at_most, below, new_shares, ranges_of, sample_of
from .drift_words import number, of_numbers, percent
from .two_samples import MATTERS, bound, chance, matters

if TYPE_CHECKING:
    from ..model.fitted import FittedDetector

Doubles = npt.NDArray[np.float64]

LEVEL = 0.001
"""The chance that rows like the training rows give a warning."""

_FEWEST = 10
"""With fewer rows nothing is compared."""

_LEVELS = np.linspace(0, 1, 33)[1:-1]

_MOST = 100
"""Features that are named at most."""

Curve = tuple[list[float], list[float]]
"""Values, and the share of rows with at most each."""

Names = Callable[[list[int]], Callable[[int], str]]


@dataclass(frozen=True)
class Moved:
    """One thing that moved.

    what : column, feature, rows or scores
    kind : rescaled, shifted, stuck, unseen, more often, less often, new, unknown, longer or shorter
    words : a sentence without its full stop
    effect : the share of rows that moved
    p : its p-value, times the number of tests
    feature : the number of the feature, where it is about one
    shares : of the rows that have it, here and in training, where that is what moved
    curves : values and the share of rows with at most these, here and in training, where values are what moved
    """

    what: str
    name: str
    kind: str
    words: str
    effect: float
    p: float
    feature: int | None = None
    shares: tuple[float, float] | None = None
    curves: tuple[Curve, Curve] | None = None


@dataclass(frozen=True)
class Drift:
    """What a comparison found, strongest first.

    n_rows, compared : of the batch, and of its sample
    flagged, expected : the share of flagged rows, here and in training
    moved : what moved
    """

    n_rows: int
    compared: int
    flagged: float
    expected: float
    moved: tuple[Moved, ...]

    def __bool__(self) -> bool:
        return bool(self.moved)

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {**asdict(self), "drift": bool(self), "moved": [asdict(each) for each in self.moved]}

    def sentences(self) -> list[str]:
        """One for each thing that moved."""
        return [f"{each.words}." for each in self.moved]

    def in_words(self, most: int = 3) -> str:
        """The strongest, in one line; empty where nothing moved."""
        if not self.moved:
            return ""
        said = "; ".join(each.words for each in self.moved[:most])
        more = len(self.moved) - most
        return f"these rows differ from the training rows: {said}{f'; and {more:,} more' * (more > 0)}."


def compare(detector: FittedDetector, rows: Rows, scores: Doubles, names: Names | None = None) -> Drift | None:
    """How rows differ from the training rows; None where the model has no profile, or rows are too few.

    names : of features, a function of their numbers that returns a function of one of them
    """
    profile = getattr(detector, "profile_", None)
    if profile is None or rows.n_rows < _FEWEST:
        return None
    sample, _ = sample_of(rows, 0)
    found = _Comparison(detector, profile, sample, names)
    flagged, expected = (float((each >= detector.threshold_).mean()) for each in (scores, detector.outlier_scores_))
    return Drift(rows.n_rows, sample.n_rows, flagged, expected, tuple(found.moved(scores)))


class _Comparison:
    """A sample of rows beside the profile."""

    def __init__(self, detector: FittedDetector, profile: Profile, rows: SparseRows, names: Names | None) -> None:
        self._detector, self._profile, self._rows = detector, profile, rows
        self._schema: Schema = Schema.of_model(detector)
        self._names = names
        self._given: Callable[[int], str] = lambda number: ""
        self._n = rows.n_rows, profile.n_rows
        own, counts = np.unique(rows.indices, return_counts=True)
        place = np.searchsorted(own, profile.columns).clip(max=max(0, len(own) - 1))
        is_there = own[place] == profile.columns if len(own) else np.zeros(len(profile.columns), dtype=bool)
        self._present = np.where(is_there, counts[place], 0) if len(own) else np.zeros(len(profile.columns), int)
        others = ~np.isin(own, profile.columns)
        self._others, self._in_others = own[others].astype(np.int64), counts[others]
        self._ranges = ranges_of(self._schema)
        self._tests = 2 * len(profile.columns) + len(self._others) + len(self._ranges) + 5

    def moved(self, scores: Doubles) -> list[Moved]:
        """What moved: columns and features, then rows and scores."""
        columns = sorted(self._columns(), key=lambda each: (-round(each.effect, 2), each.kind != "unseen"))
        once = {(each.what, each.name): each for each in reversed(columns)}  # of each column the strongest
        first = [each for each in columns if once[each.what, each.name] is each]
        least = first[0].effect if first else 0.0
        lengths = [each for each in self._lengths() if each.effect > least]
        return [*first, *lengths, *self._scores(scores)]

    # ---- columns and features ------------------------------------------------------------------------------------

    def _columns(self) -> Iterator[Moved]:
        described, others = self._described(), self._frequent()
        if self._names is not None:
            numbers = [int(self._profile.columns[place]) for place, _, _ in described]
            self._given = self._names(numbers + [int(self._others[place]) for place, _, _ in others])
        for each in described:
            yield from self._said(*each)
        for each in others:
            yield from self._said_of_other(*each)
        yield from self._unseen()
        yield from self._new_features()

    def _described(self) -> list[tuple[int, float, float]]:
        """The places of described features that moved, with effects and p-values."""
        profile, (n, n_known) = self._profile, self._n
        now = below(self._rows, profile.columns, profile.knots)
        apart = np.abs(now / n - profile.below / n_known).max(axis=1, initial=0.0)
        p = np.where(apart >= MATTERS, self._bound(apart), 1.0)
        effect, p_there = self._of_presence(self._present, profile.present)
        return self._strongest(np.maximum(apart, effect), np.minimum(p, p_there))

    def _frequent(self) -> list[tuple[int, float, float]]:
        """The same of features that are frequent here, and too rare in training to be described."""
        effect, p = self._of_presence(self._in_others, self._known_of_others)
        more = self._in_others / self._n[0] > self._known_of_others / self._n[1]
        return self._strongest(effect, np.where(more, p, 1.0))

    def _strongest(self, effect: Doubles, p: Doubles) -> list[tuple[int, float, float]]:
        places = np.flatnonzero(p * self._tests <= LEVEL)
        places = places[np.argsort(-effect[places], kind="stable")][:_MOST]
        return [(place, float(effect[place]), float(p[place]) * self._tests) for place in places.tolist()]

    @cached_property
    def _known_of_others(self) -> npt.NDArray[np.int64]:
        """How many training rows have a feature that is not described, at most."""
        return np.where(self._profile.is_new(self._others), 0, self._profile.rest)

    def _said(self, place: int, effect: float, p: float) -> Iterator[Moved]:
        """What happened to a described feature."""
        number = int(self._profile.columns[place])
        feature, (n, n_known) = self._feature(number), self._n
        if feature is not None and feature.column.kind == "date":
            return
        share, known = self._present[place] / n, self._profile.present[place] / n_known
        values, usual = self._values(number), self._quantiles(place)
        kind, words, curves, shares = "", "", None, None
        if feature is None or feature.part in ("number", "place"):
            kind, words = of_numbers(self._name(number), values, usual, abs(share - known) >= 0.8 * effect)
        if kind:
            curves = self._curves(place, values[0])
        else:
            kind, shares = "more often" if share > known else "less often", (float(share), float(known))
            words = f"{self._there(number, feature)} in {percent(share)} of the rows, in training in {percent(known)}"
        yield Moved(*self._column_of(number, feature), kind, words, effect, p, number, shares, curves)

    def _curves(self, place: int, values: Doubles) -> tuple[Curve, Curve]:
        """The values of a feature here, and in training."""
        knots = self._undone(int(self._profile.columns[place]), self._profile.knots[place].astype(np.float64))
        known = self._profile.below[place] / self._n[1]
        return (np.quantile(values, _LEVELS).tolist(), _LEVELS.tolist()), (knots.tolist(), known.tolist())

    def _unseen(self) -> Iterator[Moved]:
        """Columns of categories with values that are new."""
        profile, (n, n_known) = self._profile, self._n
        if len(profile.absent) != len(self._ranges):
            return
        now = absent(self._rows, self._ranges)
        effect, p = self._of_presence(now, profile.absent)
        names = [name for name, _, _ in self._schema.ranges("category")]
        for place in np.flatnonzero((p * self._tests <= LEVEL) & (now / n > profile.absent / n_known)).tolist():
            words = (
                f"{percent(now[place] / n)} of the rows have a value of {names[place]!r} that training rows lack, or "
                f"none; {percent(profile.absent[place] / n_known)} were expected"
            )
            shares = float(now[place] / n), float(profile.absent[place] / n_known)
            p_value = float(p[place]) * self._tests
            yield Moved("column", names[place], "unseen", words, float(effect[place]), p_value, None, shares)

    def _said_of_other(self, place: int, effect: float, p: float) -> Iterator[Moved]:
        """What happened to a feature that is not described."""
        number, known = int(self._others[place]), self._known_of_others[place]
        feature = self._feature(number)
        if feature is not None and feature.column.kind == "date":
            return
        usual = f"{percent(known / self._n[1])} at most" if known else "none"
        shares = float(self._in_others[place] / self._n[0]), float(known / self._n[1])
        words = f"{self._there(number, feature)} in {percent(shares[0])} of the rows, in training in {usual}"
        yield Moved(*self._column_of(number, feature), "more often", words, effect, p, number, shares)

    def _new_features(self) -> Iterator[Moved]:
        """Rows with more features that training rows lack than training rows have, each compared with all others."""
        profile, (n, n_known) = self._profile, self._n
        shares = new_shares(self._rows, profile.is_new(self._rows.indices))
        apart = float((profile.fresh / n_known - at_most(shares, profile.fresh_knots) / n).max())
        p = float(self._bound(np.array(apart))) * self._tests
        if apart >= MATTERS and p <= LEVEL:
            words = f"{percent(shares.mean())} of what a row has, on average, is nothing that training rows have"
            yield Moved("rows", "new features", "new", words, apart, p)
        unknown = np.array([(shares == 1).sum()])
        effect, p_unknown = self._of_presence(unknown, np.array([profile.unknown]))
        if p_unknown[0] * self._tests <= LEVEL and unknown[0] / n > profile.unknown / n_known:
            words = f"{percent(unknown[0] / n)} of the rows have nothing that any training row has"
            yield Moved("rows", "known features", "unknown", words, float(effect[0]), float(p_unknown[0]) * self._tests)

    # ---- rows and scores -----------------------------------------------------------------------------------------

    def _lengths(self) -> Iterator[Moved]:
        for name, now, known in (
            ("number of features", np.diff(self._rows.indptr), self._detector.row_lengths_),
            ("size", np.sqrt(self._rows.squared_norms()), self._detector.row_norms_),
        ):
            apart, p = self._apart(now, known)
            if apart >= MATTERS and p <= LEVEL:
                here, usual = float(np.median(now)), float(np.median(known))
                kind = "longer" if here > usual else "shorter"
                words = f"rows have a median {name} of {number(here)}, in training {number(usual)}"
                yield Moved("rows", name, kind, words, apart, p)

    def _scores(self, scores: Doubles) -> Iterator[Moved]:
        """The share of flagged rows."""
        threshold, known = self._detector.threshold_, self._detector.outlier_scores_
        n, n_known = len(scores), len(known)
        now, usual = (scores >= threshold).sum(), (known >= threshold).sum()
        p = float(chance(np.array([now]), n, np.array([usual]), n_known)[0]) * self._tests
        share, expected = now / n, usual / n_known
        if p <= LEVEL and share > expected and matters(np.array([share]), np.array([expected]), n_known)[0]:
            words = f"{percent(share)} of the rows are flagged, {percent(expected)} of the training rows were"
            yield Moved("scores", "flagged", "more often", words, float(share - expected), p)

    # ---- tests ---------------------------------------------------------------------------------------------------

    def _bound(self, apart: Doubles) -> Doubles:
        return bound(apart, *self._n)

    def _apart(self, now: npt.NDArray[Any], known: npt.NDArray[Any]) -> tuple[float, float]:
        """The largest difference of two distributions at quantiles of the known one, and its p-value."""
        knots = np.unique(np.quantile(known, _LEVELS, method="lower")).astype(np.float32)
        apart = float(np.abs(at_most(now, knots) / len(now) - at_most(known, knots) / len(known)).max())
        return apart, float(bound(np.array(apart), len(now), len(known))) * self._tests

    def _of_presence(self, now: npt.NDArray[Any], known: npt.NDArray[Any]) -> tuple[Doubles, Doubles]:
        """The difference of shares, 0 where it does not matter, and its p-value, 1 there."""
        n, n_known = self._n
        fits = matters(now / n, known / n_known, n_known)
        difference = np.abs(now / n - known / n_known)
        return np.where(fits, difference, 0.0), np.where(fits, chance(now, n, known, n_known), 1.0)

    # ---- words ---------------------------------------------------------------------------------------------------

    def _feature(self, number: int) -> Feature | None:
        return self._schema.feature(number) if self._schema.columns else None

    def _name(self, number: int) -> str:
        feature, known = self._feature(number), getattr(self._detector, "feature_names_in_", None)
        if feature is not None and feature.part != "token":
            return repr(feature.column.name) if feature.part == "number" else repr(feature.name)
        if known is not None:
            return repr(str(known[number]))
        found = self._given(number) or self._detector.provenance_.tokens.get(str(number), "")
        return repr(found) if found else f"feature {number + (self._schema.zero_based is False)}"

    def _column_of(self, number: int, feature: Feature | None) -> tuple[str, str]:
        """What moves with the feature: its column, or the feature alone."""
        if feature is None or feature.part == "token":
            return "feature", self._name(number)
        return "column", feature.column.name

    def _there(self, number: int, feature: Feature | None) -> str:
        """What has a share of rows."""
        if feature is None or feature.part == "token":
            return f"{self._name(number)} is"
        if feature.part == "missing":
            return f"{feature.column.name!r} is missing"
        if feature.column.kind == "set":
            return f"{feature.column.name!r} has {feature.value!r}"
        return (
            f"{feature.column.name!r} is {feature.value!r}"
            if feature.part == "value"
            else f"{self._name(number)} is there"
        )

    def _values(self, number: int) -> tuple[Doubles, Doubles]:
        """The values of a feature as the user knows them: all of them, and those that are not zero to the model."""
        mine = self._rows.indices == number
        there, n_zeros = self._rows.data[mine].astype(np.float64), self._rows.n_rows - int(mine.sum())
        return self._undone(number, np.concatenate([there, np.zeros(n_zeros)])), self._undone(number, there)

    def _quantiles(self, place: int) -> Doubles:
        """Evenly spaced quantiles of the values of a feature that are not zero in training."""
        knots = self._profile.knots[place].astype(np.float64)
        return self._undone(int(self._profile.columns[place]), np.delete(knots, np.flatnonzero(knots == 0)[0]))

    def _undone(self, number: int, values: Doubles) -> Doubles:
        feature = self._feature(number)
        if feature is None or not feature.column.scales:
            return values
        first = self._schema.n_tokens
        return self._schema.scales.undo(np.full(len(values), number - first), values)
