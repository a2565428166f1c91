"""Files of version 2 converted to version 3: models and a direction become terms."""

from __future__ import annotations

import json
from typing import Any

import numpy.typing as npt

from ..saved import require, shown

_FACTS = ("seed", "limit", "slope", "size", "k", "average", "n_upper")

Tensors = dict[str, npt.NDArray[Any]]


def from_version_2(header: dict[str, str], tensors: Tensors) -> tuple[dict[str, str], Tensors]:
    """Header and arrays of version 3; what is checked there is not checked here."""
    members, normalize, factors = (json.loads(header[name]) for name in ("members", "normalize", "direction"))
    _check_members(members)
    require(factors is None or (isinstance(factors, list) and len(factors) == 2), "its direction has no factors")
    term, place = _term(members, normalize)
    terms, weights = [term], [1.0]
    if factors is not None:
        terms, weights = [term, {"kind": "label direction"}], [factors[1], factors[0]]
    numbers = {str(i): f"{i}." if len(members) > 1 else "" for i in range(len(members))}
    named = {_renamed(name, place, numbers): array for name, array in tensors.items()}
    require(len(named) == len(tensors), "two of its arrays have one place")
    said = {
        "terms": json.dumps({"weights": weights, "terms": terms}),
        "alive": json.dumps([member["n_alive"] for member in members]),
        "options": _with_labels_in_score(header["options"]),
    }
    return {**header, **said}, named


def _check_members(members: Any) -> None:
    """Check what version 3 does not contain."""
    require(isinstance(members, list) and len(members) > 0, "it holds no model")
    for member in members:
        complete = isinstance(member, dict) and set(member) == {*_FACTS, "deviation", "n_alive"}
        require(complete, "its facts are incomplete")
        deviation = member["deviation"]
        require(type(deviation) in (int, float) and deviation >= 0, f"a deviation is {shown(deviation)}")


def _term(members: list[dict[str, Any]], normalize: Any) -> tuple[dict[str, Any], str]:
    """The models as one term, and where its arrays are."""
    learned = [{"kind": "learned distance", **{name: member[name] for name in _FACTS}} for member in members]
    term, place = learned[0], "term.0."
    if len(learned) > 1:
        term = {"kind": "mean", "units": [member["deviation"] or 1.0 for member in members], "terms": learned}
    if normalize is not None:
        term, place = {"kind": "normalized", "how": normalize, "terms": [term]}, f"{place}0."
    return term, place


def _renamed(name: str, place: str, numbers: dict[str, str]) -> str:
    """Where an array is now; `numbers` are those of the models, each with its place among them."""
    kind, _, rest = name.partition(".")
    if kind == "direction":
        return f"term.1.{rest}"
    number, _, own = rest.partition(".")
    if kind != "model" or number not in numbers:
        return name
    return f"sample.{number}" if own == "sample" else f"{place}{numbers[number]}{own}"


def _with_labels_in_score(given: str) -> str:
    """In version 2 labels entered the score if their share of the negatives was automatic."""
    options = json.loads(given)
    if not isinstance(options, dict) or "labels_in_score" in options:
        return given
    sampler: Any = options
    if "sampler" in options:
        sampler = options["sampler"].get("options") if isinstance(options["sampler"], dict) else None
    share = sampler.get("labeled_fraction", "auto") if isinstance(sampler, dict) else "auto"
    return json.dumps({**options, "labels_in_score": share == "auto"})
