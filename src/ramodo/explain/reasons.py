"""The explanation of one row: its score as a sum of reasons, of what it lacks, and of everything else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple, Self

ENOUGH = 0.8
"""Reasons explain a score if they make up this share of it."""

_NO_SINGLE = 0.25
"""If the strongest reason is below this share of the score, no single reason explains it."""

_THIN = 0.01
"""Below this share of the score a reason says nothing."""

USUAL = 0.5
"""A feature is usual if at least this share of the reference rows have it."""

_SAME = 0.01
"""A value counts as usual if it differs from the mean by less than this share of it."""

_ALWAYS = ("column", "feature", "value", "contribution", "share", "mean")
"""Fields of every reason in JSON."""

_VIEWS = 4
"""Number of views to name in one line; the others are summed up."""


_NEVER_SEEN = "never seen in training"
"""Of a category that no training row had."""


class Span(NamedTuple):
    """Characters of a document from `begin` up to `end`, and what they add to its score."""

    begin: int
    end: int
    contribution: float


@dataclass(frozen=True, kw_only=True)
class Reason:
    """What one feature adds to a row's score, its value there, and what is typical of the reference rows.

    For documents, a reason is a run of characters: the tokens inside it, added up. What is typical then describes
    the rarest of them: tokens that share a feature by chance can make a run look more usual, and never rarer.
    """

    column: int
    feature: str
    value: float
    contribution: float
    share: float
    """Share of the reference rows that have the feature."""
    mean: float
    """Typical value in the reference rows that have the feature: the mean on the scale that rows are compared on."""
    spans: tuple[Span, ...] = ()
    """Where it occurs in the document."""
    merged: int = 1
    """Number of features that were added up."""
    rows: int | None = None
    """Upper bound on the number of training documents that have it; None if they were not counted."""
    n_rows: int = 0
    """Number of training documents that were counted."""
    shown: str = ""
    """How the value is written if it is not a plain number: 03:12."""
    usual: str = ""
    """What is usual, if a share and a mean cannot express it."""

    @classmethod
    def unseen(cls, column: int, feature: str, value: str, contribution: float) -> Self:
        """A category that no training row had."""
        facts: dict[str, Any] = {"value": 0.0, "share": 0.0, "mean": 0.0, "shown": value, "usual": _NEVER_SEEN}
        return cls(column=column, feature=feature, contribution=contribution, **facts)

    def compared(self) -> str:
        """Return how the value differs from the usual one; empty if most reference rows lack the feature."""
        if self.share < USUAL or not self.value or self.shown:
            return ""
        more, less = ("more", "fewer") if self.spans else ("higher", "lower")
        is_same = abs(self.value - self.mean) < _SAME * abs(self.mean)
        return "" if is_same else f"{more if self.value > self.mean else less} than usual"

    def is_there(self) -> bool:
        """Return whether the value only says that the feature is present, as for a run or a category."""
        return not self.compared() if self.spans else self.value == 1 and self.mean == bool(self.share)

    def written(self) -> str:
        """Return the value as text."""
        return self.shown or _number(self.value, 4)

    def in_words(self) -> str:
        """Return the feature with its value, the feature alone if it is merely present, or that the row lacks it."""
        if not self.value and not self.shown:
            return f"lacks {self.feature}"
        return self.feature if self.is_there() else f"{self.feature} = {self.written()}"

    def in_short(self) -> str:
        """The same, with what is to be known of a category that no training row had."""
        return self.in_words() + f", {_NEVER_SEEN}" * (self.usual == _NEVER_SEEN)

    def typical(self) -> str:
        """What is usual, in words."""
        if self.shown:
            return self.usual
        if self.rows is not None and self.share < USUAL:
            return f"in {f'at most {self.rows:,}' if self.rows else 'none'} of {self.n_rows:,} rows"
        if not self.share:
            return "in no reference"
        compared = self.compared()
        said = [f"in {_percent(self.share)} of references"] * (self.share < 1 or self.is_there())
        said += [f"typically {_number(self.mean, 3)}"] * (not self.is_there())
        return f"{compared}{': ' * bool(compared)}{', '.join(said)}"

    def to_dict(self) -> dict[str, Any]:
        """Return a dict for JSON, with those optional facts that exist."""
        said: dict[str, Any] = {name: getattr(self, name) for name in _ALWAYS}
        if self.spans:
            said["spans"] = [list(span) for span in self.spans]
        if self.rows is not None:
            said |= {"rows": self.rows, "n_rows": self.n_rows}
        if self.shown:
            said |= {"shown": self.shown, "usual": self.usual}
        return said


@dataclass(frozen=True)
class Lacks:
    """Features that a row lacks and its references have: their number `n` and their total contribution."""

    contribution: float
    n: int
    strongest: tuple[Reason, ...]
    """The features whose absence changes the score most, up or down."""
    usual: tuple[Reason, ...] = ()
    """The strongest features that most references have and whose absence raises the score."""

    def in_words(self, most: int = 3) -> str:
        """Return one line of text, or an empty one if the row lacks nothing."""
        if not self.n:
            return ""
        named = [reason.feature for reason in self.usual[:most]]
        more = self.n - len(named)
        if not named:
            return f"lacks what similar rows have: {_features(self.n)}"
        return f"lacks what most rows have: {', '.join(named)}{f' and {more:,} more' * bool(more)}"

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "contribution": self.contribution,
            "features": self.n,
            "strongest": [reason.to_dict() for reason in self.strongest],
            "usual": [reason.to_dict() for reason in self.usual],
        }


@dataclass(frozen=True)
class Seen:
    """What one view of a row adds to its score."""

    view: str
    contribution: float


NOTHING_LACKED = Lacks(0.0, 0, ())


@dataclass(frozen=True, kw_only=True)
class RowExplanation:
    """A row's score as a sum: what it has, strongest first; `lacks`; and `rest`, all other features together."""

    row: int
    score: float
    percentile: float
    reasons: tuple[Reason, ...]
    rest: float
    nearest: tuple[int, ...]
    """The training rows behind the nearest references, nearest first."""
    views: tuple[Seen, ...] = ()
    """What each view, or term of the score, adds; strongest first. These sum to the score, too."""
    lacks: Lacks = NOTHING_LACKED
    n_reasons: int = 0
    """Number of all reasons; `reasons` holds the strongest."""
    id: str = ""
    """The id of the row in the data; empty if there are no ids."""
    nearest_ids: tuple[str, ...] = ()
    """The ids of the nearest training rows, or their numbers."""

    @property
    def name(self) -> str:
        """The id of the row, or its number."""
        return self.id or str(self.row)

    def __str__(self) -> str:
        return self.as_text(f"row {self.name}", self.nearest_ids or list(map(str, self.nearest)))

    def others(self) -> list[tuple[str, float]]:
        """Return what the row lacks, and all other features, in words with their contributions.

        Together with the reasons they sum to the score.
        """
        return [(self.lacks.in_words(), self.lacks.contribution)] * bool(self.lacks.n) + [
            ("all other features", self.rest)
        ]

    def as_text(self, name: str, nearest: Sequence[str]) -> str:
        """Return several lines of text, given names for the row and the nearest training rows."""
        lines = [f"{name}: score {self.score:.6g}, above {above(self.percentile)} % of the training rows"]
        said = [(reason, reason.in_words()) for reason in self.reasons]
        width = min(60, max((len(text) for _, text in said), default=0))
        lines += [f"  {reason.contribution:+10.4g}  {text:<{width}} {reason.typical()}" for reason, text in said]
        lines += [f"  {amount:+10.4g}  {text}" for text, amount in self.others()]
        lines += [f"  {said}" for said in (self.spread(), f"by: {self.by()}" if self.by() else "") if said]
        return "\n".join([*lines, f"  nearest training rows: {', '.join(nearest)}"])

    def by(self) -> str:
        """Return the views that add most to the score, in one line; empty if there is only one."""
        if len(self.views) < 2:
            return ""
        shown = [f"{seen.view} {seen.contribution:.3g}" for seen in self.views[:_VIEWS]]
        others = sum(seen.contribution for seen in self.views[_VIEWS:])
        return ", ".join(shown + [f"{_counted(len(self.views) - _VIEWS)} {others:.3g}"] * (len(self.views) > _VIEWS))

    def thin(self) -> str:
        """Return a sentence if the score is spread over too many features to name a few; otherwise an empty string."""
        strongest = max((reason.contribution for reason in self.reasons), default=0.0)
        runs = any(reason.spans for reason in self.reasons)
        if runs or not 0 < strongest < _THIN * self.score or 2 * self.lacks.contribution > self.score:
            return ""
        return f"spread over {self.n_reasons:,} features; no single one"

    def spread(self) -> str:
        """Return in words how much of the score the reasons explain; empty if they and the lacks make up 80 %."""
        raising = [reason.contribution for reason in self.reasons if reason.contribution > 0]
        if not raising or self.score <= 0 or sum(raising) + self.lacks.contribution >= ENOUGH * self.score:
            return ""
        thin = self.thin()
        if thin:
            return f"{thin}: the strongest {len(raising)} make {_percent(sum(raising) / self.score)} of the score"
        start = "no single reason: " if max(raising) < _NO_SINGLE * self.score else ""
        n = max(self.n_reasons, len(raising))
        strongest = f"the strongest {len(raising)} of " if n > len(raising) else ""
        what = "run{} of characters" if any(reason.spans for reason in self.reasons) else "feature{}"
        makes = f"make{'s' * (n == 1)} {_percent(sum(raising) / self.score)} of the score"
        return f"{start}{strongest}{n:,} {what.format('s' * (n > 1))} {makes}"

    def to_dict(self) -> dict[str, Any]:
        """Lists, dicts and numbers, ready for JSON."""
        return {
            "row": self.row,
            "score": self.score,
            "percentile": self.percentile,
            "rest": self.rest,
            "lacks": self.lacks.to_dict(),
            "nearest": list(self.nearest),
            "views": [vars(seen) for seen in self.views],
            "reasons": [reason.to_dict() for reason in self.reasons],
        }

    def as_html(self) -> str:
        """A table with bars, for notebooks. Names are escaped: a feature called `<script>` stays text."""
        largest = max(abs(self.score), *(abs(reason.contribution) for reason in self.reasons), 0.0) or 1.0
        lines = [
            f"<tr><td>{escape(r.feature)}</td><td>{escape(r.written())}</td><td>{r.contribution:+.4g}</td><td>"
            f"<div style='width:{100 * abs(r.contribution) / largest:.0f}px;height:0.8em;"
            f"background:{'#c0392b' if r.contribution > 0 else '#2980b9'}'></div></td>"
            f"<td>{escape(r.typical())}</td></tr>"
            for r in self.reasons
        ]
        lines += [f"<tr><td>{escape(text)}</td><td></td><td>{amount:+.4g}</td></tr>" for text, amount in self.others()]
        said = [text for text in (self.spread(), f"by: {self.by()}" if self.by() else "") if text]
        return (
            f"<p><b>row {escape(self.name)}</b>: score {self.score:.6g}, above {above(self.percentile)} % of the "
            "training rows</p><table>"
            "<tr><th>feature</th><th>value</th><th>contribution</th><th></th><th>typical</th></tr>"
            f"{''.join(lines)}</table>{''.join(f'<p>{escape(text)}</p>' for text in said)}"
        )


def above(percentile: float) -> str:
    """Return a share of rows in percent, rounded to 100 only if it is all of them."""
    return "100" if percentile == 100 else f"{min(percentile, 99.99):.4g}"


def _number(value: float, digits: int) -> str:
    """Return a number as people write it: 30,258 and not 3.026e+04."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.{digits}g}"


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.99 else f"{100 * share:.3g} %"


def _counted(n: int) -> str:
    return f"{n} other view{'s' * (n > 1)}"


def _features(n: int) -> str:
    return f"{n:,} feature{'s' * (n > 1)}"
