"""REPEN, RAMODO for the detector Sp (section 4 of the paper), and its siblings for other distances."""

from __future__ import annotations

import math
from typing import Any

from .framework import ATTRIBUTES, COMMON, RandomDistanceDetector
from .options import describe
from .stages.assembling import Stages, assemble
from .stages.layers import Layers
from .stages.ranking import RankingHinge
from .stages.scoring import AverageNN, KthNN, RandomDistance, Sp
from .stages.thresholding import Cantelli, TopFraction
from .stages.triplets import TripletSampler

_OPTIONS = (
    "n_components",
    *COMMON[:3],
    "margin",
    "n_queries",
    "n_subsamples",
    "subsample_size",
    "alpha",
    "threshold",
    "labeled_fraction",
    "labels_in_score",
    *COMMON[3:],
)

_REFERENCE = """    References
    ----------
    Pang, Cao, Chen, Liu: Learning Representations of Ultrahigh-dimensional Data for Random Distance-based Outlier
    Detection. KDD 2018."""


class REPEN(RandomDistanceDetector):  # noqa: D101 - its docstring takes the options from their table
    __doc__ = f"""Outlier detector that learns a small representation for the random-distance detector Sp.

    Sp ranks the rows; rows that Cantelli's inequality sets apart are candidate outliers; a ReLU layer is trained so
    that candidates lie farther from randomly drawn inliers than other inliers do; Sp scores the rows in what the layer
    made of them. Defaults are the paper's.

    Parameters
    ----------
{describe(*_OPTIONS)}

    Attributes
    ----------
{ATTRIBUTES}

{_REFERENCE}
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
        threshold: Any = "cantelli",
        labeled_fraction: float | str = "auto",
        labels_in_score: bool = True,
        normalize: str | None = None,
        n_estimators: int = 1,
        warm_start: bool = False,
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
        self.labels_in_score = labels_in_score
        self.normalize = normalize
        self.n_estimators = n_estimators
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _scorer(self) -> RandomDistance:
        return Sp(self.n_subsamples, self.subsample_size)

    def _stages(self) -> Stages:
        return assemble(
            scorer=self._scorer(),
            thresholder=Cantelli(self.alpha),
            sampler=TripletSampler(self.n_queries, self.labeled_fraction),
            representation=Layers((self.n_components,)),
            loss=RankingHinge(self.margin),
            cutoff=_cutoff(self.threshold, self.alpha),
            labels_in_score=self.labels_in_score,
        )


class KthNeighborREPEN(REPEN):  # noqa: D101
    __doc__ = f"""REPEN for the distance to the k-th nearest neighbour in place of the nearest.

    The ranking, the loss and the detection all look at the k-th nearest of 8 random rows: 8 references in a subsample,
    8 queries in a triplet.

    Parameters
    ----------
{describe("k", *_OPTIONS, n_queries=8)}

    Attributes
    ----------
{ATTRIBUTES}

{_REFERENCE}
    """

    def __init__(
        self,
        k: int = 3,
        *,
        n_components: int = 20,
        n_epochs: int = 30,
        samples_per_epoch: int | str = "auto",
        batch_size: int = 256,
        margin: float = 1000.0,
        n_queries: int = 8,
        n_subsamples: int = 50,
        subsample_size: int = 8,
        alpha: float = math.sqrt(3),
        threshold: Any = "cantelli",
        labeled_fraction: float | str = "auto",
        labels_in_score: bool = True,
        normalize: str | None = None,
        n_estimators: int = 1,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.k = k
        super().__init__(
            n_components,
            n_epochs=n_epochs,
            samples_per_epoch=samples_per_epoch,
            batch_size=batch_size,
            margin=margin,
            n_queries=n_queries,
            n_subsamples=n_subsamples,
            subsample_size=subsample_size,
            alpha=alpha,
            threshold=threshold,
            labeled_fraction=labeled_fraction,
            labels_in_score=labels_in_score,
            normalize=normalize,
            n_estimators=n_estimators,
            warm_start=warm_start,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )

    def _scorer(self) -> RandomDistance:
        return KthNN(self.k, self.n_subsamples, self.subsample_size)


class AverageNeighborREPEN(KthNeighborREPEN):  # noqa: D101
    __doc__ = (
        (KthNeighborREPEN.__doc__ or "")
        .replace("the k-th nearest", "the k nearest")
        .replace("distance to the k nearest neighbour in place", "mean distance to the k nearest neighbours in place")
    )

    def _scorer(self) -> RandomDistance:
        return AverageNN(self.k, self.n_subsamples, self.subsample_size)


def _cutoff(threshold: Any, alpha: float) -> Any:
    if isinstance(threshold, str):
        return Cantelli(alpha)
    return threshold if hasattr(threshold, "cutoff") else TopFraction(float(threshold))
