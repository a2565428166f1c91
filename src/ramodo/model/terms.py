"""The score of a row is a sum of terms.

A term scores rows, can say exactly what each feature adds to its scores, and can be saved. Terms compose:

    LearnedDistance      the distance to references in a learned representation      learned.py
    OriginalDistance     the distance to references in the original features         original.py
    Rarity               how few training rows have the features of a row            rarity.py
    LabelDirection       how far a row lies towards labelled outliers                label_direction.py
    Mean                 of several terms, each in its own unit                      combining.py
    Normalized           a term of rows that are normalised first                    combining.py
    Evidence             how unusual a row is to several terms, each in its own way  evidence.py
    Sum                  of several terms, each with a weight                        combining.py
    ByFold               the term that was not trained on rows such as this          by_fold.py

`Model` is their weighted sum.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..data.blocks import Block
from ..data.rows import Rows, Show
from ..data.validation import DataError

if TYPE_CHECKING:
    from .evidence import Evidence
    from .learned import LearnedDistance
    from .parts import Part
    from .references import Origin
    from .saved import Saved

Scores = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]
Tensors = dict[str, npt.NDArray[Any]]


_DENSE_VALUES = 1 << 24
"""Maximum number of values to make dense at a time when a model of dense rows scores sparse rows."""


class Term(ABC):
    """One summand of a score."""

    kind: ClassVar[str]
    """The name of this kind of term, in files and for people."""

    @abstractmethod
    def score(self, block: Block, n_threads: int, normalize: str | None = None) -> Scores:
        """Return one number per row, which depends on that row alone; higher is more outlying.

        `normalize` says how the rows of the block are normalised; the term normalises its references likewise.
        """

    @abstractmethod
    def parts(self, weight: float, normalize: str | None) -> list[Part]:
        """Return the parts of `weight` times the term, for rows normalised as given."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Return the numbers to save, ready for JSON."""

    def breakdown(self, block: Block, n_threads: int, normalize: str | None = None) -> dict[str, Scores]:
        """Return named parts of the scores, which sum to `score`."""
        return {str(self): self.score(block, n_threads, normalize)}

    def tensors(self) -> Tensors:
        """Return the arrays to save, by name."""
        return {}

    @classmethod
    @abstractmethod
    def read(cls, saved: Saved, inner: tuple[Term, ...]) -> Term:
        """Restore a term from its facts, tensors and inner terms; raise if they are inconsistent."""

    def compared_with(self) -> Origin | None:
        """Return the training rows that distances are measured to, or None."""
        return None

    def inner(self) -> tuple[Term, ...]:
        """Return the terms that this one is composed of."""
        return ()

    def inner_normalize(self, normalize: str | None) -> str | None:
        """Return the normalisation of rows for inner terms, given that for this term."""
        return normalize

    def all(self, normalize: str | None = None) -> Iterator[tuple[Term, str | None]]:
        """Yield this term and all terms within it, each with the normalisation of the rows it sees."""
        yield self, normalize
        for term in self.inner():
            yield from term.all(self.inner_normalize(normalize))

    def __str__(self) -> str:
        """Describe the term for people."""
        return self.kind


