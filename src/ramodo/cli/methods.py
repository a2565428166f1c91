"""The methods of `ramodo detect` and `ramodo fit`, and the options of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..constraints import either
from ..options import OPTIONS, OptionError, option_error, option_named

OF_CUTOFF = frozenset({"fdr"})
"""Flags that set a cut-off."""

_OF_STAGES = frozenset({"k", "false_positives", "fraction", "count", "held_out", "copies_once"})
"""Options of stages without a flag."""

_OF_TRAINING = frozenset({"n_epochs", "samples_per_epoch", "batch_size", "margin", "n_estimators"}) | frozenset(
    {"n_queries", "n_subsamples", "subsample_size"}
)
"""Options that `Consensus` sets itself."""

_OF_CONSENSUS = frozenset({"copies"})

_OF_REPEN = frozenset(option.name for option in OPTIONS) - _OF_STAGES - _OF_CONSENSUS | OF_CUTOFF

METHODS = {
    "consensus": _OF_REPEN - _OF_TRAINING | _OF_CONSENSUS,
    "repen": _OF_REPEN,
    "sp": frozenset({"random_state", "n_jobs"}),
}
"""Methods, and their options by name in Python; the first is the default."""

DEFAULT = next(iter(METHODS))


def checked(method: str) -> str:
    """Return the method; raise for an unknown name."""
    if method not in METHODS:
        raise option_error("--method", either(METHODS), repr(method))
    return method


def refuse_options(method: str, given: Mapping[str, Any]) -> None:
    """Raise for an option that the method does not have."""
    for name, value in given.items():
        if name not in METHODS[method]:
            raise OptionError(
                f"the method {method} has no option {_flag(name)}, got {_flag(name)} {value}; its options are "
                f"{', '.join(_flag(o.name) for o in OPTIONS if o.flag is not None and o.name in METHODS[method])}."
            )


def refuse_files(method: str, model: str | None, report: str | None) -> None:
    """Raise for a file that the method cannot write."""
    for name, path in (("--model", model), ("--report", report)):
        if method == "sp" and path is not None:
            raise OptionError(
                f"the method sp only ranks rows and cannot write {name} {path}; use --output, or another method."
            )


def _flag(name: str) -> str:
    flag = option_named(name).flag
    return name if flag is None else flag.name
