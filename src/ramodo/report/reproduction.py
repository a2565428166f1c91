"""How to get the same numbers again: options, seed, versions, data."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import scipy
import sklearn

from .. import __version__


@dataclass(frozen=True)
class Reproduction:
    """Names and values, all of them text; and a call that makes the same detector."""

    call: str
    options: dict[str, str]
    changed: tuple[str, ...]
    """Options that are not as by default."""
    versions: dict[str, str]
    data: dict[str, str]
    seconds: dict[str, float]
    seed: str
    written: str


def reproduction(detector: Any, print_of_rows: str, is_training: bool) -> Reproduction:
    """Of a detector and the rows that it was shown."""
    options = detector.get_params(deep=False)
    defaults = type(detector)().get_params(deep=False)
    changed = tuple(name for name in options if repr(options[name]) != repr(defaults[name]))
    given = ", ".join(f"{name}={options[name]!r}" for name in changed if name not in ("n_jobs", "verbose"))
    data = {"fingerprint of the training data": detector.fingerprint_ or "not kept by this model file"}
    if not is_training:
        data["fingerprint of these data"] = print_of_rows
    source = {name: value for name, value in (detector.source_ or {}).items() if name != "reference_ids"}
    data |= {f"read with {name}": str(value) for name, value in source.items() if value not in (None, [], {}, ())}
    return Reproduction(
        f"{type(detector).__name__}({given}).fit(X)",
        {name: repr(value) for name, value in options.items()},
        changed,
        {
            "ramodo": __version__,
            "Python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
            "system": f"{platform.system()}, {platform.machine()}",
        },
        data,
        {name: float(value) for name, value in detector.stage_seconds_.items()},
        _seed(options.get("random_state")),
        datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def _seed(given: Any) -> str:
    if isinstance(given, int | np.integer):
        return f"{given}; the same seed, options and data give the same scores, bit for bit"
    if given is None:
        return "none was given, or it is not in the model file: another fit gives somewhat different scores"
    return "drawn from a generator: give a number as random_state to be able to repeat a fit"
