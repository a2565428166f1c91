"""What a model file says, taken apart with suspicion: the header, every dtype and every shape are checked first.

Version 3 has a checksum, which version 2 had not; version 1 held a single model.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ...data.rows import open_rows
from ...fitting.direction import Axes, LabelDirection
from ...kernels import Phi
from ...options import check
from ..model import Member, Model, Origin, References, offset_of
from ..representation import DenseLayer, Representation, SparseLayer
from .facts import (
    CHECKED_AT_ONCE,
    check_array,
    check_range,
    check_vectors,
    read_label,
    read_source,
    read_stage_seconds,
    require,
)
from .tensors import CHECKSUM

FORMAT = "ramodo"
VERSION = 3

FACTS: dict[str, type] = {
    "n_features_in_": int,
    "threshold_": float,
    "offset_": float,
    "false_positive_bound_": float,
    "fallback_used_": bool,
    "options_": str,
}
"""Fitted values in the header."""

_MEMBER: dict[str, type] = {
    "seed": int,
    "limit": float,
    "slope": float,
    "size": int,
    "k": int,
    "average": bool,
    "deviation": float,
    "n_alive": int,
    "n_upper": int,
}
"""Numbers of each model in the header."""

_MOST_LAYERS = 64

CLASSES = ("REPEN", "RAMODO", "KthNeighborREPEN", "AverageNeighborREPEN")
"""Detectors that a file may hold."""


def read_fitted(header: dict[str, str], tensors: dict[str, npt.NDArray[Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options as JSON, and the attributes of a fitted detector."""
    require(header.get("format") == FORMAT, "its header does not say so")
    version = header.get("version")
    require(version in ("1", "2", str(VERSION)), f"version {version} is not 1 to {VERSION}, which are read here")
    require(version != str(VERSION) or CHECKSUM in header, "it has no checksum")
    require(header.get("class") in CLASSES, f"it holds a {header.get('class')}, known are {', '.join(CLASSES)}")
    if version == "1":
        header, tensors = _from_version_1(header, tensors)
    options = json.loads(header["options"])
    require(isinstance(options, dict), "its options are not a table")
    facts = _read(json.loads(header["facts"]), FACTS)
    _check_facts(facts)
    names = tensors.pop("feature_names_in_", None)
    model, samples, alive = _read_model(header, tensors, facts["n_features_in_"])
    check_vectors(tensors, facts["n_features_in_"])
    _check_origins(model, len(tensors["outlier_scores_"]))
    fitted = {**facts, **tensors, "model_": model, "samples_": samples, "n_alive_": alive}
    if names is not None:
        fitted["feature_names_in_"] = _read_names(names, facts["n_features_in_"])
    fitted["stage_seconds_"] = read_stage_seconds(header["stage_seconds"])
    fitted["source_"] = read_source(header.get("source"))
    fitted["fingerprint_"] = read_label("fingerprint", header.get("fingerprint", ""))
    read_label("writer", header.get("ramodo", ""))
    return options, fitted


def _read(values: Any, kinds: dict[str, type]) -> dict[str, Any]:
    require(isinstance(values, dict) and set(values) == set(kinds), "its facts are incomplete")
    for name, kind in kinds.items():
        allowed = (int, float) if kind is float else (kind,)
        require(
            isinstance(values[name], allowed) and (kind is bool or not isinstance(values[name], bool)),
            f"{name} is {values[name]!r}",
        )
        values[name] = kind(values[name])
    return dict(values)


def _check_facts(facts: dict[str, Any]) -> None:
    require(0 < facts["n_features_in_"] < 2**63, "a number is out of range")
    threshold = facts["threshold_"]
    require(math.isfinite(threshold) and facts["offset_"] == offset_of(threshold), "its cut-off is not sound")
    bound = facts["false_positive_bound_"]
    require(math.isnan(bound) or 0 <= bound <= 1, f"false_positive_bound_ is {bound!r}")


def _read_model(
    header: dict[str, str], tensors: dict[str, npt.NDArray[Any]], n_features: int
) -> tuple[Model, list[npt.NDArray[np.float32]], list[int]]:
    """All models, taken out of `tensors`."""
    given = json.loads(header["members"])
    require(isinstance(given, list) and len(given) > 0, "it holds no model")
    members, samples, alive = [], [], []
    for i, values in enumerate(given):
        facts = _read(values, _MEMBER)
        members.append(_read_member(f"model.{i}.", facts, tensors, n_features))
        sample, width = tensors.pop(f"model.{i}.sample"), members[-1].representation.width
        check_array(f"model.{i}.sample", sample, "float32", 2)
        require(sample.shape[1] == width and 0 <= facts["n_alive"] <= width, f"model.{i}.sample does not fit")
        samples.append(sample)
        alive.append(facts["n_alive"])
    normalize = json.loads(header["normalize"])
    check({"normalize": normalize})
    return Model(tuple(members), normalize, _read_direction(header, tensors, n_features)), samples, alive