@dataclass(frozen=True)
class Model:
    """A weighted sum of terms."""

    terms: tuple[Term, ...]
    weights: tuple[float, ...] = (1.0,)

    def score(self, rows: Rows, n_threads: int, show: Show | None = None) -> Scores:
        """Return one score per row; depends on that row alone."""
        return rows.gather(partial(self.score_block, n_threads=n_threads), show)

    def score_block(self, block: Block, n_threads: int) -> Scores:
        """Do the same for rows in memory."""
        spread_out = block.is_sparse and not self.as_fitted(block.part(0, 0)).is_sparse
        most = max(1, _DENSE_VALUES // block.n_features) if spread_out else block.n_rows
        if most < block.n_rows:
            parts = (block.part(i, min(i + most, block.n_rows)) for i in range(0, block.n_rows, most))
            return np.concatenate([self.score_block(part, n_threads) for part in parts])
        distinct = self.as_fitted(block).distinct(n_threads)
        scores = distinct.each(self.total([term.score(distinct.rows, n_threads) for term in self.terms]))
        if not np.isfinite(scores).all():
            raise DataError("scores are not finite: the weights of this model are damaged, or X is beyond its reach.")
        return scores

    def as_fitted(self, block: Block) -> Block:
        """Return the rows, sparse or dense as the training rows were: the last bits of scores depend on it."""
        return next((origin.rows.matching(block) for origin in self.origins()), block)

    def total(self, scores: list[Scores]) -> Scores:
        """Return the weighted sum, given the scores of each term."""
        return added([weight * one for weight, one in zip(self.weights, scores, strict=True)])

    def parts(self) -> list[Part]:
        """What each feature adds to each term."""
        pairs = zip(self.terms, self.weights, strict=True)
        return [part for term, weight in pairs for part in term.parts(weight, None)]

    def _of_kind(self, kind: str) -> Iterator[tuple[Any, str | None]]:
        """Yield all terms of a kind at any depth, each with the normalisation of the rows it sees."""
        return (pair for top in self.terms for pair in top.all() if pair[0].kind == kind)

    @property
    def learned(self) -> tuple[LearnedDistance, ...]:
        """The representations, with the detector in each."""
        return tuple(term for term, _ in self._of_kind("learned distance"))

    @property
    def evidence(self) -> Evidence | None:
        """The evidence of several views, if the score is made of it."""
        return next((term for term, _ in self._of_kind("evidence")), None)

    @property
    def views(self) -> tuple[Evidence, str | None]:
        """The evidence of several views, and the normalisation of the rows that it sees."""
        return next(self._of_kind("evidence"))

    def origins(self) -> list[Origin]:
        """Return the reference rows of each term; explanations name the nearest of the first term."""
        found = (term.compared_with() for top in self.terms for term, _ in top.all())
        return [origin for origin in found if origin is not None]

    @property
    def normalize(self) -> str | None:
        """How rows are normalised before the first representation sees them."""
        return next((how for _, how in self._of_kind("learned distance")), None)

    @property
    def by_fold(self) -> tuple[Model, ...]:
        """The model of each fold, if rows are scored by fold; else none."""
        is_by_fold = len(self.terms) == 1 and self.terms[0].kind == "by fold"
        return tuple(Model((term,)) for term in self.terms[0].inner()) if is_by_fold else ()

    @property
    def n_calibration(self) -> tuple[int, ...]:
        """Number of training rows of each fold that are like new rows to its model."""
        return tuple(self.terms[0].facts()["n_calibration"]) if self.by_fold else ()

    def breakdown(self, block: Block, n_threads: int) -> dict[str, Scores]:
        """What each named view or term adds to the scores of rows."""
        found: dict[str, Scores] = {}
        for term, weight in zip(self.terms, self.weights, strict=True):
            found |= {name: weight * scores for name, scores in term.breakdown(block, n_threads).items()}
        return found

    def names(self) -> tuple[str, ...]:
        """Return the terms, described for people."""
        return tuple(map(str, self.terms))

    @property
    def has_labels(self) -> bool:
        """Whether labelled outliers enter the score."""
        return any(True for _ in self._of_kind("label direction"))

    def transform(self, rows: Rows, n_threads: int) -> Floats:
        """Return all representations of each row, side by side."""
        return rows.gather(partial(self.transform_block, n_threads=n_threads))

    def transform_block(self, block: Block, n_threads: int) -> Floats:
        """Do the same for rows in memory."""
        learned = list(self._of_kind("learned distance"))
        seen = {how: block.normalized(how, n_threads) for how in {how for _, how in learned}}
        parts = [term.representation.transform(seen[how], n_threads) for term, how in learned]
        return parts[0] if len(parts) == 1 else np.hstack(parts)


def added(scores: list[Scores]) -> Scores:
    """Return the sum, term by term, because NumPy's own sum adds in another order for a single row than for several."""
    total = scores[0]
    for one in scores[1:]:
        total = total + one
    return total


def offset_of(threshold: float) -> float:
    """scikit-learn flags scores below the offset, the paper those at or above the threshold: one step apart."""
    return float(np.nextafter(-threshold, np.inf))
