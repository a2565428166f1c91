"""Options as JSON: plain values as they are, ramodo's own stages by name and options. Nothing else has a place."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from ... import HOMES
from ...options import OptionError

_STAGES = {
    name: home
    for name, home in HOMES.items()
    if home.startswith("stages.") and home != "stages.protocols"  # which has what stages are made of
}
"""Stages that a file may name, and their modules."""


def encode(value: Any) -> Any:
    """`value` as JSON has it; raises `OptionError` for what has no place in a file."""
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
        f"{value!r} was given as a stage; files are written of ramodo's stages only ({', '.join(_STAGES)}), since a "
        "file holds no code."
    )


def _is_own(value: Any, name: str) -> bool:
    return name in _STAGES and type(value).__module__ == f"ramodo.{_STAGES[name]}"


def decode(value: Any) -> Any:
    """What `encode` was given; raises `OptionError` for a stage that is not known."""
    if isinstance(value, list):
        return tuple(decode(item) for item in value)
    if not isinstance(value, dict):
        return value
    if set(value) != {"stage", "options"}:
        return {key: decode(item) for key, item in value.items()}
    name = value["stage"]
    if not isinstance(name, str) or name not in _STAGES or not isinstance(value["options"], dict):
        raise OptionError(f"the stage {name!r} is not known")
    kind = getattr(import_module(f"ramodo.{_STAGES[name]}"), name)
    return kind(**decode(value["options"]))
