"""Terms made of terms."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import starmap
from typing import Any, ClassVar

from ..data.blocks import Block
from .parts import Part
from .saved import SMALLEST_UNIT, Saved, require
from .terms import Scores, Term, added

_MADE_ONE = {"l2": "length", "max": "largest absolute value"}
"""How rows can be normalised, and which quantity of a row becomes 1."""


@dataclass(frozen=True)
class Mean(Term):
    """The mean of several terms, each in its own unit: the standard deviation of its scores of the training rows."""

    terms: tuple[Term, ...]
    units: tuple[float, ...]
    kind: ClassVar[str] = "mean"

    def score(self, block: Block, n_threads: int, normalize: str | None = None) -> Scores:
        return self.of([term.score(block, n_threads, normalize) for term in self.terms])

    def of(self, scores: list[Scores]) -> Scores:
        """Return the mean, given the scores of each term."""
        return added([one / unit for one, unit in zip(scores, self.units, strict=True)]) / len(scores)

    def parts(self, weight: float, normalize: str | None) -> list[Part]:
        pairs = zip(self.terms, self.units, strict=True)
        return [part for term, unit in pairs for part in term.parts(weight / len(self.terms) / unit, normalize)]

    def facts(self) -> dict[str, Any]:
        return {"units": list(self.units)}

    @classmethod
    def read(cls, saved: Saved, inner: tuple[Term, ...]) -> Mean:
        units = saved.reals("units", low=SMALLEST_UNIT)
        require(len(units) == len(inner) > 0, "a mean has not one unit for each of its terms")
        return cls(inner, tuple(units))

    def inner(self) -> tuple[Term, ...]:
        return self.terms

    def __str__(self) -> str:
        return f"mean of {' and '.join(starmap(_counted, Counter(map(str, self.terms)).items()))}"


def _counted(name: str, n: int) -> str:
    """Return a term's name with its count, in the plural if there are several."""
    kind, comma, rows = name.partition(",")
    return f"{n} {kind}{'s' * (n > 1)}{comma}{rows}"


@dataclass(frozen=True)
class Normalized(Term):
    """A term of rows of length 1 ("l2") or largest absolute value 1 ("max")."""

    term: Term
    how: str
    kind: ClassVar[str] = "normalized"

    def score(self, block: Block, n_threads: int, normalize: str | None = None) -> Scores:
        return self.term.score(block.normalized(self.how, n_threads), n_threads, self.how)

    def breakdown(self, block: Block, n_threads: int, normalize: str | None = None) -> dict[str, Scores]:
        return self.term.breakdown(block.normalized(self.how, n_threads), n_threads, self.how)

    def parts(self, weight: float, normalize: str | None) -> list[Part]:
        return self.term.parts(weight, self.how)

    def facts(self) -> dict[str, Any]:
        return {"how": self.how}

    @classmethod
    def read(cls, saved: Saved, inner: tuple[Term, ...]) -> Normalized:
        require(len(inner) == 1, "not one term is normalised")
        return cls(inner[0], saved.text("how", tuple(_MADE_ONE)))

    def inner(self) -> tuple[Term, ...]:
        return (self.term,)

    def inner_normalize(self, normalize: str | None) -> str | None:
        return self.how

    def __str__(self) -> str:
        return f"{self.term}, of rows whose {_MADE_ONE[self.how]} is 1"


@dataclass(frozen=True)
class Sum(Term):
    """The weighted sum of several terms, as a term."""

    terms: tuple[Term, ...]
    weights: tuple[float, ...]
    kind: ClassVar[str] = "sum"

    def score(self, block: Block, n_threads: int, normalize: str | None = None) -> Scores:
        pairs = zip(self.terms, self.weights, strict=True)
        return added([weight * term.score(block, n_threads, normalize) for term, weight in pairs])

    def breakdown(self, block: Block, n_threads: int, normalize: str | None = None) -> dict[str, Scores]:
        pairs = zip(self.terms, self.weights, strict=True)
        each = [(term.breakdown(block, n_threads, normalize), weight) for term, weight in pairs]
        return {name: weight * scores for found, weight in each for name, scores in found.items()}

    def parts(self, weight: float, normalize: str | None) -> list[Part]:
        pairs = zip(self.terms, self.weights, strict=True)
        return [part for term, own in pairs for part in term.parts(weight * own, normalize)]

    def facts(self) -> dict[str, Any]:
        return {"weights": list(self.weights)}

    @classmethod
    def read(cls, saved: Saved, inner: tuple[Term, ...]) -> Sum:
        weights = saved.reals("weights", low=0.0)
        require(len(weights) == len(inner) > 0, "a sum has not one weight for each of its terms")
        return cls(inner, tuple(weights))

    def inner(self) -> tuple[Term, ...]:
        return self.terms

    def __str__(self) -> str:
        return " and ".join(map(str, self.terms))
