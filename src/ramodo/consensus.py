"""Consensus, the default detector: several views of a row, added up as evidence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .fitting import consensus, flow
from .fitting.training_data import TrainingData
from .framework import RandomDistanceDetector
from .model.terms import Model
from .stages.assembling import Stages, assemble, cutoff_of
from .stages.layers import Layers
from .stages.ranking_loss import RankingHinge
from .stages.thresholding import Cantelli
from .stages.triplets import TripletSampler
from .terminal.progress import Progress


class Consensus(RandomDistanceDetector):
    """Outlier detector that adds up the evidence of several views of each row.

    Distances to few and to many random rows, and distances in representations that are trained briefly and longer, each
    find outliers that the others miss. A view's evidence against a row is -log of the share of training rows that score
    at least as high in it, and the score of a row is the sum of this evidence.

    Parameters
    ----------
    n_components : int, default 20
        Columns of the representation. Must be an integer from 1 to 4,096. In the paper: M, sec. 6.3.
    alpha : float, default 1.7320508075688772
        Standard deviations above the mean at which a score counts as high; at most 1/(1+α²) of the scores can be. Must
        be a number from 0 to 1e+06. In the paper: α, eq. 2 and sec. 5.2.
    cutoff : 'auto' or 'chance' or 'cantelli' or float or object, default 'auto'
        Cut-off of `predict`: 'chance' flags rows that stand out more than chance explains, 'cantelli' goes by
        Cantelli's inequality, a number is the share of training rows to flag, and an object is a custom rule. 'auto' is
        'chance' for Consensus, unless α is given, and 'cantelli' for others. Must be 'auto', 'chance', 'cantelli', a
        number above 0 and at most 0.5 or an object with a method cutoff (TopK, Conformal, ...). In the paper: eq. 2.
    labeled_fraction : 'auto' or float, default 'auto'
        Share of the negatives of a batch to draw from labelled outliers, if there are any. 0.5 is the paper's choice;
        'auto' depends on the number of labels. Must be 'auto' or a number from 0 to 1. In the paper: sec. 4.6.
    labels_in_score : bool, default True
        Whether labelled outliers also shape the final score, by the direction in which they differ from other rows. In
        the paper they only shape training: False. Must be True or False.
    normalize : None or 'l2' or 'max', default None
        Divide each row by its length, or by its largest absolute value. `diagnose` helps to choose. Must be None, 'l2'
        or 'max'.
    copies : 'all' or 'root', default 'all'
        How many of several equal rows count: all, or the square root of their number, so that repeated rows look
        ordinary but do not hide others. Must be 'all' or 'root'.
    warm_start : bool, default False
        Whether another `fit` starts from the current weights and trains for a tenth of the epochs. Must be False or
        True.
    random_state : None or int or RandomState or Generator, default None
        Seed of all random draws; the same seed gives the same bits. Must be None, an integer from 0 to
        18,446,744,073,709,551,615 or a numpy RandomState or Generator.
    n_jobs : None or int, default None
        Threads. -1 is all cores, -2 all but one; None is 1, unless a `joblib.parallel_config` says otherwise. Results
        do not depend on it. Must be None, an integer from 1 to 4,096 or an integer from -4,096 to -1.
    verbose : int or bool, default 0
        1 reports the stages, with progress on a terminal. Must be an integer from 0 to 10, True or False.

    See Also
    --------
    REPEN : one learned distance, as in the paper; its attributes are those of all detectors that learn one.

    Notes
    -----
    `normalize=None` leaves the choice to the data: rows that are mostly zeros, have no negative values and differ in
    length are also scored with length 1.

    Attributes
    ----------
    outlier_scores_ : array of shape (n_rows,)
        Scores of the training rows, higher is more outlying.
    threshold_ : float
        `predict` flags rows with a score at or above it.
    stage_seconds_ : dict
        Seconds spent in each stage.
    n_features_in_, feature_names_in_ : int, array of str
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from ramodo import Consensus
    >>> X = np.random.default_rng(0).normal(size=(200, 30))
    >>> X[7] += 5
    >>> detector = Consensus(random_state=0).fit(X)
    >>> int(detector.outlier_scores_.argmax())
    7
    >>> detector.predict(X[6:8])
    array([ 1, -1])
    """

    _has_views = True

    def __init__(
        self,
        n_components: int = 20,
        *,
        alpha: float = math.sqrt(3),
        cutoff: Any = "auto",
        labeled_fraction: float | str = "auto",
        labels_in_score: bool = True,
        normalize: str | None = None,
        copies: str = "all",
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.cutoff = cutoff
        self.labeled_fraction = labeled_fraction
        self.labels_in_score = labels_in_score
        self.normalize = normalize
        self.copies = copies
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _stages(self) -> Stages:
        return assemble(
            thresholder=Cantelli(self.alpha),
            sampler=TripletSampler(1, self.labeled_fraction),
            representation=Layers((self.n_components,)),
            loss=RankingHinge("auto"),
            cutoff=cutoff_of(
                self.cutoff,
                self.alpha,
                auto="chance" if self.alpha == math.sqrt(3) else "cantelli",
                copies_once=self.copies == "root",
            ),
            labels_in_score=self.labels_in_score,
        )

    def _n_learned(self, data: TrainingData) -> int:
        return len(self.model_.learned)  # a reading that is new since the last fit is trained from scratch

    def _learn(
        self,
        stages: Stages,
        data: TrainingData,
        seed: np.random.SeedSequence,
        previous: Model | None,
        progress: Progress,
    ) -> flow.Outcome:
        batch = 256
        plan = flow.Plan(
            n_epochs=consensus.EPOCHS,
            samples_per_epoch=consensus.STEPS * batch,
            batch_size=batch,
            n_estimators=1,
            n_threads=self._n_threads(),
        )
        data = data.thinned() if self.copies == "root" else data
        return consensus.fit(stages, plan, data, self.normalize, seed, previous, progress)
