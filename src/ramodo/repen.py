"""REPEN, RAMODO for the detector Sp (section 4 of the paper)."""

from __future__ import annotations

import math
from typing import Any

from .framework import RandomDistanceDetector
from .stages.assembling import Stages, assemble, cutoff_of
from .stages.layers import Layers
from .stages.ranking_loss import RankingHinge
from .stages.scoring import RandomDistance, Sp
from .stages.thresholding import Cantelli
from .stages.triplets import TripletSampler


class REPEN(RandomDistanceDetector):
    """Outlier detector that learns a small representation for the random-distance detector Sp.

    First Sp ranks the rows, and a cut-off by Cantelli's inequality picks candidate outliers. Then a ReLU layer is
    trained to put these farther from randomly drawn inliers than other inliers. Finally Sp scores the rows in the
    representation of that layer. Defaults are the paper's.

    Parameters
    ----------
    n_components : int, default 20
        Columns of the representation. Must be an integer from 1 to 4,096. In the paper: M, sec. 6.3.
    n_epochs : int, default 30
        Passes of training. Must be an integer from 1 to 100,000. In the paper: sec. 6.3.
    samples_per_epoch : 'auto' or int, default 'auto'
        Triplets drawn per epoch; 'auto' is 5,000, or the number of rows if that is less. Must be 'auto' or an integer
        from 1 to 100,000,000. In the paper: sec. 6.3.
    batch_size : int, default 256
        Triplets per gradient step. Must be an integer from 1 to 100,000,000. In the paper: b, sec. 6.3.
    margin : 'auto' or float, default 1000.0
        Difference of squared distances beyond which a triplet is satisfied; 'auto' follows the scale of the data. Must
        be 'auto' or a number above 0 and at most 1e+63. In the paper: c, sec. 4.5.
    n_queries : int, default 1
        Queries per triplet. Must be an integer from 1 to 1,024. In the paper: n, sec. 4.5.
    n_subsamples : int, default 50
        Subsamples in the Sp ensemble. Must be an integer from 1 to 100,000. In the paper: m, sec. 4.5.
    subsample_size : int, default 8
        References in each subsample. Must be an integer from 1 to 100,000. In the paper: |S|, sec. 4.5.
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
    n_estimators : int, default 1
        Independent representations, whose scores are averaged. Must be an integer from 1 to 1,000.
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

    Attributes
    ----------
    outlier_scores_ : array of shape (n_rows,)
        Scores of the training rows, higher is more outlying.
    threshold_ : float
        `predict` flags rows with a score at or above it.
    false_positive_bound_ : float
        Largest share of scores that Cantelli's inequality allows at or above it; NaN for other cut-offs.
    offset_ : float
        The same cut-off in scikit-learn's sign, see `decision_function`.
    initial_scores_ : array of shape (n_rows,)
        The initial ranking, on the original features.
    candidate_outliers_ : array of row numbers
        Rows that training treated as outliers.
    fallback_used_ : bool
        Whether too few initial scores reached Cantelli's cut-off, so that the highest half percent, or ten, were taken.
    loss_curve_ : array of shape (n_epochs,)
        Mean ranking loss of each epoch.
    components_ : sparse matrix of shape (n_components, n_features)
        Weights of the features that training changed.
    feature_indices_, feature_weights_ : arrays
        The same as two arrays; those of the first model if there are several.
    references_ : array of shape (n_references, n_components)
        Reference rows in the representation, to which distances are measured; those of the first model.
    model_ : Model
        The terms of the score: all representations and references.
    stage_seconds_ : dict
        Seconds spent in each stage.
    n_features_in_, feature_names_in_ : int, array of str
        As everywhere in scikit-learn.

    References
    ----------
    Pang, Cao, Chen, Liu: Learning Representations of Ultrahigh-dimensional Data for Random Distance-based Outlier
    Detection. KDD 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from ramodo import REPEN
    >>> X = np.random.default_rng(0).normal(size=(200, 30))
    >>> X[7] += 5
    >>> detector = REPEN(n_epochs=5, random_state=0).fit(X)
    >>> int(detector.outlier_scores_.argmax())
    7
    >>> detector.transform(X).shape
    (200, 20)
    """

    def __init__(
        self,
        n_components: int = 20,
        *,
        n_epochs: int = 30,
        samples_per_epoch: int | str = "auto",
        batch_size: int = 256,
        margin: float | str = 1000.0,
        n_queries: int = 1,
        n_subsamples: int = 50,
        subsample_size: int = 8,
        alpha: float = math.sqrt(3),
        cutoff: Any = "auto",
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
        self.cutoff = cutoff
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
            cutoff=cutoff_of(self.cutoff, self.alpha),
            labels_in_score=self.labels_in_score,
        )
