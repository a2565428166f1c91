"""The model file: safetensors, with options as JSON in its header. No pickle, and nothing that could run.

A file is written beside its target and renamed onto it, so a crash leaves the previous file. Reading trusts nothing:
reading.py checks the header, every dtype and every shape before a detector is built, and a checksum reveals damage.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from ... import __version__
from ...data.rows import Rows
from ...data.validation import DataError, open_rows
from ...files.whole import write_whole
from ...formats.schema import Schema
from ...options import check
from ..fitted import FittedDetector
from ..saved import ModelFileError, require
from ..terms import Model
from . import frequencies
from . import tensors as tensor_file
from .facts import ARRAYS, FACTS
from .reading import FORMAT, VERSION, read_fitted
from .stage_options import decode, encode
from .tensors import save_file
from .terms import describe

if TYPE_CHECKING:
    from ...framework import RandomDistanceDetector

_T = TypeVar("_T")


def save(detector: RandomDistanceDetector, path: Path) -> Path:
    """Write a fitted detector to `path`: whole, or not at all."""
    options = detector.get_params(deep=False)
    _refuse_to_save(detector, options)
    if not isinstance(options["random_state"], int | np.integer):
        options["random_state"] = None  # a generator's state is not part of the model
    tensors = {name: np.ascontiguousarray(getattr(detector, name), dtype=dtype) for name, dtype in ARRAYS.items()}
    _refuse_own_stages(detector.model_)
    terms, arrays = describe(detector.model_)
    tensors |= arrays | {f"sample.{i}": np.ascontiguousarray(sample) for i, sample in enumerate(detector.samples_)}
    schema: Schema | None = detector.schema_
    if schema is not None:
        tensors["schema"] = np.frombuffer(schema.to_json().encode(), dtype=np.uint8)
    if hasattr(detector, "feature_names_in_") and (schema is None or schema.names is None or schema.first_named):
        names = json.dumps([str(name) for name in detector.feature_names_in_]).encode()
        tensors["feature_names_in_"] = np.frombuffer(names, dtype=np.uint8)
    of_documents, arrays = frequencies.describe(detector.document_frequencies_)
    tensors |= arrays
    profile = detector.profile_
    if profile is not None:
        tensors |= profile.tensors()
        of_documents["profile"] = json.dumps(profile.facts())
    header = of_documents | {
        "format": FORMAT,
        "version": str(VERSION),
        "class": type(detector).__name__,
        "options": json.dumps(encode(options)),
        "facts": json.dumps({name: kind(getattr(detector, name)) for name, kind in FACTS.items()}),
        "terms": terms,
        "alive": json.dumps(list(detector.n_alive_)),
        "stage_seconds": json.dumps(detector.stage_seconds_),
        "provenance": detector.provenance_.to_json(),
        "fingerprint": detector.fingerprint_,
        "ramodo": __version__,
    }

    _refuse_what_load_refuses(header, tensors)
    write_whole(path, lambda temporary: save_file(tensors, temporary, header))
    return path


def _refuse_own_stages(model: Model) -> None:
    if any(term.representation.head is not None or term.detection.references is None for term in model.learned):
        raise ModelFileError(
            "a model with a user-defined representation or scorer cannot be saved, since a file holds no code."
        )


def _refuse_to_save(detector: RandomDistanceDetector, options: dict[str, Any]) -> None:
    """Raise an error for a detector or options that `load` would refuse."""
    check(options)
    if type(detector).__name__ not in _classes():
        raise ModelFileError(
            f"a detector to save must be one of {', '.join(_classes())}, got {type(detector).__name__}."
        )
    if detector.options_ != detector._stages().shape():
        raise ModelFileError(
            "options that shape the representation were changed after the fit, which was made with "
            f"{detector.options_}; fit again."
        )


def _refuse_what_load_refuses(header: dict[str, str], tensors: dict[str, npt.NDArray[Any]]) -> None:
    """Raise if attributes were changed after the fit so that `load` would refuse the file."""
    try:
        _build({**header, tensor_file.CHECKSUM: ""}, dict(tensors))
    except ValueError as error:
        raise ModelFileError(
            f"the detector was changed after its fit and would not load again: {str(error).rstrip('.')}. Fit it again."
        ) from None


def _classes() -> dict[str, Callable[..., RandomDistanceDetector]]:
    from ...consensus import Consensus
    from ...framework import RAMODO
    from ...neighbors import AverageNeighborREPEN, KthNeighborREPEN
    from ...repen import REPEN

    return {kind.__name__: kind for kind in (Consensus, REPEN, RAMODO, KthNeighborREPEN, AverageNeighborREPEN)}


def load(path: str | os.PathLike[str], *, verify: bool = False) -> RandomDistanceDetector:
    """Read a detector that `save` wrote. Raises `ModelFileError` for any other file.

    Parameters
    ----------
    path : the file; up to 256 MB are read into memory, a larger file must not be changed in place while it is in use
    verify : check the checksum of a file of any size, which reads all of it; files of up to half a megabyte are always
        checked

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from ramodo import Consensus, load
    >>> X = np.random.default_rng(0).normal(size=(100, 30))
    >>> detector = Consensus(random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = load(detector.save(f"{folder}/model.ramodo"))
    >>> bool((again.outlier_score(X) == detector.outlier_scores_).all())
    True
    """
    return load_with_header(path, verify=verify)[0]


def load_with_header(
    path: str | os.PathLike[str], *, verify: bool = False
) -> tuple[RandomDistanceDetector, dict[str, str]]:
    """Do the same as `load`, and also return the file's header."""
    return _opened(path, lambda header, tensors: (_build(header, tensors), header), verify)


class Opened(FittedDetector):
    """A model that scores and maps rows without scikit-learn, which takes most of a second to import."""

    n_jobs: int = 1
    checksum_: str
    """Of the file."""
    version_: str
    """Of the ramodo that wrote it."""

    def __init__(self, fitted: dict[str, Any]) -> None:
        self.__dict__.update(fitted)

    def outlier_score(self, X: Any, show: Callable[[int, int], None] | None = None) -> npt.NDArray[np.float64]:
        """Return the detector's scores; `show` is called with the rows done so far and in total."""
        return self.model_.score(self.rows_of(X), self.n_jobs, show)

    def transform(self, X: Any) -> npt.NDArray[np.float32]:
        """As the detector's."""
        return self.model_.transform(self.rows_of(X), self.n_jobs)

    def rows_of(self, X: Any) -> Rows:
        """As the detector's."""
        rows = open_rows(X, n_threads=self.n_jobs)
        if rows.n_features != self.n_features_in_:
            raise DataError(f"X must have the {self.n_features_in_} features of the model, got {rows.n_features}.")
        return rows

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


def open_model(path: str | os.PathLike[str]) -> Opened:
    """The model in a file, for scoring alone: everything is checked but the options, which only another fit needs."""

    def build(header: dict[str, str], tensors: dict[str, Any]) -> Opened:
        fitted = read_fitted(header, tensors)[1]
        return Opened({**fitted, "checksum_": header[tensor_file.CHECKSUM], "version_": header.get("ramodo", "")})

    return _opened(path, build, verify=False)


def _opened(path: str | os.PathLike[str], build: Callable[[dict[str, str], dict[str, Any]], _T], verify: bool) -> _T:
    try:  # for a missing or unreadable file, the system's own error is best
        return build(*tensor_file.read(path, verify=verify))
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise ModelFileError(f"{os.fspath(path)} is not a ramodo model: {str(error).rstrip('.')}.") from None


def _build(header: dict[str, str], tensors: dict[str, npt.NDArray[Any]]) -> RandomDistanceDetector:
    encoded, fitted = read_fitted(header, tensors)
    options = decode(encoded)
    check(options)
    detector = _classes()[header["class"]](**options)
    detector.__dict__.update(fitted)
    require(detector.options_ == detector._stages().shape() and _fits(detector), "its options do not fit its model")
    return detector


def _fits(detector: RandomDistanceDetector) -> bool:
    """Return whether every model has the layers that the options ask for."""
    stage = detector._stages().representation
    for representation in (term.representation for term in detector.model_.learned):
        weights = (representation.first.weights, *(layer.weights for layer in representation.upper))
        widths = tuple(each.shape[1] for each in weights)
        if widths != stage.checked_widths() or representation.first.slope != stage.slope:
            return False
    return True
