"""REPEN for other distances: to the k-th nearest neighbour, and the mean distance to the k nearest."""

from __future__ import annotations

import math
from typing import Any

from .repen import REPEN
from .stages.scoring import AverageNN, KthNN, RandomDistance


class KthNeighborREPEN(REPEN):
    """REPEN with the distance to the k-th nearest neighbour instead of the nearest.

    The ranking, the loss and the detection all use the k-th nearest of 8 random rows: 8 references in a subsample, 8
    queries in a triplet.

    Parameters
    ----------
    k : int, default 3
        Number of neighbours in φ, at most the number of references. Must be an integer from 1 to 100,000. In the paper:
        sec. 3.2.
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
    n_queries : int, default 8
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

    See Also
    --------
    REPEN : for the nearest neighbour; its attributes are those of all detectors that learn a representation.

    References
    ----------
    Pang, Cao, Chen, Liu: Learning Representations of Ultrahigh-dimensional Data for Random Distance-based Outlier
    Detection. KDD 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from ramodo import KthNeighborREPEN
    >>> X = np.random.default_rng(0).normal(size=(200, 30))
    >>> X[7] += 5
    >>> detector = KthNeighborREPEN(k=3, n_epochs=5, random_state=0).fit(X)
    >>> int(detector.outlier_scores_.argmax())
    7
    """

    def __init__(
        self,
        k: int = 3,
        *,
        n_components: int = 20,
        n_epochs: int = 30,
        samples_per_epoch: int | str = "auto",
        batch_size: int = 256,
        margin: float | str = 1000.0,
        n_queries: int = 8,
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
            cutoff=cutoff,
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


class AverageNeighborREPEN(KthNeighborREPEN):
    """REPEN with the mean distance to the k nearest neighbours instead of the nearest.

    The ranking, the loss and the detection all use the k nearest of 8 random rows: 8 references in a subsample, 8
    queries in a triplet.

    Parameters
    ----------
    k : int, default 3
        Number of neighbours in φ, at most the number of references. Must be an integer from 1 to 100,000. In the paper:
        sec. 3.2.
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
    n_queries : int, default 8
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

    See Also
    --------
    REPEN : for the nearest neighbour; its attributes are those of all detectors that learn a representation.

    References
    ----------
    Pang, Cao, Chen, Liu: Learning Representations of Ultrahigh-dimensional Data for Random Distance-based Outlier
    Detection. KDD 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from ramodo import AverageNeighborREPEN
    >>> X = np.random.default_rng(0).normal(size=(200, 30))
    >>> X[7] += 5
    >>> detector = AverageNeighborREPEN(k=3, n_epochs=5, random_state=0).fit(X)
    >>> int(detector.outlier_scores_.argmax())
    7
    """

    def _scorer(self) -> RandomDistance:
        return AverageNN(self.k, self.n_subsamples, self.subsample_size)
