"""The checked rows of a fit, with their labels and groups."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _get_feature_names

from ..data.blocks import Block
from ..data.labels import Labels, read_labels, refuse_contradictions, warn_of_predictions
from ..data.rows import Rows
from ..data.validation import DataError, open_rows, open_with_facts
from ..options import OptionError
from ..stages.assembling import Stages

Integers = npt.NDArray[np.int64]

FEWEST_ROWS = 3
"""A query, a positive and a negative."""


_FEWEST_GROUPS = 100
"""Minimum number of groups: with fewer, too few rows would be left to compare with."""


@dataclass(frozen=True, kw_only=True)
class TrainingData:
    """The rows of X with their labels, and labelled rows outside X."""

    rows: Rows
    labels: Labels
    outliers: Block | None
    inliers: Block | None
    n_seen: int
    largest: float
    held_out: Integers
    """Rows kept out of training, for the final cut-off alone."""
    groups: Integers | None = None
    """The group number of each row. For what is usual, rows of one group count once. None: no groups."""
    copies: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """Copies of other rows, which are scored but not trained on."""

    @cached_property
    def left_out(self) -> Integers:
        """The rows that are not trained on, in order."""
        out = np.zeros(self.rows.n_rows, dtype=bool)
        out[self.held_out] = out[self.copies] = True
        return _frozen(np.flatnonzero(out))

    def thinned(self) -> Self:
        """Mark copies: of n equal, unlabelled rows, keep √n and mark the others.

        So a repeated event counts as ordinary but does not hide others by its sheer number.
        """
        codes = self.rows.folds(1 << 32)
        order = np.argsort(codes, kind="stable")
        _, starts, counts = np.unique(codes[order], return_index=True, return_counts=True)
        place = np.arange(len(order)) - np.repeat(starts, counts)  # among its equals
        further = order[place >= np.ceil(np.sqrt(np.repeat(counts, counts)))]
        return replace(self, copies=np.sort(further[self.labels[further] == 0]))

    @cached_property
    def eligible(self) -> Integers:
        """The rows that may be references, in order: a row close to a known outlier must not look normal."""
        allowed = self.labels != 1
        allowed[self.left_out] = False
        return _frozen(np.flatnonzero(allowed))

    def to_draw_from(self, rng: np.random.Generator) -> Integers:
        """Return rows that may be references, one random row per group: a scan must not make its own requests usual."""
        eligible = self.eligible
        if self.groups is None:
            return eligible
        mixed = rng.permutation(eligible)
        found = np.sort(mixed[np.unique(self.groups[mixed], return_index=True)[1]])
        return found if len(found) >= _FEWEST_GROUPS else eligible

    @property
    def labels_of_candidates(self) -> Labels:
        """Labels for choosing candidates: held-out rows must not be chosen, so they count as known inliers."""
        labels = self.labels.copy()
        labels[self.held_out] = -1
        return labels

    def extra(self) -> list[Block]:
        """Outliers first, then inliers."""
        return [rows for rows in (self.outliers, self.inliers) if rows is not None]

    @property
    def n_labeled_outliers(self) -> int:
        """Number of known outliers, in X and outside it."""
        return int((self.labels == 1).sum()) + (self.outliers.n_rows if self.outliers is not None else 0)


@dataclass(frozen=True)
class Given:
    """The arguments of `fit`, unchecked."""

    X: Any
    labels: Any
    labeled_outliers: Any
    labeled_inliers: Any
    groups: Any = None


def open_training_data(
    given: Given, stages: Stages, normalize: str | None, seed: np.random.SeedSequence, n_threads: int
) -> TrainingData:
    """Check everything, and keep rows out of training where the cut-off asks for it."""
    rows, facts = open_with_facts(given.X, n_threads=n_threads)
    names = _get_feature_names(given.X)
    names = rows.learned_attributes().get("feature_names_in_") if names is None else names
    if rows.n_rows < FEWEST_ROWS:
        raise DataError(
            f"X has n_samples = {rows.n_rows}; at least {FEWEST_ROWS} are needed: a query, a positive and a negative."
        )
    labels = read_labels(given.labels, rows.n_rows)
    if (labels == 1).all():
        raise OptionError("no inlier candidates are left: labels say that every row of X is a known outlier (1).")
    warn_of_predictions(labels)
    outliers, largest_outlier = _open_extra(rows, names, "labeled_outliers", given.labeled_outliers)
    inliers, largest_inlier = _open_extra(rows, names, "labeled_inliers", given.labeled_inliers)
    refuse_contradictions(rows, labels, outliers, inliers)
    rng = np.random.default_rng(np.random.SeedSequence(seed.entropy, spawn_key=(2**32 - 1,)))
    return TrainingData(
        rows=rows.normalized(normalize, n_threads),
        labels=labels,
        outliers=None if outliers is None else outliers.normalized(normalize, n_threads),
        inliers=None if inliers is None else inliers.normalized(normalize, n_threads),
        n_seen=facts.n_seen,
        largest=max(facts.largest, largest_outlier, largest_inlier) if normalize is None else 1.0,
        held_out=stages.cutoff.hold_out(np.flatnonzero(labels == 0), rng),
        groups=_numbered(given.groups, rows.n_rows),
    )


def _frozen(rows: Integers) -> Integers:
    rows.setflags(write=False)
    return rows


def _numbered(groups: Any, n_rows: int) -> Integers | None:
    if groups is None:
        return None
    given = np.asarray(groups)
    if given.shape != (n_rows,):
        raise OptionError(f"groups must have one entry for each of the {n_rows} rows, got shape {given.shape}.")
    return np.asarray(np.unique(given, return_inverse=True)[1], dtype=np.int64)


def _open_extra(rows: Rows, names: npt.NDArray[np.object_] | None, name: str, given: Any) -> tuple[Block | None, float]:
    """Return labelled rows outside X, sparse or dense like `rows`, and their largest absolute value."""
    if given is None or (given.shape[0] if hasattr(given, "shape") and given.shape else len(given)) == 0:
        return None, 0.0
    own = _get_feature_names(given)
    if names is not None and own is not None and len(names) == len(own) and not np.array_equal(names, own):
        first = int(np.flatnonzero(names != own)[0])
        raise DataError(
            f"{name} must have the columns of X in their order: column {first} must be {names[first]!r}, got "
            f"{own[first]!r}."
        )
    extra = open_rows(given, name=name).in_memory()
    if extra.n_features != rows.n_features:
        raise DataError(f"{name} must have the {rows.n_features} features of X, got {extra.n_features}.")
    kind = rows.take(np.empty(0, dtype=np.int64))
    return kind.matching(extra), float(extra.largest_values().max())
