"""The methods of `ramodo detect` and `ramodo fit`, and the options that each of them has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model.file.option_checks import OPTIONS_OF
from ..options import OPTIONS, OptionError, option_named

OF_CUTOFF = frozenset({"fdr"})
"""Flags that stand for a cut-off."""

METHODS = {
    "consensus": OPTIONS_OF["Consensus"] | OF_CUTOFF,
    "repen": OPTIONS_OF["REPEN"] | OF_CUTOFF,
    "sp": frozenset({"random_state", "n_jobs"}),
}
"""Methods, and their options by name in Python; the first is the default."""

DEFAULT = next(iter(METHODS))


def checked(method: str) -> str:
    """The method; raises where there is none of this name."""
    if method not in METHODS:
        *most, last = METHODS
        raise OptionError(f"--method {method!r} was given; allowed: {', '.join(most)} or {last}.")
    return method


def refuse_options(method: str, given: Mapping[str, Any]) -> None:
    """Raise where an option was given that the method does not have."""
    for name, value in given.items():
        if name not in METHODS[method]:
            raise OptionError(
                f"{_flag(name)} {value} was given, which the method {method} does not have; allowed with it: "
                f"{', '.join(_flag(o.name) for o in OPTIONS if o.flag is not None and o.name in METHODS[method])}."
            )


def refuse_files(method: str, model: str | None, report: str | None) -> None:
    """Raise where a file is to be written that the method has not enough to fill with."""
    for name, path in (("--model", model), ("--report", report)):
        if method == "sp" and path is not None:
            raise OptionError(
                f"{name} {path} was given, and the method sp only ranks the rows at hand; allowed with it: --output. "
                "The other methods write models and reports."
            )


def _flag(name: str) -> str:
    flag = option_named(name).flag
    return name if flag is None else flag.name
