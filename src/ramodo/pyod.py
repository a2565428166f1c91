"""Ramodo's detectors with PyOD's interface: `contamination`, `decision_scores_`, `threshold_`, `labels_`.

    from ramodo import Consensus
    from ramodo.pyod import PyODDetector

    detector = PyODDetector(Consensus(random_state=0), contamination=0.05).fit(X)
    detector.decision_scores_, detector.labels_

Needs the package pyod.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .consensus import Consensus
from .detector import Detector
from .options import option_error

try:
    from pyod.models.base import BaseDetector
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "pyod":
        raise
    raise ModuleNotFoundError("ramodo.pyod needs the package pyod: pip install pyod.", name="pyod") from None


class PyODDetector(BaseDetector):
    """One of ramodo's detectors with PyOD's interface: 1 is an outlier, 0 an inlier, higher scores are more outlying.

    Parameters
    ----------
    detector : one of ramodo's detectors, default `Consensus()`
        A clone of it is fitted, so it does not change.
    contamination : float, default 0.1
        The share of training rows to flag, or a thresholder of PyThresh. The detector's own cut-off remains in
        `detector_`. Must be a number above 0 and at most 0.5.

    Attributes
    ----------
    detector_ : the fitted detector, with `explain`, `save` and its other methods
    decision_scores_ : array of shape (n_rows,)
        Scores of the training rows.
    threshold_ : float
        The score above which `predict` flags a row.
    labels_ : array of shape (n_rows,)
        1 for training rows above the threshold, 0 for others.

    Examples
    --------
    >>> import numpy as np
    >>> from ramodo import Consensus
    >>> from ramodo.pyod import PyODDetector
    >>> X = np.random.default_rng(0).normal(size=(200, 30))
    >>> X[7] += 5
    >>> detector = PyODDetector(Consensus(random_state=0), contamination=0.05).fit(X)
    >>> int(detector.labels_.sum()), int(detector.labels_[7])
    (10, 1)
    """

    def __init__(self, detector: Detector | None = None, contamination: Any = 0.1) -> None:
        super().__init__(contamination=contamination)
        self.detector = detector

    def fit(self, X: Any, y: Any = None, **known: Any) -> Self:
        """Learn from the rows of `X`, sparse or dense. `y` is ignored; `known` is passed to the detector's `fit`."""
        detector = Consensus() if self.detector is None else self.detector
        if not isinstance(detector, Detector):
            raise option_error("detector", "a detector of ramodo, such as Consensus()", repr(detector))
        fitted = clone(detector).fit(X, **known)
        self._set_n_classes(None)
        self.detector_, self.decision_scores_ = fitted, fitted.outlier_scores_
        self._process_decision_scores()
        return self

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Return how outlying each row is: the detector's `outlier_score`."""
        check_is_fitted(self, "decision_scores_")
        return self.detector_.outlier_score(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
