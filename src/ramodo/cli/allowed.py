"""Numbers that options of the command take: those of the table of options, by the command's own names."""

from __future__ import annotations

from ..options import OPTIONS, Integer, OptionError, Real

_MEANT = {
    "--components": "n_components",
    "--models": "n_estimators",
    "--epochs": "n_epochs",
    "--share": "threshold",
    "--fdr": "fdr",
    "--seed": "random_state",
    "--threads": "n_jobs",
}


def refuse_number(flag: str, value: float | None) -> None:
    """Raise where a number was given that is not allowed."""
    (option,) = [option for option in OPTIONS if option.name == _MEANT[flag]]
    allowed = [kind for kind in option.allowed if isinstance(kind, Integer | Real)]
    if value is not None and not any(kind.accepts(value) for kind in allowed):
        raise OptionError(f"{flag} {value} was given; allowed: {' or '.join(map(str, allowed))}.")
