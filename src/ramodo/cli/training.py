"""Fit the detector that the options of a command describe."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..formats import Table
from ..formats.labels_by_id import read_known_labels
from ..formats.log_lines import KINDS
from ..options import OptionError
from .flags import Fitting
from .methods import METHODS
from .source import threads_of

if TYPE_CHECKING:
    from ..detector import Detector


def fit(fitting: Fitting, table: Table, is_text: bool, verbose: bool) -> tuple[Detector, list[str]]:
    """Fit a detector; return it with its warnings."""
    kind = KINDS.get(table.schema.tokens.lines)
    if kind is not None and kind.asks and "copies" in METHODS[fitting.method]:
        fitting = replace(fitting, options={"copies": "root", **fitting.options})
    detector = detector_of(fitting, is_text, verbose)
    labels = None if fitting.labels is None else read_labels(fitting.labels, table)
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        detector.fit(table, labels=labels, **_grouped(fitting, table))
    if not hasattr(detector, "stage_seconds_"):
        detector.stage_seconds_ = {"ranking": time.perf_counter() - started}
    return detector, [str(w.message) for w in caught if issubclass(w.category, UserWarning)]


_OF_CUTOFF = {"--share": "cutoff", "--fdr": "fdr", "--alpha": "alpha"}
"""Flags that choose the cut-off, and their options."""


def _grouped(fitting: Fitting, table: Table) -> dict[str, Any]:
    """Return the long sessions of a log as groups of its lines."""
    return {} if fitting.method == "sp" or table.sessions is None else {"groups": table.sessions.groups}


def detector_of(fitting: Fitting, is_text: bool, verbose: bool) -> Any:
    """Return the unfitted detector. `--fdr` and `--alpha` become its cut-off, and by default it uses all cores.

    Where copies count less, as in a log, `--fdr` keeps the ranking: in one of two models an ordinary line would be one
    that was never seen, since all of its copies would be in the other.
    """
    from ..stages.chance import AboveChance
    from ..stages.conformal import Conformal

    options = dict(fitting.options)
    given = [flag for flag, name in _OF_CUTOFF.items() if name in options]
    if len(given) > 1:
        raise OptionError(f"{' and '.join(given)} cannot be combined; give one of them.")
    if "fdr" in options:
        fdr, copies_once = options.pop("fdr"), options.get("copies") == "root"
        options["cutoff"] = AboveChance(fdr, copies_once=True) if copies_once else Conformal(fdr)
    if "alpha" in options:
        options["cutoff"] = "cantelli"
    options["n_jobs"] = threads_of(options.get("n_jobs"))
    return _BUILD[fitting.method](options, is_text, int(verbose))


def _consensus(options: dict[str, Any], is_text: bool, verbose: int) -> Any:
    from ..consensus import Consensus

    return Consensus(**options, verbose=verbose)


def _repen(options: dict[str, Any], is_text: bool, verbose: int) -> Any:
    """Return REPEN. Text is scaled to length 1, since a single distance might see nothing but the length of texts."""
    from ..repen import REPEN

    return REPEN(**{"normalize": "l2" if is_text else None, **options}, verbose=verbose)


def _sp(options: dict[str, Any], is_text: bool, verbose: int) -> Any:
    from ..stages.scoring import Sp

    return Sp(**options)


_BUILD = {"consensus": _consensus, "repen": _repen, "sp": _sp}


def read_labels(path: str, table: Table) -> npt.NDArray[np.int8]:
    """Return a label for each row, from a table of labels: 1 known outlier, -1 known inlier, 0 unknown."""
    labels = np.zeros(table.X.shape[0], dtype=np.int8)
    for row, label in read_known_labels(path, table).items():
        labels[row] = label
    return labels
