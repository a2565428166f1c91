"""What a model file says about its training rows, its data and its fit: checked, since reports build on it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from ..saved import CHECKED_AT_ONCE, check_array, check_range, require

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

_LONGEST_LABEL = 100


def check_vectors(tensors: dict[str, npt.NDArray[Any]], n_features: int) -> None:
    """The vectors of a fit, and how they fit each other."""
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
    """Seconds spent in each stage."""
    seconds = json.loads(given)
    require(isinstance(seconds, dict), "its stage_seconds are not a table")
    for stage, value in seconds.items():
        require(_is_number(value) and value >= 0, f"its stage_seconds of {stage!r} are {value!r}")
    return {stage: float(value) for stage, value in seconds.items()}


def read_label(name: str, given: str) -> str:
    """A short text that is printed as it is."""
    require(len(given) <= _LONGEST_LABEL and (given == "" or given.isprintable()), f"its {name} is {given[:50]!r}")
    return given


def read_source(given: str | None) -> dict[str, Any] | None:
    """How the data were read, where they came from a file."""
    source = None if given is None else json.loads(given)
    require(source is None or isinstance(source, dict), "its source is not a table")
    for name, value in (source or {}).items():
        fits = _SOURCE.get(name)
        require(fits is None or fits(value), f"its source says {name}={str(value)[:50]!r}")
    return source


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_range(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"\d{1,2}(-\d{1,2})?", value, re.ASCII) is not None


def _table_of(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and all(map(fits, value.values()))


def _optional(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or fits(value)


def _is_format(value: Any) -> bool:
    from ...formats import FORMATS

    return isinstance(value, str) and value in FORMATS


def _is_way_with_gaps(value: Any) -> bool:
    from ...formats.table import MISSING

    return isinstance(value, str) and value in MISSING


def _is_way_with_numbers(value: Any) -> bool:
    from ...formats.table import SCALES

    return isinstance(value, str) and value in SCALES


def _is_scale(value: Any) -> bool:
    """Center, width and unit of a column."""
    fine = isinstance(value, list) and len(value) == 3 and all(map(_is_number, value))
    return bool(fine and value[1] > 0 and value[2] >= 0)


_SOURCE: dict[str, Callable[[Any], bool]] = {
    "format": _optional(_is_format),
    "id": _optional(_is_text),
    "label": _optional(_is_text),
    "text": lambda value: value is None or _is_text(value) or _are_texts(value),
    "suffix": _is_text,
    "delimiter": _optional(_is_text),
    "header": _optional(_is_flag),
    "scale": _is_way_with_numbers,
    "scales": _table_of(_is_scale),
    "dates": _table_of(lambda value: type(value) is int),
    "widths": lambda value: isinstance(value, list) and all(type(n) is int and 0 <= n < 2**48 for n in value),
    "weights": lambda value: isinstance(value, list) and all(_is_number(x) and x > 0 for x in value),
    "columns": _are_texts,
    "given": _are_texts,
    "ignore": _are_texts,
    "missing": _is_way_with_gaps,
    "zero_based": _optional(_is_flag),
    "categories": _are_texts,
    "means": _table_of(_is_number),
    "bits": lambda value: type(value) is int and 1 <= value <= 48,
    "words": _is_range,
    "characters": _is_range,
    "vocabulary": _is_flag,
    "reference_ids": _optional(_table_of(_is_text)),
    "tokens": _optional(_table_of(_is_text)),
    "command": _is_text,
    "fitted": _is_text,
}
"""What commands store about how they read data, and the type of each; nothing else in the table is used."""
