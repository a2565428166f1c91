"""REPEN: RAMODO for the detector Sp (section 4 of the paper)."""

from __future__ import annotations

import math
from typing import Any

from .framework import RandomDistanceDetector, Stages
from .options import describe
from .ranking import NearestQueryHinge
from .scoring import Sp
from .thresholding import Cantelli, TopFraction
from .training import Adadelta
from .triplets import TripletSampler


class REPEN(RandomDistanceDetector):  # noqa: D101 - its docstring takes the options from their table
    __doc__ = f"""Outlier detector that learns a small representation for the random-distance detector Sp.

    Sp ranks the rows; rows that Cantelli's inequality sets apart are candidate outliers; a ReLU layer is trained so
    that candidates lie farther from randomly drawn inliers than other inliers do; Sp scores the rows in what the layer
    made of them. Defaults are the paper's.

    Parameters
    ----------
{describe()}

    Attributes
    ----------
    outlier_scores_ : scores of the training rows, higher is more outlying
    threshold_ : `predict` flags rows with a score at or above it
    false_positive_bound_ : largest share of scores that Cantelli's inequality allows there; NaN for a fixed share
    offset_ : the same line in scikit-learn's sign, see `decision_function`
    initial_scores_ : Sp on the original features
    candidate_outliers_ : rows that training took as outliers
    fallback_used_ : too few initial scores reached Cantelli's line, so the highest were taken: half a percent, or ten
    loss_curve_ : mean ranking loss of each epoch
    components_ : weights of the features that training changed (sparse)
    feature_indices_, feature_weights_ : the same, as two arrays
    references_ : rows of the representation that scores are distances to
    stage_seconds_ : seconds spent in each stage
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    References
    ----------
    Pang, Cao, Chen, Liu: Learning Representations of Ultrahigh-dimensional Data for Random Distance-based Outlier
    Detection. KDD 2018.
    """

    def __init__(
        self,
        n_components: int = 20,
        *,
        n_epochs: int = 30,
        samples_per_epoch: int | str = "auto",
        batch_size: int = 256,
        margin: float = 1000.0,
        n_queries: int = 1,
        n_subsamples: int = 50,
        subsample_size: int = 8,
        alpha: float = math.sqrt(3),
        threshold: float | str = "cantelli",
        labeled_fraction: float = 0.5,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_epochs = n_epochs
        self.samples_per_epoch = samples_per_epoch
        self.batch_size = batch_size
        self.margin = margin
        self.n_queries = n_queries
        self.n_subsamples = n_subsamples
        self.subsample_size = subsample_size
        self.alpha = alpha
        self.threshold = threshold
        self.labeled_fraction = labeled_fraction
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _stages(self) -> Stages:
        return Stages(
            scorer=Sp(self.n_subsamples, self.subsample_size),
            thresholder=Cantelli(self.alpha),
            sampler=TripletSampler(self.n_queries, self.labeled_fraction),
            loss=NearestQueryHinge(self.margin, self.n_queries),
            optimizer=Adadelta(),
            cutoff=Cantelli(self.alpha) if isinstance(self.threshold, str) else TopFraction(self.threshold),
        )
