"""Terms in a model file: a tree of facts as JSON, and arrays named by their place in it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ..by_fold import ByFold
from ..combining import Mean, Normalized, Sum
from ..evidence import Evidence
from ..label_direction import LabelDirection
from ..learned import LearnedDistance
from ..original import OriginalDistance
from ..rarity import Rarity
from ..saved import MOST_TERMS, Saved, require, shown
from ..terms import Model, Tensors, Term

KINDS: dict[str, type[Term]] = {
    kind.kind: kind
    for kind in (LearnedDistance, OriginalDistance, LabelDirection, Rarity, Mean, Normalized, Evidence, Sum, ByFold)
}
"""Terms that a file may hold."""


def describe(model: Model) -> tuple[str, Tensors]:
    """Return the terms as JSON, and their arrays. Feature counts that several terms share are written once."""
    tensors: Tensors = {}
    shared: dict[str, str] = {}
    first: dict[int, str] = {}

    def described(term: Term, prefix: str) -> dict[str, Any]:
        for name, array in term.tensors().items():
            place = first.setdefault(id(array), prefix + name) if isinstance(term, Rarity) else prefix + name
            if place == prefix + name:
                tensors[place] = np.ascontiguousarray(array)
            else:
                shared[prefix + name] = place
        inner = [described(one, f"{prefix}{i}.") for i, one in enumerate(term.inner())]
        return {"kind": term.kind, **term.facts(), **({"terms": inner} if inner else {})}

    terms = [described(term, f"term.{i}.") for i, term in enumerate(model.terms)]
    return json.dumps({"weights": list(model.weights), "shared": shared, "terms": terms}), tensors


def read(text: str, tensors: Tensors, n_features: int, n_rows: int) -> Model:
    """Return the model and take its arrays out of `tensors`; references are among `n_rows` training rows."""
    facts = json.loads(text)
    _share(facts, tensors)
    saved = Saved(facts, tensors, n_features, n_rows)
    weights = saved.reals("weights", low=0.0)
    terms = saved.terms(_read)
    saved.finish()
    require(len(weights) == len(terms) > 0, "it has not one weight for each of its terms")
    return Model(terms, tuple(weights))


def _share(facts: Any, tensors: Tensors) -> None:
    """Let each term find arrays that several terms share and that are written once."""
    require(isinstance(facts, dict), "term is not a table")
    shared = facts.pop("shared", {})
    require(isinstance(shared, dict) and len(shared) <= MOST_TERMS, "its shared arrays are not a table")
    for name, other in shared.items():
        fine = isinstance(other, str) and other in tensors and name not in tensors
        require(fine, f"{shown(name)} shares the array {shown(other)}, which the file does not have")
    tensors |= {name: tensors[other] for name, other in shared.items()}


def _read(saved: Saved) -> Term:
    kind = saved.kind()
    require(kind in KINDS, f"it holds the term {shown(kind)}, known are {', '.join(KINDS)}")
    inner = saved.terms(_read)
    term = KINDS[kind].read(saved, inner)
    saved.finish()
    require(term.inner() == inner, f"it holds terms within a {kind}, which has none")
    return term
