"""Ramodo finds the outliers in data with thousands to billions of features, most of them zero.

It implements RAMODO and its instance REPEN (Pang, Cao, Chen, Liu, KDD 2018). Data flow through the packages like this:

    X ──► rows: map and take                               data/
                              │
                              ▼
          references ──► r = Sp(X | references)            stages/scoring.py        eq. 1
                              │
                              ▼
                      Cantelli: O, I (+ labels)            stages/thresholding.py   eq. 2
                              │
                              ▼
              meta-triplets (<queries>, x+, x-)            stages/triplets.py       eq. 3, 4; labels: sec. 4.6
                              │
                              ▼
        f(x) = ReLU(x W), hinge on φ(f(x)|Q), ADADELTA     stages/layers.py, ranking_loss.py, fitting/    eq. 5-9
                              │
                              ▼
    X' = f(X) ──► references in X' ──► Sp(X' | references) model/: a score is a sum of terms
                              │
                              ▼
         reasons, checks, reports                          explain/, insight/, report/

`fitting/` runs the stages, `framework.py` and `repen.py` wrap them as scikit-learn estimators, and `kernels/` calls
native code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
HOMES = {
    "RAMODO": "framework",
    "Consensus": "consensus",
    "REPEN": "repen",
    "KthNeighborREPEN": "neighbors",
    "AverageNeighborREPEN": "neighbors",
    "TableReader": "table_reader",
    "Sp": "stages.scoring",
    "KthNN": "stages.scoring",
    "AverageNN": "stages.scoring",
    "Ensemble": "stages.ensembles",
    "Cantelli": "stages.thresholding",
    "TopFraction": "stages.thresholding",
    "TopK": "stages.thresholding",
    "GivenSet": "stages.thresholding",
    "Candidates": "stages.protocols",
    "Cutoff": "stages.protocols",
    "Conformal": "stages.conformal",
    "AboveChance": "stages.chance",
    "TripletSampler": "stages.triplets",
    "Layers": "stages.layers",
    "RankingHinge": "stages.ranking_loss",
    "load": "model.file.saving",
    "open_dataset": "engines.dataset",
}
"""Public names, and the modules that they are in."""

__all__ = [
    "AboveChance",
    "AverageNN",
    "AverageNeighborREPEN",
    "Candidates",
    "Cantelli",
    "Conformal",
    "Consensus",
    "Cutoff",
    "Ensemble",
    "GivenSet",
    "KthNN",
    "KthNeighborREPEN",
    "Layers",
    "RAMODO",
    "REPEN",
    "RankingHinge",
    "Sp",
    "TableReader",
    "TopFraction",
    "TopK",
    "TripletSampler",
    "__version__",
    "load",
    "open_dataset",
]

if TYPE_CHECKING:
    from .consensus import Consensus
    from .engines.dataset import open_dataset
    from .framework import RAMODO
    from .model.file.saving import load
    from .neighbors import AverageNeighborREPEN, KthNeighborREPEN
    from .repen import REPEN
    from .stages.chance import AboveChance
    from .stages.conformal import Conformal
    from .stages.ensembles import Ensemble
    from .stages.layers import Layers
    from .stages.protocols import Candidates, Cutoff
    from .stages.ranking_loss import RankingHinge
    from .stages.scoring import AverageNN, KthNN, Sp
    from .stages.thresholding import Cantelli, GivenSet, TopFraction, TopK
    from .stages.triplets import TripletSampler
    from .table_reader import TableReader


def __getattr__(name: str) -> Any:
    """Public names are imported when first used: scikit-learn and scipy take most of a second."""
    if name not in HOMES:
        raise AttributeError(f"module 'ramodo' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *HOMES})
