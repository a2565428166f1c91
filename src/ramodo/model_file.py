"""The model file: safetensors, with options as JSON in its header. No pickle, nothing that could run.

Version 2 holds any number of models; version 1, of a single one, is still read.

A file is written beside its target and renamed onto it, so a crash leaves what was there before. Reading trusts
nothing: the header, every dtype and every shape are checked before a detector is built.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from safetensors import SafetensorError
from safetensors.numpy import save_file

from . import __version__, tensor_file
from .direction import Axes, LabelDirection
from .kernels import Phi
from .model import Member, Model, Origin, References, offset_of
from .options import OptionError, check
from .representation import DenseLayer, Representation, SparseLayer
from .rows import DataError, DenseRows, Rows, open_rows
from .stage_file import decode, encode
from .whole_file import write_whole

if TYPE_CHECKING:
    from .framework import RandomDistanceDetector

_T = TypeVar("_T")

FORMAT = "ramodo"
VERSION = 2

_ARRAYS: dict[str, str] = {
    "outlier_scores_": "float64",
    "initial_scores_": "float64",
    "calibration_scores_": "float64",
    "candidate_outliers_": "int64",
    "loss_curve_": "float64",
    "row_lengths_": "int64",
    "row_norms_": "float64",
}
"""Fitted vectors in the file."""

_FACTS: dict[str, type] = {
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

_CHECKED_AT_ONCE = 1 << 26
"""Bytes up to which values are looked at when a file is opened; those of larger arrays when they are used."""


class ModelFileError(ValueError):
    """The file is not a model that this version can read."""


def save(detector: RandomDistanceDetector, path: Path) -> Path:
    """Write a fitted detector to `path`: whole, or not at all."""
    options = detector.get_params(deep=False)
    _refuse_to_save(detector, options)
    if not isinstance(options["random_state"], int | np.integer):
        options["random_state"] = None  # a generator's state is not part of the model
    tensors = {name: np.ascontiguousarray(getattr(detector, name), dtype=dtype) for name, dtype in _ARRAYS.items()}
    members = []
    for i, (member, sample) in enumerate(zip(detector.model_.members, detector.samples_, strict=True)):
        tensors.update(_member_tensors(i, member, sample))
        members.append(_member_facts(member, detector.n_alive_[i]))
    direction = detector.model_.direction
    if direction is not None:
        tensors["direction.columns"], tensors["direction.weights"] = direction.axis.columns, direction.axis.weights
    if hasattr(detector, "feature_names_in_"):
        names = json.dumps([str(name) for name in detector.feature_names_in_]).encode()
        tensors["feature_names_in_"] = np.frombuffer(names, dtype=np.uint8)
    header = {
        "format": FORMAT,
        "version": str(VERSION),
        "class": type(detector).__name__,
        "options": json.dumps(encode(options)),
        "facts": json.dumps({name: kind(getattr(detector, name)) for name, kind in _FACTS.items()}),
        "members": json.dumps(members),
        "normalize": json.dumps(detector.model_.normalize),
        "direction": json.dumps(None if direction is None else [direction.factor, direction.detector_factor]),
        "stage_seconds": json.dumps(detector.stage_seconds_),
        "source": json.dumps(detector.source_),
        "fingerprint": detector.fingerprint_,
        "ramodo": __version__,
    }

    def write(temporary: str) -> None:
        try:
            save_file(tensors, temporary, header)
        except SafetensorError as error:  # a full disk, in its words
            raise OSError(f"{path}: {error}") from None

    write_whole(path, write)
    return path


def _member_tensors(i: int, member: Member, sample: npt.NDArray[np.float32]) -> dict[str, npt.NDArray[Any]]:
    representation, detection = member.representation, member.detection
    if representation.head is not None or not isinstance(detection, References):
        raise ModelFileError(
            "a representation or scorer of your own was given; files are written of ramodo's stages only, since a file "
            "holds no code."
        )
    tensors = {
        "columns": representation.first.columns,
        "weights": representation.first.weights,
        "references": detection.rows,
        "sample": sample,
        **{f"upper.{j}": layer.weights for j, layer in enumerate(representation.upper)},
    }
    tensors |= _origin_tensors(member.origin)
    return {f"model.{i}.{name}": np.ascontiguousarray(value) for name, value in tensors.items()}


def _origin_tensors(origin: Origin | None) -> dict[str, npt.NDArray[Any]]:
    """The reference rows in the original features."""
    if origin is None:
        return {}
    numbers = {"origin.numbers": origin.numbers}
    if isinstance(origin.rows, DenseRows):
        return {**numbers, "origin.values": origin.rows.values}
    indices = origin.rows.indices.astype(np.int64)
    return {
        **numbers,
        "origin.indptr": origin.rows.indptr,
        "origin.indices": indices,
        "origin.data": origin.rows.data,
    }


def _read_origin(
    prefix: str, tensors: dict[str, npt.NDArray[Any]], n_references: int, n_features: int
) -> Origin | None:
    """The reference rows, where the file holds them; past the door for data like any other rows."""
    if f"{prefix}origin.numbers" not in tensors:
        return None
    numbers = tensors.pop(f"{prefix}origin.numbers")
    _check_array(f"{prefix}origin.numbers", numbers, "int64", 1)
    if f"{prefix}origin.values" in tensors:
        given: Any = tensors.pop(f"{prefix}origin.values")
    else:
        given = sp.csr_array((n_references, n_features))
        given.indptr = np.array(tensors.pop(f"{prefix}origin.indptr"))
        given.indices, given.data = tensors.pop(f"{prefix}origin.indices"), tensors.pop(f"{prefix}origin.data")
    rows, _ = open_rows(given, name=f"{prefix}origin")
    _require(rows.n_rows == len(numbers) == n_references and rows.n_features == n_features, "its references do not fit")
    return Origin(rows, numbers)


def _member_facts(member: Member, n_alive: int) -> dict[str, Any]:
    first, detection = member.representation.first, member.detection
    assert isinstance(detection, References)
    return {
        "seed": first.seed,
        "limit": first.limit,
        "slope": first.slope,
        "size": detection.size,
        "k": detection.phi.k,
        "average": detection.phi.average,
        "deviation": member.deviation,
        "n_alive": n_alive,
        "n_upper": len(member.representation.upper),
    }


def _refuse_to_save(detector: RandomDistanceDetector, options: dict[str, Any]) -> None:
    """What `load` would refuse must not be written."""
    check(options)
    if type(detector).__name__ not in _classes():
        raise ModelFileError(f"a {type(detector).__name__} was given; files are written of: {', '.join(_classes())}.")
    if detector.options_ != _shape_of(detector):
        raise ModelFileError(
            "options that shape the representation were set after the fit, which was made with "
            f"{detector.options_}; fit again."
        )


def _shape_of(detector: RandomDistanceDetector) -> str:
    from .framework import _shape_of

    return _shape_of(detector._stages())


def _classes() -> dict[str, Callable[..., RandomDistanceDetector]]:
    from .framework import RAMODO
    from .repen import REPEN, AverageNeighborREPEN, KthNeighborREPEN

    return {kind.__name__: kind for kind in (REPEN, RAMODO, KthNeighborREPEN, AverageNeighborREPEN)}


_CLASSES = ("REPEN", "RAMODO", "KthNeighborREPEN", "AverageNeighborREPEN")


def load(path: str | os.PathLike[str]) -> RandomDistanceDetector:
    """Read a detector that `save` wrote. Raises `ModelFileError` for any other file."""
    return _opened(path, _build)


class Opened:
    """A model that scores and maps rows, without scikit-learn, which takes most of a second to import."""

    n_jobs: int = 1

    def __init__(self, fitted: dict[str, Any]) -> None:
        self.__dict__.update(fitted)

    def outlier_score(self, X: Any, show: Callable[[int, int], None] | None = None) -> npt.NDArray[np.float64]:
        """As the detector's; `show` takes the rows that are done, and all."""
        return self.model_.score(self._open(X), self.n_jobs, show)

    def transform(self, X: Any) -> npt.NDArray[np.float32]:
        """As the detector's."""
        return self.model_.transform(self._open(X), self.n_jobs)

    def _open(self, X: Any) -> Rows:
        rows, _ = open_rows(X, n_threads=self.n_jobs)
        if rows.n_features != self.n_features_in_:
            raise DataError(f"X has {rows.n_features} features; allowed: the {self.n_features_in_} of the model.")
        return rows

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


