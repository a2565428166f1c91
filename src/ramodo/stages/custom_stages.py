"""Adapters for user-defined stages: defaults for everything a fit asks of built-in stages, and checks of results."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.labels import Labels
from ..model.representation import Representation, SparseLayer
from .protocols import COUNTED, OF_OTHERS, Candidates, Floats, Guarantee, Integers, Scores
from .result_checks import are_finite, checked_candidates, checked_scores, stage_error


class AdaptedThresholder:
    """A thresholder that receives only the arguments it takes, and whose candidates are checked."""

    def __init__(self, stage: Any) -> None:
        self.adapted = stage
        self._asks = "n_elsewhere" in inspect.signature(stage.split).parameters

    def split(self, scores: Scores, labels: Labels, n_elsewhere: int) -> Candidates:
        """Return checked candidates. They may lack outliers if some are known outside X, or all rows are inliers."""
        asked = {"n_elsewhere": n_elsewhere} if self._asks else {}
        found = self.adapted.split(scores, labels, **asked)
        enough = n_elsewhere > 0 or bool((labels == 1).any()) or bool((labels == -1).all())
        return checked_candidates(self.adapted, found, len(scores), enough)


class AdaptedCutoff:
    """A cut-off with all methods of `Cutoff`, whose threshold is checked."""

    def __init__(self, stage: Any) -> None:
        self.adapted = stage

    @property
    def by_evidence(self) -> bool:
        """Whether the rule uses the evidence of views instead of scores."""
        return bool(getattr(self.adapted, "by_evidence", False))

    @property
    def needs_held_out(self) -> bool:
        """Whether it compares with rows that training did without."""
        return bool(getattr(self.adapted, "needs_held_out", False))

    @property
    def fdr(self) -> float:
        """The rate of false discoveries that the rule controls."""
        return float(self.adapted.fdr)

    @property
    def copies_once(self) -> bool:
        """Whether rows with the same score count once."""
        return bool(getattr(self.adapted, "copies_once", False))

    def stand_out(self, evidence: Scores, bulk: Scores, heaviest: float, n_rows: int) -> npt.NDArray[np.bool_]:
        """Return a mask of the rows that stand out by their evidence."""
        return np.asarray(self.adapted.stand_out(evidence, bulk, heaviest, n_rows))

    def bound(self) -> float:
        """Return the largest possible share of scores at or above the threshold, or NaN if that is not known."""
        return float(getattr(self.adapted, "bound", lambda: np.nan)())

    def hold_out(self, candidates: Integers, rng: np.random.Generator) -> Integers:
        """Return rows that training must not use."""
        return self._ask("hold_out", candidates, rng)

    def cutoff_from(self, scores: Scores, held_out: Scores) -> float:
        """Return the threshold for the final scores."""
        if not hasattr(self.adapted, "cutoff_from"):
            found = self.adapted.cutoff(scores)
        else:
            found = self.adapted.cutoff_from(scores, held_out)
        return self._checked(found)

    def n_folds(self) -> int:
        """Return the number of models of a fit."""
        return int(self.adapted.n_folds()) if hasattr(self.adapted, "n_folds") else 1

    def cutoff_of_folds(self, folds: Sequence[Scores]) -> float:
        """Return the threshold, where each row was scored by the model that did not see it."""
        return self._checked(self.adapted.cutoff_of_folds(folds))

    def _checked(self, found: Any) -> float:
        return float(checked_scores("cutoff", self.adapted, [found], 1)[0])

    def guarantee(self, is_training: bool, finds_nothing: bool) -> Guarantee:
        """Return what can be said about the rows that it flags."""
        if hasattr(self.adapted, "guarantee"):
            return Guarantee(*self.adapted.guarantee(is_training, finds_nothing))
        rule = f"a custom rule, {type(self.adapted).__name__}"
        return Guarantee(rule, COUNTED if is_training else OF_OTHERS)

    @property
    def sets_number(self) -> bool:
        """Whether the rule flags a fixed number or share of the rows, whatever their scores."""
        return bool(getattr(self.adapted, "sets_number", False))

    def flags_of_noise(self, n_rows: int) -> int | None:
        """Return about how many of `n_rows` rows without outliers would be flagged, or None if unknown."""
        found: int | None = getattr(self.adapted, "flags_of_noise", lambda _: None)(n_rows)
        return found

    def _ask(self, method: str, *given: Any) -> Any:
        return getattr(self.adapted, method)(*given) if hasattr(self.adapted, method) else np.empty(0, dtype=np.int64)


class AdaptedLoss:
    """A loss whose results are checked; it runs in Python only."""

    native = None
    is_relative = False

    def __init__(self, loss: Any) -> None:
        self.adapted = self._loss = loss

    def __call__(self, rows: npt.NDArray[np.float32], triplets: npt.NDArray[np.int32]) -> tuple[float, Any]:
        result = self._loss(rows, triplets)
        if not isinstance(result, tuple) or len(result) != 2:
            raise stage_error(
                "loss", self._loss, f"a {type(result).__name__}", "a pair: the mean loss and its gradient"
            )
        value, gradient = np.asarray(result[0]), np.asarray(result[1])
        if value.shape != () or gradient.shape != rows.shape or not (are_finite(value) and are_finite(gradient)):
            raise stage_error(
                "loss",
                self._loss,
                f"the loss {value if value.shape == () else value.shape} and a gradient of shape {gradient.shape}",
                f"a finite loss and a finite gradient of shape {rows.shape}",
            )
        return float(value), gradient.astype(np.float32)


class AdaptedRepresentation:
    """A representation whose head is checked; only the sums of its first layer are native."""

    is_native = False
    slope = 1.0

    def __init__(self, stage: Any) -> None:
        self.adapted = stage
        self.first_width: int = stage.first_width

    def shape(self) -> str:
        """Return a description of the network. A warm start reuses weights only if it is unchanged."""
        stage = self.adapted
        described = getattr(stage, "widths", None), getattr(stage, "slope", None)
        return repr((type(stage).__name__, int(self.first_width), *described))

    def training_head(self, rng: np.random.Generator, optimizer: Any, previous: Representation | None) -> CheckedHead:
        """Return the head, which updates its own parameters."""
        return CheckedHead(self.adapted, self.adapted.head(rng))

    def fitted(self, first: SparseLayer, head: Any) -> Representation:
        """Return the trained representation."""
        return Representation(first, head=head)


class CheckedHead:
    """A user-defined head, whose results are checked."""

    def __init__(self, stage: Any, head: Any) -> None:
        if not (hasattr(head, "forward") and hasattr(head, "backward")):
            raise stage_error("representation", stage, f"the head {head!r}", "an object with forward and backward")
        self._stage, self._head = stage, head

    def forward(self, hidden: Floats) -> Floats:
        rows = np.asarray(self._head.forward(hidden))
        if rows.ndim != 2 or len(rows) != len(hidden) or not are_finite(rows):
            raise stage_error(
                "representation",
                self._stage,
                f"an array of shape {rows.shape}, or with NaN or infinity",
                f"{len(hidden)} rows of finite numbers",
            )
        return np.ascontiguousarray(rows, dtype=np.float32)

    def backward(self, gradient: Floats) -> Floats:
        result = np.asarray(self._head.backward(gradient))
        width = self._stage.first_width
        if result.shape != (len(gradient), width) or not are_finite(result):
            raise stage_error(
                "representation",
                self._stage,
                f"a gradient of shape {result.shape}, or with NaN or infinity",
                f"finite numbers of shape {(len(gradient), width)}",
            )
        return result.astype(np.float32)
