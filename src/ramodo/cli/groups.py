"""Groups of flags that several commands share: one parameter of a command stands for all flags of a group.

Typer reads one flag from each parameter of a function. `grouped` shows Typer a signature in which each group is
replaced by its flags, and passes the groups to the function.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from inspect import Parameter
from typing import Any, Self, get_type_hints


class Group:
    """A dataclass whose fields are flags, each with its type and help as `Annotated[type, typer.Option(...)]`."""

    @classmethod
    def flags(cls) -> list[Parameter]:
        """Return the flags that replace the group in a command."""
        hints = get_type_hints(cls, include_extras=True)
        return [flag(field.name, hints[field.name], field.default) for field in fields(cls)]  # type: ignore[arg-type]

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Return the group, given the values of its flags."""
        return cls(**given)


def flag(name: str, annotation: Any, default: Any) -> Parameter:
    """Return a flag as a parameter of a command, keyword-only so that flags without a default may follow others."""
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with its groups replaced by their flags."""
    groups: dict[str, type[Group]] = {}
    parameters: list[Parameter] = []
    for given in inspect.signature(command, eval_str=True).parameters.values():
        if isinstance(given.annotation, type) and issubclass(given.annotation, Group):
            groups[given.name] = given.annotation
            parameters += given.annotation.flags()
        else:
            parameters.append(given.replace(kind=Parameter.KEYWORD_ONLY))

    @functools.wraps(command)
    def run(**values: Any) -> None:
        made = {
            name: group.of({flag.name: values.pop(flag.name) for flag in group.flags()})
            for name, group in groups.items()
        }
        command(**values, **made)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run
