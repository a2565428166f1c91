"""Put the stages of a fit together: add defaults, check options, and adapt user-defined stages."""

from __future__ import annotations

import copy
import math
import numbers
from dataclasses import dataclass, field, fields, replace
from typing import Any

from ..constraints import Integer
from ..kernels import Phi
from ..options import OptionError, check, option_error
from .adadelta import Adadelta
from .chance import AboveChance
from .custom_stages import AdaptedCutoff, AdaptedLoss, AdaptedRepresentation, AdaptedThresholder
from .detector_as_scorer import as_scorer
from .layers import Layers
from .ranking_loss import RankingHinge
from .result_checks import name_of
from .scoring import Sp
from .thresholding import Cantelli, TopFraction
from .triplets import TripletSampler


@dataclass(frozen=True)
class Stages:
    """All stages of one fit."""

    scorer: Any
    ranker: Any
    thresholder: Any
    sampler: Any
    representation: Any
    loss: Any
    cutoff: Any
    optimizer: Adadelta = field(default_factory=Adadelta)
    labels_in_score: bool = True
    """Whether labelled outliers also shape the final score (label_direction.py), or only training, as in the paper."""

    def shape(self) -> str:
        """Return a description of the network. A warm start reuses weights only if it is unchanged."""
        return str(self.representation.shape())


def assemble(
    scorer: Any = None,
    ranker: Any = None,
    thresholder: Any = None,
    sampler: Any = None,
    representation: Any = None,
    loss: Any = None,
    cutoff: Any = None,
    labels_in_score: bool = True,
) -> Stages:
    """Return all stages, with REPEN's for those not given. Raise `OptionError` if an object lacks a stage's methods."""
    scorer = as_scorer(Sp() if scorer is None else scorer, "scorer")
    ranker = scorer if ranker is None else as_scorer(ranker, "ranker")
    thresholder = _checked_stage("thresholder", Cantelli() if thresholder is None else thresholder)
    sampler = _checked_stage("sampler", _default_sampler(scorer) if sampler is None else sampler)
    representation = _checked_stage("representation", Layers() if representation is None else representation)
    cutoff = _checked_stage("cutoff", Cantelli() if cutoff is None else cutoff)
    loss = RankingHinge() if loss is None else loss
    check({"n_queries": sampler.n_queries})
    if not _WIDTH.accepts(representation.first_width):
        of_stage = f"first_width of the representation {type(representation).__name__}"
        raise option_error(of_stage, _WIDTH, repr(representation.first_width))
    if isinstance(loss, type) or not (callable(loss) or hasattr(loss, "for_phi")):
        raise option_error("loss", "a function of rows and triplets (see ramodo.stages)", repr(loss))
    return Stages(
        scorer=scorer,
        ranker=ranker,
        thresholder=AdaptedThresholder(thresholder),
        sampler=sampler,
        representation=representation if hasattr(representation, "fitted") else AdaptedRepresentation(representation),
        loss=loss.for_phi(phi_of(scorer), sampler.n_queries) if hasattr(loss, "for_phi") else AdaptedLoss(loss),
        cutoff=AdaptedCutoff(cutoff),
        labels_in_score=labels_in_score,
    )


def copied(stages: Stages, n_estimators: int) -> Stages:
    """Copy the stages for one of several models. Models may train in parallel threads, so each needs its own state.

    An object used as two stages stays one object in the copy. Functions are shared, since they hold no state.
    """
    memo: dict[int, Any] = {}
    parts = {part.name: getattr(stages, part.name) for part in fields(stages)}
    return replace(stages, **{name: _copied(name, part, memo, n_estimators) for name, part in parts.items()})


def _copied(name: str, stage: Any, memo: dict[int, Any], n_estimators: int) -> Any:
    try:
        return copy.deepcopy(stage, memo)
    except Exception as error:  # raised by whatever the stage holds
        raise OptionError(
            f"the {name} {name_of(stage)} cannot be copied ({type(error).__name__}: {error}), and with n_estimators="
            f"{n_estimators} each model needs a copy. Give it a __deepcopy__ that shares what is only read, or fit one "
            "model."
        ) from error


_NEEDED = {
    "thresholder": ("split",),
    "sampler": ("n_queries", "draw"),
    "representation": ("first_width", "head"),
    "cutoff": ("cutoff",),
}

_WIDTH = Integer(1, 4096)


def _checked_stage(name: str, stage: Any) -> Any:
    """Return the stage if it has the methods it needs. Options of built-in stages are checked before any work."""
    needed = _NEEDED[name]
    if isinstance(stage, type | str) or not all(hasattr(stage, method) for method in needed):
        raise option_error(name, f"an object with {' and '.join(needed)} (see ramodo.stages)", repr(stage))
    if type(stage).__module__.startswith("ramodo."):
        check(stage.get_params(deep=False))
    return stage


def phi_of(scorer: Any) -> Phi:
    """Return the scorer's φ; by default the distance to the nearest reference."""
    return getattr(scorer, "phi", Phi())


def _default_sampler(scorer: Any) -> TripletSampler:
    """Return a sampler with one query if φ is the nearest distance, else one query per reference of a subsample."""
    return TripletSampler(1 if phi_of(scorer).k == 1 else scorer.subsample_size)


def cutoff_of(option: Any, alpha: float = math.sqrt(3), *, auto: str = "cantelli", copies_once: bool = False) -> Any:
    """Return the cut-off for a detector's option `cutoff`, which is a rule's name, a share of the rows or an object."""
    if isinstance(option, str):
        named = auto if option == "auto" else option
        return AboveChance(copies_once=copies_once) if named == "chance" else Cantelli(alpha)
    return TopFraction(float(option)) if isinstance(option, numbers.Real) else option
