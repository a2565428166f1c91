"""Every option of a detector: what is allowed, its default, and where the paper speaks of it.

`check` is the one place where options are refused, with one form of message: what was given, what is allowed.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


class OptionError(ValueError, TypeError):
    """An option, or a value that belongs to one, is not among what is allowed."""


@dataclass(frozen=True)
class Integer:
    """A whole number within bounds."""

    low: int
    high: int = 2**31 - 1

    def accepts(self, value: object) -> bool:
        return (
            isinstance(value, numbers.Integral)
            and not isinstance(value, bool | np.bool_)
            and (self.low <= int(value) <= self.high)
        )

    def __str__(self) -> str:
        return f"an integer from {self.low:,} to {self.high:,}"


@dataclass(frozen=True)
class Real:
    """A finite number within bounds, both included unless `above` says that the lower one is not."""

    low: float
    high: float = math.inf
    above: bool = False

    def accepts(self, value: object) -> bool:
        if not isinstance(value, numbers.Real) or isinstance(value, bool | np.bool_):
            return False
        try:
            number = float(value)
        except OverflowError:
            return False
        high_enough = number > self.low if self.above else number >= self.low
        return math.isfinite(number) and high_enough and number <= self.high

    def __str__(self) -> str:
        text = f"a number {'above' if self.above else 'of at least'} {self.low:g}"
        return text if math.isinf(self.high) else f"{text} and at most {self.high:g}"


@dataclass(frozen=True)
class Literal:
    """One fixed value."""

    value: object

    def accepts(self, value: object) -> bool:
        return type(value) is type(self.value) and value == self.value

    def __str__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True)
class RandomSource:
    """A numpy generator, from which one seed is drawn."""

    def accepts(self, value: object) -> bool:
        return isinstance(value, np.random.RandomState | np.random.Generator)

    def __str__(self) -> str:
        return "a numpy RandomState or Generator"


@dataclass(frozen=True)
class Having:
    """An object with a method."""

    method: str
    examples: str

    def accepts(self, value: object) -> bool:
        return callable(getattr(value, self.method, None)) and not isinstance(value, type)

    def __str__(self) -> str:
        return f"an object with a method {self.method} ({self.examples})"


Allowed = Integer | Real | Literal | RandomSource | Having


@dataclass(frozen=True)
class Option:
    """A row of the table."""

    name: str
    default: object
    allowed: tuple[Allowed, ...]
    paper: str
    meaning: str

    def refuse_unless_allowed(self, value: object) -> None:
        if not any(kind.accepts(value) for kind in self.allowed):
            raise OptionError(f"{self.name}={value!r} was given; allowed: {' or '.join(map(str, self.allowed))}.")


_LARGEST_ALPHA = 1e6
"""No score of N rows lies more than √N deviations above their mean, and 10^12 rows are beyond any machine."""

_LARGEST_MARGIN = 1e63
"""The default in the unit of values of 1e30, the largest that data may have."""

_MOST_TRIPLETS = 100_000_000

OPTIONS: tuple[Option, ...] = (
    Option("n_components", 20, (Integer(1, 4096),), "M, sec. 6.3", "Columns of the representation."),
    Option("n_epochs", 30, (Integer(1, 100_000),), "sec. 6.3", "Passes of training."),
    Option(
        "samples_per_epoch",
        "auto",
        (Literal("auto"), Integer(1, _MOST_TRIPLETS)),
        "sec. 6.3",
        "Triplets drawn per epoch; 'auto' is 5,000, or the number of rows where that is less.",
    ),
    Option("batch_size", 256, (Integer(1, _MOST_TRIPLETS),), "b, sec. 6.3", "Triplets per gradient step."),
    Option(
        "margin",
        1000.0,
        (Real(0, _LARGEST_MARGIN, above=True),),
        "c, sec. 4.5",
        "Difference of squared distances beyond which a triplet is satisfied.",
    ),
    Option("n_queries", 1, (Integer(1, 1024),), "n, sec. 4.5", "Queries per triplet."),
    Option("n_subsamples", 50, (Integer(1, 100_000),), "m, sec. 4.5", "Subsamples in the Sp ensemble."),
    Option("subsample_size", 8, (Integer(1, 100_000),), "|S|, sec. 4.5", "References in each subsample."),
    Option(
        "alpha",
        math.sqrt(3),
        (Real(0, _LARGEST_ALPHA),),
        "α, eq. 2 and sec. 5.2",
        "Standard deviations above the mean at which a score counts as high; at most 1/(1+α²) of scores are.",
    ),
    Option(
        "threshold",
        "cantelli",
        (Literal("cantelli"), Real(0, 0.5, above=True), Having("cutoff", "TopK, Conformal, ...")),
        "eq. 2",
        "Cut-off of `predict`: Cantelli's, the share of training rows to flag, or a rule of its own.",
    ),
    Option(
        "labeled_fraction",
        "auto",
        (Literal("auto"), Real(0, 1)),
        "sec. 4.6",
        "Share of the negatives of a batch that is drawn from labelled outliers, where there are any. 0.5 is the "
        "paper's choice; 'auto' goes by the number of labels.",
    ),
    Option(
        "labels_in_score",
        True,
        (Literal(True), Literal(False)),
        "-",
        "Whether labelled outliers also enter the final score, by the direction in which they differ from other rows. "
        "In the paper they shape training alone: False.",
    ),
    Option(
        "normalize",
        None,
        (Literal(None), Literal("l2"), Literal("max")),
        "-",
        "Divide each row by its length, or by its largest absolute value. `diagnose` helps to choose.",
    ),
    Option("n_estimators", 1, (Integer(1, 1000),), "-", "Independent representations, whose scores are averaged."),
    Option(
        "warm_start",
        False,
        (Literal(False), Literal(True)),
        "-",
        "`fit` again starts from the weights it has and trains a tenth of the epochs: for a few more labels.",
    ),
    Option(
        "random_state",
        None,
        (Literal(None), Integer(0, 2**64 - 1), RandomSource()),
        "-",
        "Seed of all random draws; the same seed gives the same bits.",
    ),
    Option(
        "n_jobs",
        None,
        (Literal(None), Integer(1, 4096), Integer(-4096, -1)),
        "-",
        "Threads. -1 is all cores, -2 all but one; None is 1, unless a `joblib.parallel_config` says otherwise. "
        "Results do not depend on it.",
    ),
    Option(
        "verbose",
        0,
        (Integer(0, 10), Literal(True), Literal(False)),
        "-",
        "1 reports the stages, with progress where there is a terminal.",
    ),
    # options of single stages
    Option("k", 3, (Integer(1, 100_000),), "sec. 3.2", "Neighbours that φ looks at; at most the references there are."),
    Option(
        "false_positives",
        None,
        (Literal(None), Real(_LARGEST_ALPHA**-2, 1)),
        "sec. 5.2",
        "The bound that α stands for, in its place: 0.25 is √3.",
    ),
    Option("fraction", 0.05, (Real(0, 1, above=True),), "-", "Share of the rows."),
    Option("count", 10, (Integer(1),), "-", "Number of rows."),
    Option(
        "fdr",
        0.1,
        (Real(0, 1, above=True),),
        "-",
        "Expected share of false discoveries among new rows, by `discoveries`.",
    ),
    Option("held_out", 0.2, (Real(0, 0.5, above=True),), "-", "Share of the rows that only the cut-off sees."),
)


TOP = Option("top", 10, (Integer(1),), "-", "Reasons for each row, of `explain`.")


def check(given: Mapping[str, Any]) -> None:
    """Raise `OptionError` for the first option in `given` that is not allowed."""
    for option in OPTIONS:
        if option.name in given:
            option.refuse_unless_allowed(given[option.name])


def describe(*names: str, **defaults: object) -> str:
    """Rows of the table as the Parameters section of a docstring; `defaults` where a class has its own."""
    table = {option.name: option for option in OPTIONS}
    lines = []
    for option in (table[name] for name in names):
        default = defaults.get(option.name, option.default)
        lines.append(f"    {option.name} : {' or '.join(map(str, option.allowed))}, default {default!r}")
        lines.append(f"        {option.meaning} [{option.paper}]")
    return "\n".join(lines)