def _read_member(prefix: str, facts: dict[str, Any], tensors: dict[str, npt.NDArray[Any]], n_features: int) -> Member:
    require(0 <= facts["seed"] < 2**64 and 0 < facts["limit"] < 1e30, "a number is out of range")
    require(0 <= facts["slope"] <= 1 and 0 <= facts["n_upper"] <= _MOST_LAYERS, "a number is out of range")
    require(0 <= facts["deviation"] < math.inf, "a number is out of range")
    columns, weights = tensors.pop(f"{prefix}columns"), tensors.pop(f"{prefix}weights")
    _check_columns(f"{prefix}columns", columns, n_features)
    check_array(f"{prefix}weights", weights, "float32", 2)
    require(len(weights) == len(columns) and weights.shape[1] > 0, f"{prefix}weights has shape {weights.shape}")
    upper, width = [], weights.shape[1]
    for j in range(facts["n_upper"]):
        layer = tensors.pop(f"{prefix}upper.{j}")
        check_array(f"{prefix}upper.{j}", layer, "float32", 2)
        require(len(layer) == width and layer.shape[1] > 0, f"{prefix}upper.{j} has shape {layer.shape}")
        upper.append(DenseLayer(layer, facts["slope"]))
        width = layer.shape[1]
    references, size = tensors.pop(f"{prefix}references"), facts["size"]
    check_array(f"{prefix}references", references, "float32", 2)
    require(size > 0 and 1 <= facts["k"] <= size, "its subsamples are empty, or k is out of range")
    require(
        references.shape[1] == width and len(references) > 0 and len(references) % size == 0,
        f"{prefix}references has shape {references.shape}",
    )
    first = SparseLayer(columns, weights, n_features, facts["seed"], facts["limit"], facts["slope"])
    return Member(
        Representation(first, tuple(upper)),
        References(references, size, Phi(facts["k"], facts["average"])),
        facts["deviation"],
        _read_origin(prefix, tensors, len(references), n_features),
    )


def _read_direction(
    header: dict[str, str], tensors: dict[str, npt.NDArray[Any]], n_features: int
) -> LabelDirection | None:
    factors = json.loads(header["direction"])
    if factors is None:
        return None
    fine = isinstance(factors, list) and len(factors) == 2 and all(isinstance(f, float) for f in factors)
    require(fine and all(math.isfinite(f) for f in factors), "its direction has no factors")
    columns, weights = tensors.pop("direction.columns"), tensors.pop("direction.weights")
    _check_columns("direction.columns", columns, n_features)
    check_array("direction.weights", weights, "float32", 2)
    require(weights.shape == (len(columns), 1), "direction.weights do not fit its features")
    return LabelDirection(Axes(columns, weights, n_features), factors[0], factors[1])


def _check_columns(name: str, columns: npt.NDArray[Any], n_features: int) -> None:
    check_array(name, columns, "int64", 1)
    if len(columns):
        increasing = columns.nbytes > CHECKED_AT_ONCE or bool((columns[1:] > columns[:-1]).all())
        require(increasing and columns[0] >= 0 and columns[-1] < n_features, "features are out of range")


def _from_version_1(
    header: dict[str, str], tensors: dict[str, npt.NDArray[Any]]
) -> tuple[dict[str, str], dict[str, npt.NDArray[Any]]]:
    """A file of one model, as version 2 has it. What it did not keep, `diagnose` does without."""
    old = json.loads(header["facts"])
    require(header["class"] == "REPEN" and isinstance(old, dict), "version 1 held the facts of a REPEN")
    weights = tensors.pop("feature_weights_")
    check_array("feature_weights_", weights, "float32", 2)
    n_components = json.loads(header["options"])["n_components"]
    require(weights.shape[1] == n_components, f"feature_weights_ has shape {weights.shape}")
    member = {"seed": old.pop("weight_seed_"), "limit": old.pop("weight_limit_"), "size": old.pop("reference_size_")}
    member |= {"slope": 0.0, "k": 1, "average": False, "deviation": 1.0, "n_alive": weights.shape[1], "n_upper": 0}
    newer = {
        "model.0.columns": tensors.pop("feature_indices_"),
        "model.0.weights": weights,
        "model.0.references": tensors.pop("references_"),
        "model.0.sample": np.empty((0, weights.shape[1]), dtype=np.float32),
        "calibration_scores_": np.empty(0),
        "row_lengths_": np.empty(0, dtype=np.int64),
        "row_norms_": np.empty(0),
    }
    require(not set(newer) & set(tensors), "its arrays are not those of a model")
    old["options_"] = repr(("Layers", n_components, (n_components,), 0.0))
    return {
        **header,
        "facts": json.dumps(old),
        "members": json.dumps([member]),
        "normalize": "null",
        "direction": "null",
    }, tensors | newer


def _read_names(encoded: npt.NDArray[Any], n_features: int) -> npt.NDArray[np.object_]:
    require(encoded.dtype == np.uint8 and encoded.ndim == 1, "feature names are not text")
    names = json.loads(encoded.tobytes())
    require(isinstance(names, list) and len(names) == n_features, "feature names do not fit the features")
    require(all(isinstance(name, str) for name in names), "feature names are not text")
    return np.array(names, dtype=object)


def _read_origin(
    prefix: str, tensors: dict[str, npt.NDArray[Any]], n_references: int, n_features: int
) -> Origin | None:
    """The reference rows, where the file holds them; past the door for data like any other rows."""
    if f"{prefix}origin.numbers" not in tensors:
        return None
    numbers = tensors.pop(f"{prefix}origin.numbers")
    check_array(f"{prefix}origin.numbers", numbers, "int64", 1)
    if f"{prefix}origin.values" in tensors:
        given: Any = tensors.pop(f"{prefix}origin.values")
    else:
        given = sp.csr_array((n_references, n_features))
        given.indptr = np.array(tensors.pop(f"{prefix}origin.indptr"))
        given.indices, given.data = tensors.pop(f"{prefix}origin.indices"), tensors.pop(f"{prefix}origin.data")
    rows, _ = open_rows(given, name=f"{prefix}origin")
    require(rows.n_rows == len(numbers) == n_references and rows.n_features == n_features, "its references do not fit")
    return Origin(rows, numbers)


def _check_origins(model: Model, n_rows: int) -> None:
    """References are training rows."""
    for i, origin in enumerate(member.origin for member in model.members):
        if origin is not None:
            check_range(f"model.{i}.origin.numbers", origin.numbers, n_rows)
