"""Options as JSON: simple values unchanged, and ramodo's stages by name and options. Anything else is refused."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from ... import HOMES
from ...options import OptionError

_STAGES = {
    name: home
    for name, home in HOMES.items()
    if home.startswith("stages.") and home != "stages.protocols"  # which has no stages, only their types
}
"""Stages that a file may name, and their modules."""


def encode(value: Any) -> Any:
    """Return `value` as JSON; raise `OptionError` if a file cannot hold it."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple | np.ndarray):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {key: encode(item) for key, item in value.items()}
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return None
    name = type(value).__name__
    if _is_own(value, name):
        return {"stage": name, "options": encode(value.get_params(deep=False))}
    raise OptionError(
        f"a stage to save must be one of ramodo's ({', '.join(_STAGES)}), since a file holds no code, got {value!r}."
    )


def _is_own(value: Any, name: str) -> bool:
    return name in _STAGES and type(value).__module__ == f"ramodo.{_STAGES[name]}"


def decode(value: Any) -> Any:
    """Return the value that `encode` encoded; raise `OptionError` for an unknown stage."""
    if isinstance(value, list):
        return tuple(decode(item) for item in value)
    if not isinstance(value, dict):
        return value
    if set(value) != {"stage", "options"}:
        return {key: decode(item) for key, item in value.items()}
    name = value["stage"]
    if not isinstance(name, str) or name not in _STAGES or not isinstance(value["options"], dict):
        raise OptionError(f"the stage {name!r} is unknown")
    kind = getattr(import_module(f"ramodo.{_STAGES[name]}"), name)
    return kind(**decode(value["options"]))
