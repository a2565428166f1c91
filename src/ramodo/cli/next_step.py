"""The command that `ramodo detect` ends with: labels for the rows that it lists."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from inspect import Parameter
from typing import get_args

from .flags import Fitting, ReadingToFit


def labelling(path: str, fitting: Fitting) -> str:
    """The command to label rows of this file, read and fitted as now; "" where there is no such command."""
    if path == "-" or fitting.labels is not None or fitting.method == "sp":
        return ""
    return shlex.join(["ramodo", "triage", path, *_shared(sys.argv[2:])])


def _shared(given: list[str]) -> Iterator[str]:
    """The flags of this command that say how to read and to fit, with their values."""
    takes_value: dict[str, bool] = {}
    for flag in (*ReadingToFit.flags(), *Fitting.flags()):
        takes_value |= dict.fromkeys(_names(flag), bool not in (flag.annotation, *_types(flag)))
    tokens = iter(given)
    for token in tokens:
        name, _, value = token.partition("=")
        if name in takes_value:
            yield token
            if takes_value[name] and not value:
                yield next(tokens)


def _types(flag: Parameter) -> tuple[object, ...]:
    """The types that a value may have."""
    kind = get_args(flag.annotation)[0]
    return (kind, *get_args(kind))


def _names(flag: Parameter) -> list[str]:
    """As they are typed: `--idf/--no-idf` has two."""
    option = get_args(flag.annotation)[1]
    declared = [one for one in (option.default, *(option.param_decls or ())) if isinstance(one, str)]
    return [name for one in declared for name in one.split("/")]
