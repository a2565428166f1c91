"""An initial ranking from several detectors (section 4.1 suggests it)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ..data.blocks import Block
from ..data.rows import Rows
from ..detector import RankingDetector
from ..options import OptionError, check, option_error
from .detector_as_scorer import as_scorer

Scores = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Ensemble(RankingDetector):
    """The mean of several detectors' scores of a row, made comparable.

    Parameters
    ----------
    detectors : list of `Sp`, `KthNN`, `AverageNN` or anything with `fit` and `score_samples`
    combine : "rank", the share of training rows that score lower; or "score", in standard deviations from the mean
        Both are relative to the training rows, so a row's score does not depend on the rows it is scored with.

    Examples
    --------
    >>> import numpy as np
    >>> from ramodo import Ensemble, KthNN, Sp
    >>> X = np.random.default_rng(0).normal(size=(200, 30))
    >>> X[7] += 5
    >>> detector = Ensemble([Sp(), KthNN()], random_state=0).fit(X)
    >>> int(detector.outlier_scores_.argmax())
    7
    """

    def __init__(
        self, detectors: Any, combine: str = "rank", *, random_state: Any = None, n_jobs: int | None = None
    ) -> None:
        self.detectors = detectors
        self.combine = combine
        self.random_state = random_state
        self.n_jobs = n_jobs

    def ranking(self, rows: Rows, eligible: Integers, rng: np.random.Generator, n_threads: int) -> _Together:
        """Return a function that scores blocks of rows by all detectors together."""
        self.check_stage()
        fitted = [as_scorer(d, "detectors").ranking(rows, eligible, rng, n_threads) for d in self.detectors]
        names = [type(d).__name__ for d in self.detectors]
        return _Together(fitted, names, self.combine, rows)

    def check_stage(self) -> None:
        """Raise `OptionError` for an invalid option."""
        check(self.get_params(deep=False))
        if self.combine not in ("rank", "score"):
            raise option_error("combine", "'rank' or 'score'", repr(self.combine))
        if not isinstance(self.detectors, list | tuple) or len(self.detectors) == 0:
            raise option_error("detectors", "a list of at least one detector", repr(self.detectors))

    def fit(self, X: Any, y: Any = None, *, labels: Any = None) -> Self:
        """Fit all detectors to the rows of `X` that are not known outliers (1 in `labels`); `y` is ignored."""
        return super().fit(X, labels=labels)


class _Together:
    """Fitted detectors, and the scores of the training rows by each."""

    def __init__(self, fitted: list[Callable[[Block], Scores]], names: list[str], combine: str, rows: Rows) -> None:
        self._fitted, self._names, self._combine = fitted, names, combine
        self._known = [np.sort(rows.gather(partial(self._scores, i))) for i in range(len(fitted))]

    def __call__(self, block: Block) -> Scores:
        comparable = [self._comparable(i, self._scores(i, block)) for i in range(len(self._fitted))]
        return np.mean(comparable, axis=0)

    def _scores(self, i: int, block: Block) -> Scores:
        scores = self._fitted[i](block)
        if scores.shape != (block.n_rows,) or not np.isfinite(scores).all():
            raise OptionError(
                f"the detector {self._names[i]} of an Ensemble must return {block.n_rows} finite numbers, got scores "
                f"of shape {scores.shape}, or with NaN or infinity."
            )
        return scores

    def _comparable(self, i: int, scores: Scores) -> Scores:
        known = self._known[i]
        if self._combine == "rank":
            below, up_to = np.searchsorted(known, scores, "left"), np.searchsorted(known, scores, "right")
            return (below + up_to) / (2 * len(known))
        return (scores - known.mean()) / (known.std() or 1.0)
