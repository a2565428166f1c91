"""Files of version 2, in the words of version 3: models and a direction become terms."""

from __future__ import annotations

import json
from typing import Any

import numpy.typing as npt

from ..saved import require

_FACTS = ("seed", "limit", "slope", "size", "k", "average", "n_upper")


def from_version_2(
    header: dict[str, str], tensors: dict[str, npt.NDArray[Any]]
) -> tuple[dict[str, str], dict[str, npt.NDArray[Any]]]:
    """Header and arrays as version 3 has them; nothing is checked here that is checked there."""
    members, normalize, factors = (json.loads(header[name]) for name in ("members", "normalize", "direction"))
    require(isinstance(members, list) and all(isinstance(member, dict) for member in members), "it holds no model")
    require(factors is None or (isinstance(factors, list) and len(factors) == 2), "its direction has no factors")
    learned = [{"kind": "learned distance", **{name: member[name] for name in _FACTS}} for member in members]
    several = len(learned) > 1
    term: dict[str, Any] = learned[0] if learned else {}
    if several:
        term = {"kind": "mean", "units": [member["deviation"] or 1.0 for member in members], "terms": learned}
    if normalize is not None:
        term = {"kind": "normalized", "how": normalize, "terms": [term]}
    terms, weights = [term], [1.0]
    if factors is not None:
        terms, weights = [term, {"kind": "label direction"}], [factors[1], factors[0]]
    depth = "0." * (normalize is not None)
    named = {}
    for name, array in tensors.items():
        named[_renamed(name, f"term.0.{depth}", several)] = array
    alive = [member.get("n_alive") for member in members]
    return {
        **header,
        "terms": json.dumps({"weights": weights, "terms": terms}),
        "alive": json.dumps(alive),
    }, named


def _renamed(name: str, place: str, several: bool) -> str:
    if name.startswith("direction."):
        return f"term.1.{name.removeprefix('direction.')}"
    if not name.startswith("model."):
        return name
    number, rest = name.removeprefix("model.").split(".", 1)
    if rest == "sample":
        return f"sample.{number}"
    return f"{place}{number}.{rest}" if several else f"{place}{rest}"
