"""The model file: safetensors, with options as JSON in its header. No pickle, nothing that could run.

A file is written beside its target and renamed onto it, so a crash leaves what was there before. Reading trusts
nothing: the header, every dtype and every shape are checked before a detector is built.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from .options import OptionError, check

if TYPE_CHECKING:
    from .framework import RandomDistanceDetector

FORMAT = "ramodo"
VERSION = 1

_TENSORS: dict[str, tuple[str, int]] = {
    "feature_indices_": ("int64", 1),
    "feature_weights_": ("float32", 2),
    "references_": ("float32", 2),
    "outlier_scores_": ("float64", 1),
    "initial_scores_": ("float64", 1),
    "candidate_outliers_": ("int64", 1),
    "loss_curve_": ("float64", 1),
}
"""Fitted arrays in the file: dtype and number of dimensions."""

_FACTS: dict[str, type] = {
    "n_features_in_": int,
    "weight_seed_": int,
    "weight_limit_": float,
    "reference_size_": int,
    "threshold_": float,
    "offset_": float,
    "false_positive_bound_": float,
    "fallback_used_": bool,
}
"""Fitted numbers in the header."""


class ModelFileError(ValueError):
    """The file is not a model that this version can read."""


def save(detector: RandomDistanceDetector, path: Path) -> Path:
    """Write a fitted detector to `path`: whole, or not at all."""
    options = detector.get_params(deep=False)
    _refuse_to_save(detector, options)
    if not isinstance(options["random_state"], int | np.integer):
        options["random_state"] = None  # a generator's state is not part of the model
    tensors = {name: np.ascontiguousarray(getattr(detector, name)) for name in _TENSORS}
    if hasattr(detector, "feature_names_in_"):
        names = json.dumps([str(name) for name in detector.feature_names_in_]).encode()
        tensors["feature_names_in_"] = np.frombuffer(names, dtype=np.uint8)
    header = {
        "format": FORMAT,
        "version": str(VERSION),
        "class": type(detector).__name__,
        "options": json.dumps(options, default=_plain),
        "facts": json.dumps({name: getattr(detector, name) for name in _FACTS}, default=_plain),
        "stage_seconds": json.dumps(detector.stage_seconds_),
    }
    _write_whole(path, lambda temporary: save_file(tensors, temporary, header))
    return path


def _refuse_to_save(detector: RandomDistanceDetector, options: dict[str, Any]) -> None:
    """What `load` would refuse must not be written."""
    check(options)
    if type(detector).__name__ not in _classes():
        raise ModelFileError(f"a {type(detector).__name__} was given; files are written of: {', '.join(_classes())}.")
    if options["n_components"] != detector.feature_weights_.shape[1]:
        raise ModelFileError(
            f"n_components={options['n_components']} was set after a fit with {detector.feature_weights_.shape[1]}; "
            "fit again."
        )


def _classes() -> dict[str, Callable[..., RandomDistanceDetector]]:
    from .repen import REPEN

    return {"REPEN": REPEN}


def load(path: str | os.PathLike[str]) -> RandomDistanceDetector:
    """Read a detector that `save` wrote. Raises `ModelFileError` for any other file."""
    path = Path(path)
    with path.open("rb"):  # a missing, unreadable or wrong kind of file: the system's own error says it best
        pass
    try:
        with safe_open(path, framework="numpy") as file:
            header = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, TypeError, KeyError, AttributeError) as error:
        raise ModelFileError(f"{path} is not a ramodo model: {str(error).rstrip('.')}.") from None
    try:
        return _build(header, tensors)
    except (OptionError, ModelFileError, KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise ModelFileError(f"{path} is not a ramodo model: {str(error).rstrip('.')}.") from None


def _build(header: dict[str, str], tensors: dict[str, npt.NDArray[Any]]) -> RandomDistanceDetector:
    classes = _classes()
    _require(header.get("format") == FORMAT, "its header does not say so")
    _require(
        header.get("version") == str(VERSION), f"version {header.get('version')} is not {VERSION}, which is read here"
    )
    _require(header.get("class") in classes, f"it holds a {header.get('class')}, known are {', '.join(classes)}")
    options = json.loads(header["options"])
    _require(isinstance(options, dict), "its options are not a table")
    check(options)
    detector = classes[header["class"]](**options)
    facts = _read_facts(header)
    names = tensors.pop("feature_names_in_", None)
    _check_tensors(tensors, facts, options["n_components"])
    for name, value in {**facts, **tensors}.items():
        setattr(detector, name, value)
    if names is not None:
        detector.feature_names_in_ = _read_names(names, facts["n_features_in_"])
    detector.stage_seconds_ = json.loads(header["stage_seconds"])
    detector._prepare()
    return detector


def _read_facts(header: dict[str, str]) -> dict[str, Any]:
    facts = json.loads(header["facts"])
    _require(isinstance(facts, dict) and set(facts) == set(_FACTS), "its facts are incomplete")
    for name, kind in _FACTS.items():
        allowed = (int, float) if kind is float else (kind,)
        _require(
            isinstance(facts[name], allowed) and (kind is bool or not isinstance(facts[name], bool)),
            f"{name} is {facts[name]!r}",
        )
        facts[name] = kind(facts[name])
    _require(0 < facts["n_features_in_"] < 2**63 and 0 <= facts["weight_seed_"] < 2**64, "a number is out of range")
    _require(facts["reference_size_"] > 0, "its subsamples are empty")
    _require(0 < facts["weight_limit_"] < 1e30, "a number is out of range")
    _require(
        facts["threshold_"] >= 0 and facts["offset_"] == _offset_of(facts["threshold_"]), "its cut-off is not sound"
    )
    return facts


def _check_tensors(tensors: dict[str, npt.NDArray[Any]], facts: dict[str, Any], width: int) -> None:
    _require(set(tensors) == set(_TENSORS), "its arrays are not those of a model")
    for name, (dtype, ndim) in _TENSORS.items():
        array = tensors[name]
        _require(array.dtype == dtype and array.ndim == ndim, f"{name} is {array.dtype} with {array.ndim} dimensions")
    columns, weights, references = tensors["feature_indices_"], tensors["feature_weights_"], tensors["references_"]
    _require(weights.shape == (len(columns), width), f"feature_weights_ has shape {weights.shape}")
    _require(bool(np.isfinite(weights).all() and np.isfinite(references).all()), "weights are not finite")
    _require(
        references.shape[1] == width and len(references) > 0 and len(references) % facts["reference_size_"] == 0,
        f"references_ has shape {references.shape}",
    )
    if len(columns):
        increasing = bool((columns[1:] > columns[:-1]).all())
        _require(increasing and columns[0] >= 0 and columns[-1] < facts["n_features_in_"], "features are out of range")


def _read_names(encoded: npt.NDArray[Any], n_features: int) -> npt.NDArray[np.object_]:
    _require(encoded.dtype == np.uint8 and encoded.ndim == 1, "feature names are not text")
    names = json.loads(encoded.tobytes())
    _require(isinstance(names, list) and len(names) == n_features, "feature names do not fit the features")
    _require(all(isinstance(name, str) for name in names), "feature names are not text")
    return np.array(names, dtype=object)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ModelFileError(message)


def _plain(value: Any) -> Any:
    """numpy scalars as JSON knows them."""
    return value.item()


def _offset_of(threshold: float) -> float:
    from .framework import offset_of

    return offset_of(threshold)


def _write_whole(path: Path, write: Callable[[str], None]) -> None:
    if not path.name or path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} was given; allowed: the path of a file.")
    path = path.resolve()  # onto the target of a link, not onto the link
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise type(error)(error.errno, f"cannot write into the folder: {error.strerror}", str(path.parent)) from None
    try:
        write(temporary)
        os.fsync(handle)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    finally:
        os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
