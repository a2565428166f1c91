"""From the options of a command to a fitted detector."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..formats import FormatError, Table, tabular
from ..options import OptionError
from .allowed import refuse_number
from .reading import threads_of

if TYPE_CHECKING:
    from ..repen import REPEN


@dataclass(frozen=True)
class Training:
    """How to fit, as the command line says it."""

    labels: str | None = None
    normalize: str | None = None
    components: int = 20
    models: int = 1
    epochs: int = 30
    share: float | None = None
    fdr: float | None = None
    seed: int = 0
    threads: int | None = None

    def __post_init__(self) -> None:
        for name in ("components", "models", "epochs", "share", "fdr", "seed", "threads"):
            refuse_number(f"--{name}", getattr(self, name))

    def detector(self, is_text: bool, verbose: bool) -> REPEN:
        """The detector, not fitted yet."""
        from ..repen import REPEN
        from ..stages.conformal import Conformal

        if self.share is not None and self.fdr is not None:
            raise OptionError("--share and --fdr were given; allowed: one of them.")
        threshold: Any = "cantelli"
        if self.share is not None:
            threshold = self.share
        if self.fdr is not None:
            threshold = Conformal(self.fdr)
        return REPEN(
            self.components,
            n_epochs=self.epochs,
            n_estimators=self.models,
            normalize=_normalize(self.normalize, is_text),
            threshold=threshold,
            random_state=self.seed,
            n_jobs=threads_of(self.threads),
            verbose=int(verbose),
        )

    def fit(self, table: Table, is_text: bool, verbose: bool) -> tuple[REPEN, list[str]]:
        """The fitted detector, and what it warned of."""
        detector = self.detector(is_text, verbose)
        labels = None if self.labels is None else read_labels(self.labels, table)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            detector.fit(table.X, labels=labels)
        if table.names is not None:
            detector.feature_names_in_ = np.array(table.names, dtype=object)
        return detector, [str(w.message) for w in caught if issubclass(w.category, UserWarning)]


def _normalize(given: str | None, is_text: bool) -> str | None:
    if given is None:
        return "l2" if is_text else None
    if given not in ("none", "l2", "max"):
        raise OptionError(f"--normalize {given!r} was given; allowed: none, l2 or max.")
    return None if given == "none" else given


def read_labels(path: str, table: Table) -> Any:
    """Labels by id, from a table with columns id and label: 1 known outlier, -1 known inlier."""
    ids = {table.id_of(row): row for row in range(table.X.shape[0])}
    y = np.zeros(table.X.shape[0], dtype=np.int8)
    for id, value in tabular.read_pairs(path, "id", "label"):
        if id not in ids:
            raise FormatError(f"{path}: the id {id!r} is not in the data.")
        if value not in (-1, 0, 1):
            raise FormatError(f"{path}: {id!r} has the label {value:g}; allowed: 1 outlier, -1 inlier, 0 unknown.")
        y[ids[id]] = int(value)
    return y
