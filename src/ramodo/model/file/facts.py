"""Facts in a model file about its training rows, its data and its fit. They are checked, since reports rely on them."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

import numpy.typing as npt

from ..saved import CHECKED_AT_ONCE, check_array, check_range, require, shown
from ..terms import offset_of

ARRAYS: dict[str, str] = {
    "outlier_scores_": "float64",
    "initial_scores_": "float64",
    "calibration_scores_": "float64",
    "candidate_outliers_": "int64",
    "loss_curve_": "float64",
    "row_lengths_": "int64",
    "row_norms_": "float64",
}
"""Fitted vectors in the file."""

FACTS: dict[str, type] = {
    "n_features_in_": int,
    "threshold_": float,
    "offset_": float,
    "false_positive_bound_": float,
    "fallback_used_": bool,
    "options_": str,
}
"""Fitted values in the header."""

_LONGEST_LABEL = 100


def read_facts(values: Any) -> dict[str, Any]:
    """Check and return the single values of a fit."""
    require(isinstance(values, dict) and set(values) == set(FACTS), "its facts are incomplete")
    for name, kind in FACTS.items():
        kinds = (int, float) if kind is float else (kind,)
        require(type(values[name]) in kinds, f"{name} is {shown(values[name])}")
    facts = {name: kind(values[name]) for name, kind in FACTS.items()}
    require(0 < facts["n_features_in_"] < 2**63, "a number is out of range")
    threshold, bound = facts["threshold_"], facts["false_positive_bound_"]
    require(math.isfinite(threshold) and facts["offset_"] == offset_of(threshold), "its cut-off is not sound")
    require(math.isnan(bound) or 0 <= bound <= 1, f"false_positive_bound_ is {bound!r}")
    return facts


def check_vectors(tensors: dict[str, npt.NDArray[Any]], n_features: int) -> None:
    """Check the vectors of a fit, and that they match one another."""
    require(set(tensors) == set(ARRAYS), "its arrays are not those of a model")
    for name, dtype in ARRAYS.items():
        check_array(name, tensors[name], dtype, 1)
    n_rows = len(tensors["outlier_scores_"])
    for name in ("initial_scores_", "row_lengths_", "row_norms_"):
        require(len(tensors[name]) == n_rows, f"{name} has {len(tensors[name])} values for {n_rows} training rows")
    require(len(tensors["calibration_scores_"]) <= n_rows, "it has more held-out rows than training rows")
    require(len(tensors["loss_curve_"]) > 0, "loss_curve_ is empty")
    check_range("candidate_outliers_", tensors["candidate_outliers_"], n_rows)
    check_range("row_lengths_", tensors["row_lengths_"], n_features + 1)
    norms = tensors["row_norms_"]
    require(norms.nbytes > CHECKED_AT_ONCE or bool((norms >= 0).all()), "row_norms_ are negative")


def read_stage_seconds(given: str) -> dict[str, float]:
    """Check and return the seconds spent in each stage."""
    seconds = json.loads(given)
    require(isinstance(seconds, dict), "its stage_seconds are not a table")
    for stage, value in seconds.items():
        require(_is_number(value) and value >= 0, f"its stage_seconds of {stage!r} are {value!r}")
    return {stage: float(value) for stage, value in seconds.items()}


def read_label(name: str, given: str) -> str:
    """Return `given` if it is short and printable."""
    require(len(given) <= _LONGEST_LABEL and (given == "" or given.isprintable()), f"its {name} is {given[:50]!r}")
    return given


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max
