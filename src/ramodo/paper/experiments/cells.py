"""One measurement and its outcome."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .paper import CONSTRAINT, OUT_OF_MEMORY

OUT_OF_TIME, NOT_INSTALLED, FAILED, NOT_HERE = "×", "∅", "!", "–"

MARKS = {
    OUT_OF_MEMORY: "needs more memory than the limit",
    CONSTRAINT: "the data break a condition of the method",
    OUT_OF_TIME: "takes more time than the limit",
    NOT_INSTALLED: "its package is not installed",
    FAILED: "failed",
    NOT_HERE: "not here, or not in the paper",
}
"""The first two are the paper's own."""


@dataclass(frozen=True)
class Cell:
    """What is measured; cells that are equal are computed once, whichever experiments ask for them.

    `alone` cells measure time, so no other cell runs at the same time. A cell waits for its `cheaper` one, and if that
    ran out of time or memory, takes its mark without being tried.
    """

    measure: str
    dataset: str
    method: str
    options: tuple[tuple[str, Any], ...] = ()
    seed: int = 0
    alone: bool = field(default=False, compare=False)
    cheaper: Cell | None = field(default=None, compare=False)

    def option(self, name: str, default: Any = None) -> Any:
        """Return one of the options."""
        return dict(self.options).get(name, default)

    def key(self) -> str:
        """The same text for the same cell."""
        return json.dumps([self.measure, self.dataset, self.method, dict(self.options), self.seed], sort_keys=True)

    def __str__(self) -> str:
        options = ", ".join(f"{name}={value}" for name, value in self.options)
        return " ".join(filter(None, [self.measure, self.dataset, self.method, options, f"seed {self.seed}"]))


@dataclass(frozen=True)
class Limits:
    """The most time and memory that a cell may use."""

    seconds: float = 180.0
    bytes: float = 6e9


@dataclass(frozen=True)
class Outcome:
    """Numbers, or the mark that says why there are none."""

    values: Mapping[str, Any] = field(default_factory=dict)
    mark: str = ""
    reason: str = ""
    seconds: float = 0.0
    limits: Limits = field(default_factory=Limits)

    def stands(self, limits: Limits) -> bool:
        """Return whether the cell need not be tried again: with a higher limit, a cell marked for that limit is."""
        if self.mark == OUT_OF_TIME:
            return limits.seconds <= self.limits.seconds
        if self.mark == OUT_OF_MEMORY:
            return limits.bytes <= self.limits.bytes
        return self.mark not in (NOT_INSTALLED, FAILED)


class Results:
    """Outcomes of the cells of an experiment."""

    def __init__(self, outcomes: Mapping[Cell, Outcome]) -> None:
        self._outcomes = outcomes

    def __getitem__(self, cell: Cell) -> Outcome:
        return self._outcomes[cell]

    def collected(self, cells: Iterable[Cell], name: str) -> tuple[list[float], str]:
        """Return all numbers of that name, and the first mark among their cells."""
        numbers: list[float] = []
        mark = ""
        for outcome in (self[cell] for cell in cells):
            mark = mark or outcome.mark
            if not outcome.mark and name in outcome.values:
                value = outcome.values[name]
                numbers.extend(value if isinstance(value, list) else [value])
        return numbers, "" if numbers else mark or NOT_HERE

    def items(self) -> Iterable[tuple[Cell, Outcome]]:
        """Return every cell with its outcome."""
        return self._outcomes.items()


def in_turn(cells: Iterable[Cell]) -> list[Cell]:
    """The same cells, each naming the one before it as the cheaper one."""
    chain: list[Cell] = []
    for cell in cells:
        chain.append(replace(cell, cheaper=chain[-1] if chain else None))
    return chain


def repen(dataset: str, seed: int, n_components: int = 20, labels: int = 0, way: str = "") -> Cell:
    """AUC of REPEN; `way` is "paper" or "ours" where there are labels."""
    options: dict[str, Any] = {"n_components": n_components}
    if labels:
        options |= {"labels": labels, "way": way}
    return Cell("auc", dataset, "REPEN", tuple(options.items()), seed)