def open_model(path: str | os.PathLike[str]) -> Opened:
    """The model in a file, for scoring alone."""
    return _opened(path, lambda header, tensors: Opened(_read_fitted(header, tensors)[1]))


def _opened(path: str | os.PathLike[str], build: Callable[[dict[str, str], dict[str, Any]], _T]) -> _T:
    path = Path(path)
    with path.open("rb"):  # a missing, unreadable or wrong kind of file: the system's own error says it best
        pass
    try:
        header, tensors = tensor_file.read(path)
    except (SafetensorError, TypeError, KeyError, AttributeError, ValueError, RecursionError) as error:
        raise ModelFileError(f"{path} is not a ramodo model: {str(error).rstrip('.')}.") from None
    try:
        return build(header, tensors)
    except (OptionError, ModelFileError, KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise ModelFileError(f"{path} is not a ramodo model: {str(error).rstrip('.')}.") from None


def _build(header: dict[str, str], tensors: dict[str, npt.NDArray[Any]]) -> RandomDistanceDetector:
    options, fitted = _read_fitted(header, tensors)
    options = decode(options)
    check(options)
    detector = _classes()[header["class"]](**options)
    detector.__dict__.update(fitted)
    _require(detector.options_ == _shape_of(detector) and _fits(detector), "its options do not fit its model")
    return detector


def _read_fitted(header: dict[str, str], tensors: dict[str, npt.NDArray[Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options as JSON, and the attributes of a fitted detector."""
    _require(header.get("format") == FORMAT, "its header does not say so")
    version = header.get("version")
    _require(version in ("1", str(VERSION)), f"version {version} is not 1 or {VERSION}, which are read here")
    _require(header.get("class") in _CLASSES, f"it holds a {header.get('class')}, known are {', '.join(_CLASSES)}")
    if version == "1":
        header, tensors = _from_version_1(header, tensors)
    options = json.loads(header["options"])
    _require(isinstance(options, dict), "its options are not a table")
    facts = _read(json.loads(header["facts"]), _FACTS)
    _check_facts(facts)
    names = tensors.pop("feature_names_in_", None)
    model, samples, alive = _read_model(header, tensors, facts["n_features_in_"])
    _require(set(tensors) == set(_ARRAYS), "its arrays are not those of a model")
    for name, dtype in _ARRAYS.items():
        array = tensors[name]
        _require(array.dtype == dtype and array.ndim == 1, f"{name} is {array.dtype} with {array.ndim} dimensions")
    fitted = {**facts, **tensors, "model_": model, "samples_": samples, "n_alive_": alive}
    if names is not None:
        fitted["feature_names_in_"] = _read_names(names, facts["n_features_in_"])
    fitted["stage_seconds_"] = json.loads(header["stage_seconds"])
    fitted["source_"], fitted["fingerprint_"] = _read_source(header.get("source")), header.get("fingerprint", "")
    return options, fitted


def _fits(detector: RandomDistanceDetector) -> bool:
    """Whether every model has the layers that the options name."""
    stage = detector._stages().representation
    for representation in (member.representation for member in detector.model_.members):
        widths = tuple(layer.weights.shape[1] for layer in (representation.first, *representation.upper))
        if widths != stage.checked_widths() or representation.first.slope != stage.slope:
            return False
    return True


def _read_source(given: str | None) -> dict[str, Any] | None:
    """How the data were read, where they came from a file."""
    source = None if given is None else json.loads(given)
    _require(source is None or isinstance(source, dict), "its source is not a table")
    return source


def _read(values: Any, kinds: dict[str, type]) -> dict[str, Any]:
    _require(isinstance(values, dict) and set(values) == set(kinds), "its facts are incomplete")
    for name, kind in kinds.items():
        allowed = (int, float) if kind is float else (kind,)
        _require(
            isinstance(values[name], allowed) and (kind is bool or not isinstance(values[name], bool)),
            f"{name} is {values[name]!r}",
        )
        values[name] = kind(values[name])
    return dict(values)


def _check_facts(facts: dict[str, Any]) -> None:
    _require(0 < facts["n_features_in_"] < 2**63, "a number is out of range")
    threshold = facts["threshold_"]
    _require(math.isfinite(threshold) and facts["offset_"] == offset_of(threshold), "its cut-off is not sound")


def _read_model(
    header: dict[str, str], tensors: dict[str, npt.NDArray[Any]], n_features: int
) -> tuple[Model, list[npt.NDArray[np.float32]], list[int]]:
    """All models, taken out of `tensors`."""
    given = json.loads(header["members"])
    _require(isinstance(given, list) and len(given) > 0, "it holds no model")
    members, samples, alive = [], [], []
    for i, values in enumerate(given):
        facts = _read(values, _MEMBER)
        members.append(_read_member(f"model.{i}.", facts, tensors, n_features))
        sample, width = tensors.pop(f"model.{i}.sample"), members[-1].representation.width
        _check_array(f"model.{i}.sample", sample, "float32", 2)
        _require(sample.shape[1] == width and 0 <= facts["n_alive"] <= width, f"model.{i}.sample does not fit")
        samples.append(sample)
        alive.append(facts["n_alive"])
    normalize = json.loads(header["normalize"])
    check({"normalize": normalize})
    return Model(tuple(members), normalize, _read_direction(header, tensors, n_features)), samples, alive


def _read_member(prefix: str, facts: dict[str, Any], tensors: dict[str, npt.NDArray[Any]], n_features: int) -> Member:
    _require(0 <= facts["seed"] < 2**64 and 0 < facts["limit"] < 1e30, "a number is out of range")
    _require(0 <= facts["slope"] <= 1 and 0 <= facts["n_upper"] <= _MOST_LAYERS, "a number is out of range")
    _require(0 <= facts["deviation"] < math.inf, "a number is out of range")
    columns, weights = tensors.pop(f"{prefix}columns"), tensors.pop(f"{prefix}weights")
    _check_columns(f"{prefix}columns", columns, n_features)
    _check_array(f"{prefix}weights", weights, "float32", 2)
    _require(len(weights) == len(columns) and weights.shape[1] > 0, f"{prefix}weights has shape {weights.shape}")
    upper, width = [], weights.shape[1]
    for j in range(facts["n_upper"]):
        layer = tensors.pop(f"{prefix}upper.{j}")
        _check_array(f"{prefix}upper.{j}", layer, "float32", 2)
        _require(len(layer) == width and layer.shape[1] > 0, f"{prefix}upper.{j} has shape {layer.shape}")
        upper.append(DenseLayer(layer, facts["slope"]))
        width = layer.shape[1]
    references, size = tensors.pop(f"{prefix}references"), facts["size"]
    _check_array(f"{prefix}references", references, "float32", 2)
    _require(size > 0 and 1 <= facts["k"] <= size, "its subsamples are empty, or k is out of range")
    _require(
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
    _require(fine and all(math.isfinite(f) for f in factors), "its direction has no factors")
    columns, weights = tensors.pop("direction.columns"), tensors.pop("direction.weights")
    _check_columns("direction.columns", columns, n_features)
    _check_array("direction.weights", weights, "float32", 2)
    _require(weights.shape == (len(columns), 1), "direction.weights do not fit its features")
    return LabelDirection(Axes(columns, weights, n_features), factors[0], factors[1])


def _check_array(name: str, array: npt.NDArray[Any], dtype: str, ndim: int) -> None:
    _require(array.dtype == dtype and array.ndim == ndim, f"{name} is {array.dtype} with {array.ndim} dimensions")
    if array.nbytes <= _CHECKED_AT_ONCE:
        _require(bool(np.isfinite(array).all()), f"{name} is not finite")


def _check_columns(name: str, columns: npt.NDArray[Any], n_features: int) -> None:
    _check_array(name, columns, "int64", 1)
    if len(columns):
        increasing = columns.nbytes > _CHECKED_AT_ONCE or bool((columns[1:] > columns[:-1]).all())
        _require(increasing and columns[0] >= 0 and columns[-1] < n_features, "features are out of range")


def _from_version_1(
    header: dict[str, str], tensors: dict[str, npt.NDArray[Any]]
) -> tuple[dict[str, str], dict[str, npt.NDArray[Any]]]:
    """A file of one model, as version 2 has it. What it did not keep, `diagnose` does without."""
    old = json.loads(header["facts"])
    _require(header["class"] == "REPEN" and isinstance(old, dict), "version 1 held the facts of a REPEN")
    weights = tensors.pop("feature_weights_")
    _check_array("feature_weights_", weights, "float32", 2)
    n_components = json.loads(header["options"])["n_components"]
    _require(weights.shape[1] == n_components, f"feature_weights_ has shape {weights.shape}")
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
    _require(not set(newer) & set(tensors), "its arrays are not those of a model")
    old["options_"] = repr(("Layers", n_components, (n_components,), 0.0))
    return {
        **header,
        "facts": json.dumps(old),
        "members": json.dumps([member]),
        "normalize": "null",
        "direction": "null",
    }, tensors | newer


def _read_names(encoded: npt.NDArray[Any], n_features: int) -> npt.NDArray[np.object_]:
    _require(encoded.dtype == np.uint8 and encoded.ndim == 1, "feature names are not text")
    names = json.loads(encoded.tobytes())
    _require(isinstance(names, list) and len(names) == n_features, "feature names do not fit the features")
    _require(all(isinstance(name, str) for name in names), "feature names are not text")
    return np.array(names, dtype=object)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ModelFileError(message)
