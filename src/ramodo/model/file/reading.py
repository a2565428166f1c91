"""Read a model file without trusting it: the header, every dtype and every shape are checked first."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt

from ...formats.schema import Schema
from ..profile import Profile
from ..provenance import Provenance
from ..saved import check_array, require, shown
from ..terms import Model
from . import frequencies, terms
from .facts import check_vectors, read_facts, read_label, read_stage_seconds
from .tensors import CHECKSUM

FORMAT = "ramodo"
VERSION = 3

CLASSES = ("Consensus", "REPEN", "RAMODO", "KthNeighborREPEN", "AverageNeighborREPEN")
"""Detectors that a file may hold."""


def read_fitted(header: dict[str, str], tensors: dict[str, npt.NDArray[Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return options as JSON, and the attributes of a fitted detector."""
    require(header.get("format") == FORMAT, "its header does not say so")
    version = header.get("version")
    require(version == str(VERSION), f"its format has version {shown(version)}; this ramodo reads {VERSION}")
    require(CHECKSUM in header, "it has no checksum")
    require(header.get("class") in CLASSES, f"it holds a {shown(header.get('class'))}, known are {', '.join(CLASSES)}")
    options = json.loads(header["options"])
    require(isinstance(options, dict), "its options are not a table")
    facts = read_facts(json.loads(header["facts"]))
    names, schema_bytes = tensors.pop("feature_names_in_", None), tensors.pop("schema", None)
    n_rows = len(tensors["outlier_scores_"])
    require(n_rows > 0, "it has no scores of training rows")
    model = terms.read(header["terms"], tensors, facts["n_features_in_"], n_rows)
    require(len(model.learned) > 0, "it has no representation")
    samples, alive = _read_samples(header, tensors, model)
    documents = frequencies.read(header, tensors, facts["n_features_in_"])
    profile = None  # of a file that was written before there were any
    if "profile" in header:
        profile = Profile.read(json.loads(header["profile"]), tensors, facts["n_features_in_"])
    check_vectors(tensors, facts["n_features_in_"])
    counts, n_calibration = model.n_calibration, len(tensors["calibration_scores_"])
    require(not counts or sum(counts) == n_calibration, f"its folds have {sum(counts)} rows, not {n_calibration}")
    fitted = {**facts, **tensors, "model_": model, "samples_": samples, "n_alive_": alive}
    fitted |= {"document_frequencies_": documents, "profile_": profile}
    schema = _read_schema(schema_bytes, facts["n_features_in_"], documents is not None)
    fitted |= {"schema_": schema, "provenance_": Provenance.from_json(header.get("provenance"))}
    if names is not None:
        fitted["feature_names_in_"] = _read_names(names, facts["n_features_in_"])
    elif schema is not None and schema.names is not None and schema.first_named == 0:
        fitted["feature_names_in_"] = np.array(schema.names, dtype=object)
    fitted["stage_seconds_"] = read_stage_seconds(header["stage_seconds"])
    fitted["fingerprint_"] = read_label("fingerprint", header.get("fingerprint", ""))
    read_label("writer", header.get("ramodo", ""))
    return options, fitted


def _read_samples(
    header: dict[str, str], tensors: dict[str, npt.NDArray[Any]], model: Model
) -> tuple[list[npt.NDArray[np.float32]], list[int]]:
    """Return some rows of each representation, for `diagnose`, and how many of its units respond to any row."""
    alive, widths = json.loads(header["alive"]), [term.representation.width for term in model.learned]
    fine = isinstance(alive, list) and len(alive) == len(widths) and all(type(n) is int for n in alive)
    require(fine and all(0 <= n <= width for n, width in zip(alive, widths, strict=True)), "its units do not fit")
    samples = []
    for i, width in enumerate(widths):
        sample = tensors.pop(f"sample.{i}")
        check_array(f"sample.{i}", sample, "float32", 2)
        require(sample.shape[1] == width, f"sample.{i} has shape {sample.shape}")
        samples.append(sample)
    return samples, alive


def _read_schema(encoded: npt.NDArray[Any] | None, n_features: int, weighs_tokens: bool) -> Schema | None:
    """Return how the data were read, if they came from a file or a frame."""
    if encoded is None:
        return None
    require(encoded.dtype == np.uint8 and encoded.ndim == 1, "its schema is not text")
    schema = Schema.from_json(encoded.tobytes())
    fits = schema.n_features in (None, n_features)
    require(fits, f"its schema has {schema.n_features} features, and the model {n_features}")
    require(not schema.texts or schema.tokens.idf == weighs_tokens, "its schema weighs tokens otherwise")
    return schema


def _read_names(encoded: npt.NDArray[Any], n_features: int) -> npt.NDArray[np.object_]:
    require(encoded.dtype == np.uint8 and encoded.ndim == 1, "feature names are not text")
    names = json.loads(encoded.tobytes())
    require(isinstance(names, list) and len(names) == n_features, "feature names do not fit the features")
    require(all(isinstance(name, str) for name in names), "feature names are not text")
    return np.array(names, dtype=object)
