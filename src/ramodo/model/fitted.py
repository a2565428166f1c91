"""The result of a fit, as kept in a model file: everything that reports, explanations and the command need."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..data.rows import Rows
from .provenance import Provenance
from .terms import Model, Scores

if TYPE_CHECKING:
    from ..formats.frequencies import DocumentFrequencies
    from ..formats.schema import Schema
    from .profile import Profile

Integers = npt.NDArray[np.int64]


class FittedDetector(ABC):
    """A detector after `fit`, or a model that was opened for scoring alone.

    `feature_names_in_` is there only if the training data had names.
    """

    n_jobs: int | None
    n_features_in_: int
    feature_names_in_: npt.NDArray[np.object_]
    model_: Model
    outlier_scores_: Scores
    initial_scores_: Scores
    calibration_scores_: Scores
    threshold_: float
    offset_: float
    false_positive_bound_: float
    fallback_used_: bool
    candidate_outliers_: Integers
    loss_curve_: Scores
    samples_: list[npt.NDArray[np.float32]]
    n_alive_: list[int]
    row_lengths_: Integers
    row_norms_: Scores
    stage_seconds_: dict[str, float]
    options_: str
    fingerprint_: str
    schema_: Schema | None
    provenance_: Provenance
    document_frequencies_: DocumentFrequencies | None
    profile_: Profile | None

    @abstractmethod
    def outlier_score(self, X: Any) -> Scores:
        """Return how outlying each row is."""

    @abstractmethod
    def transform(self, X: Any) -> npt.NDArray[np.float32]:
        """Return the representation of each row."""

    @abstractmethod
    def rows_of(self, X: Any) -> Rows:
        """Check X and return it as rows with the columns of the training data."""
