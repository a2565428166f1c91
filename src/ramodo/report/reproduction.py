"""How to reproduce the numbers: options, seed, versions, data."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
import sklearn

from .. import __version__
from ..formats.schema import Schema

if TYPE_CHECKING:
    from ..framework import RandomDistanceDetector

_COLUMNS = {
    "format": "format of the file",
    "id": "column of ids",
    "label": "column of labels",
    "text": "column of documents",
    "ignore": "columns left out",
    "categories": "columns of categories",
}

_MISSING = {
    "zero": "treated as 0",
    "mean": "replaced by the mean of their column",
    "indicator": "treated as 0, and marked in a separate column",
}


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """A call and a command that give the same detector, and names and values as text."""

    call: str
    command: str
    """The command line that fitted the model, if any."""
    options: dict[str, str]
    changed: tuple[str, ...]
    """Options that differ from their defaults."""
    versions: dict[str, str]
    data: dict[str, str]
    seconds: dict[str, float]
    seed: str
    written: str


def reproduction(detector: RandomDistanceDetector, print_of_rows: str, is_training: bool) -> Reproduction:
    """How to reproduce a detector and its scores for the given rows."""
    options = detector.get_params(deep=False)
    defaults = type(detector)().get_params(deep=False)
    changed = tuple(name for name in options if repr(options[name]) != repr(defaults[name]))
    given = ", ".join(f"{name}={options[name]!r}" for name in changed if name not in ("n_jobs", "verbose"))
    data = {"fingerprint of the training data": detector.fingerprint_ or "not kept by this model file"}
    if not is_training:
        data["fingerprint of these data"] = print_of_rows
    data |= {} if detector.schema_ is None else _reading(detector.schema_)
    return Reproduction(
        call=f"{type(detector).__name__}({given}).fit(X)",
        command=detector.provenance_.command,
        options={name: repr(value) for name, value in options.items()},
        changed=changed,
        versions={
            "ramodo": __version__,
            "Python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
            "system": f"{platform.system()}, {platform.machine()}",
        },
        data=data,
        seconds={name: float(value) for name, value in detector.stage_seconds_.items()},
        seed=_seed(options.get("random_state")),
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def _reading(schema: Schema) -> dict[str, str]:
    """Return where reading a file differed from the defaults."""
    read: dict[str, Any] = {text: getattr(schema, name) for name, text in _COLUMNS.items()}
    read["missing values"] = _MISSING.get(schema.missing)
    if schema.zero_based is not None:
        read["first feature"] = "number 0" if schema.zero_based else "number 1"
    if schema.texts:
        tokens = schema.tokens
        read["runs of words, from-to"] = "-".join(map(str, tokens.words))
        read["runs of characters, from-to"] = "-".join(map(str, tokens.characters))
        read["features of documents"] = "one column each" if tokens.vocabulary else f"hashed to 2^{tokens.bits} columns"
        read["values of features"] = (
            "1 + ln of the count, times the inverse document frequency" if tokens.idf else "counts"
        )
    return {
        text: ", ".join(value) if isinstance(value, list | tuple) else str(value)
        for text, value in read.items()
        if value not in (None, [], ())
    }


def _seed(given: Any) -> str:
    if isinstance(given, int | np.integer):
        return f"{given}; the same seed, options and data give the same scores, bit for bit"
    if given is None:
        return "none was given, or the model file does not have it: another fit gives somewhat different scores"
    return "from a generator: give a number as random_state to make a fit repeatable"
