"""The distance to references in a learned representation: the score of REPEN and its siblings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..data.blocks import Block
from ..kernels import Phi
from ..options import OptionError
from .parts import Doubles, Part, View
from .references import Fitted, Origin, References, nearest
from .representation import DenseLayer, Representation, SparseLayer
from .saved import Saved, require
from .terms import Scores, Tensors, Term
from .ties import ROUNDING


@dataclass(frozen=True)
class LearnedDistance(Term):
    """One representation and the detector in it."""

    representation: Representation
    detection: References | Fitted
    origin: Origin | None = None
    """The reference rows, for explanations; None for user-defined detectors."""
    kind: ClassVar[str] = "learned distance"

    def score(self, block: Block, n_threads: int, normalize: str | None = None) -> Scores:
        return self.detection.score(self.representation.transform(block, n_threads), n_threads)

    @property
    def _references(self) -> References:
        """Return the references; raise for user-defined scorers and heads, which cannot be saved or explained."""
        if self.detection.references is None or self.representation.head is not None:
            raise OptionError("user-defined scorers and heads cannot be explained: only distances in layers add up.")
        return self.detection.references

    def parts(self, weight: float, normalize: str | None) -> list[Part]:
        return [LearnedPart(self, weight, normalize)]

    def compared_with(self) -> Origin | None:
        return self.origin

    def facts(self) -> dict[str, Any]:
        first, detection = self.representation.first, self._references
        return {
            "seed": first.seed,
            "limit": first.limit,
            "slope": first.slope,
            "size": detection.size,
            "k": detection.phi.k,
            "average": detection.phi.average,
            "n_upper": len(self.representation.upper),
        }

    def tensors(self) -> Tensors:
        first, references = self.representation.first, self._references.rows
        tensors: Tensors = {"columns": first.columns, "weights": first.weights, "references": references}
        tensors |= {f"upper.{j}": layer.weights for j, layer in enumerate(self.representation.upper)}
        if self.origin is not None:
            tensors["origin.numbers"] = self.origin.numbers
            tensors |= {f"origin.{name}": array for name, array in self.origin.rows.arrays().items()}
        return tensors

    @classmethod
    def read(cls, saved: Saved, inner: tuple[Term, ...]) -> LearnedDistance:
        slope = saved.real("slope", 0, 1)
        columns, weights = saved.features("columns"), saved.array("weights", "float32", 2)
        require(len(weights) == len(columns) and weights.shape[1] > 0, f"weights has shape {weights.shape}")
        upper, width = [], weights.shape[1]
        for j in range(saved.integer("n_upper", 0, _MOST_LAYERS)):
            layer = saved.array(f"upper.{j}", "float32", 2)
            require(len(layer) == width and layer.shape[1] > 0, f"upper.{j} has shape {layer.shape}")
            upper.append(DenseLayer(layer, slope))
            width = layer.shape[1]
        size = saved.integer("size", 1, 2**31)
        phi = Phi(saved.integer("k", 1, size), saved.flag("average"))
        references = saved.array("references", "float32", 2)
        fine = references.shape[1] == width and len(references) > 0 and len(references) % size == 0
        require(fine, f"references has shape {references.shape}")
        seed, limit = saved.integer("seed", 0, 2**64 - 1), saved.real("limit", 1e-30, 1e30)
        first = SparseLayer(
            columns=columns, weights=weights, n_features=saved.n_features, seed=seed, limit=limit, slope=slope
        )
        origin = saved.origin(len(references))
        return cls(Representation(first, tuple(upper)), References(references, size, phi), origin)


_MOST_LAYERS = 64


class LearnedPart(Part):
    """A part that is linear in the features, given which units respond and which references are nearest."""

    def __init__(self, term: LearnedDistance, weight: float, normalize: str | None) -> None:
        detection, representation = term._references, term.representation
        if term.origin is None:
            raise OptionError("this model was saved without its reference rows and cannot be explained; fit it again.")
        self._representation, self._detection = representation, detection
        self._weight, self._normalize = weight, normalize
        self.as_given, self.numbers = term.origin.rows, term.origin.numbers
        seen = term.origin.rows.normalized(normalize)
        self.references = seen.multiplied()
        self.projection = representation.first.projection
        self._small = detection.rows.astype(np.float64)
        self._gates = self._layers_of(seen)[1]

    def _layers_of(self, rows: Block) -> tuple[Doubles, list[Doubles]]:
        """Return the representation of rows, and the slopes of the units of each layer."""
        layers = self._representation
        hidden, gates = layers.first.transform(rows, 1), []
        for layer in (None, *layers.upper):
            hidden = hidden if layer is None else layer.transform(hidden, 1)
            gates.append(np.where(hidden > 0, 1.0, layers.first.slope))
        return hidden.astype(np.float64), gates

    def _back(self, u: Doubles, gates: list[Doubles]) -> Doubles:
        """Propagate a gradient with respect to the representation back to the sums of the first layer."""
        for layer, gate in zip(reversed(self._representation.upper), reversed(gates[1:]), strict=True):
            u = (u * gate) @ layer.weights.T.astype(np.float64)
        return u * gates[0]

    def view(self, block: Block) -> View:
        seen = block.normalized(self._normalize)
        mapped, gates = self._layers_of(seen)
        squared = ((mapped[:, None, :] - self._small[None]) ** 2).sum(axis=2)
        near = nearest(squared, self._detection.size, self._detection.phi)
        difference = mapped[:, None, :] - self._small[near]
        distances = np.sqrt((difference**2).sum(axis=2))
        sizes = np.linalg.norm(mapped, axis=1)[:, None] + np.linalg.norm(self._small, axis=1)[near]
        distances = np.where(distances > ROUNDING * sizes, distances, 0.0)  # else its direction is chance
        scale = np.where(distances > 0, self._weight / near.shape[1] / np.where(distances > 0, distances, 1.0), 0.0)
        u = difference * scale[:, :, None]
        p = self._back(u.sum(axis=1), gates)
        flat = near.ravel()
        q = -self._back(u.reshape(len(flat), -1), [gate[flat] for gate in self._gates])
        factors = np.ones(block.n_rows) if seen.factors is None else seen.factors
        return View(p, factors, near, q.reshape(block.n_rows, -1), distances)
