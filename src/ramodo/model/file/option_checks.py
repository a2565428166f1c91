"""Whether options fit the model they are stored with, checked without scikit-learn if possible.

Building the detector, as `load` does, is certain, but imports scikit-learn, which takes most of a second,
and a command that only scores has no other use for it.
"""

from __future__ import annotations

from typing import Any

from ...options import OPTIONS, OptionError, check

CUTOFFS = {
    "Cantelli": frozenset({"alpha", "false_positives"}),
    "TopFraction": frozenset({"fraction"}),
    "TopK": frozenset({"count"}),
    "Conformal": frozenset({"fdr", "held_out"}),
    "AboveChance": frozenset({"fdr"}),
}
"""Stages that a cut-off may be, and their options."""

OPTIONS_OF_REPEN = frozenset(option.name for option in OPTIONS).difference(
    {"k"}, *(options - {"alpha"} for options in CUTOFFS.values())
)

OPTIONS_OF_CONSENSUS = OPTIONS_OF_REPEN - {
    "n_epochs",
    "samples_per_epoch",
    "batch_size",
    "margin",
    "n_queries",
    "n_subsamples",
    "subsample_size",
    "n_estimators",
}

OPTIONS_OF = {
    "Consensus": OPTIONS_OF_CONSENSUS,
    "REPEN": OPTIONS_OF_REPEN,
    "KthNeighborREPEN": OPTIONS_OF_REPEN | {"k"},
    "AverageNeighborREPEN": OPTIONS_OF_REPEN | {"k"},
}
"""Options of the detectors whose stages follow from simple values."""


def surely_fit(kind: str, options: dict[str, Any], fitted: dict[str, Any]) -> bool:
    """Whether a detector of this class can be built of the options, and has the layers that the model has.

    False means that only building it can tell.
    """
    if frozenset(options) != OPTIONS_OF.get(kind):
        return False
    simple = {name: value for name, value in options.items() if name != "cutoff"}
    cutoff = _options_of_cutoff(options["cutoff"])
    if cutoff is None or any(isinstance(value, dict | list) for value in (*simple.values(), *cutoff.values())):
        return False
    try:
        check(simple)
        check(cutoff)
    except OptionError:
        return False
    if "k" in simple and simple["k"] > min(simple["n_queries"], simple["subsample_size"]):
        return False
    width = simple["n_components"]
    return fitted["options_"] == repr(("Layers", width, (width,), 0.0)) and all(
        term.representation.upper == ()
        and term.representation.width == width
        and term.representation.first.slope == 0.0
        for term in fitted["model_"].learned
    )


def _options_of_cutoff(cutoff: Any) -> dict[str, Any] | None:
    """The options of a cut-off; None for an unknown stage."""
    if not isinstance(cutoff, dict):
        return {"cutoff": cutoff}
    if set(cutoff) != {"stage", "options"}:
        return None
    name, options = cutoff["stage"], cutoff["options"]
    known = isinstance(name, str) and name in CUTOFFS and isinstance(options, dict) and set(options) <= CUTOFFS[name]
    return options if known else None
