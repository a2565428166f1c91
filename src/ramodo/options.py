"""Every option of a detector: what is allowed, its default, where it is in the paper, and its flag.

A row of the table is all that is said of an option. `check` refuses values in Python, `Option.of_flag` on the command
line, both with messages such as `k must be an integer from 1 to 100, got 0.` The flags of `ramodo detect` and `ramodo
fit`, docs/options.md and the docstrings of the detectors follow the rows too; tests see to the last two.

Nothing here imports numpy: `ramodo --version` and `--help` need the table, and should not wait.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .constraints import Constraint, HasMethod, Integer, Literal, RandomSource, Real, either


class OptionError(ValueError, TypeError):
    """An option has a value that is not allowed."""


def option_error(name: str, must_be: object, got: str, advice: str = "") -> OptionError:
    """The error in the form that all options share: what must hold, what was given and, with `advice`, what to do."""
    return OptionError(f"{name} must be {must_be}, got {got}.{f' {advice}' if advice else ''}")


@dataclass(frozen=True)
class Flag:
    """How the command spells an option.

    help : where the meaning of the option does not say it; flags take numbers or single words, and no objects
    default : where the command's is not the option's; None means that nothing was given
    """

    name: str
    help: str | None = None
    default: object = ...


@dataclass(frozen=True)
class Option:
    """A row of the table."""

    name: str
    default: object
    allowed: tuple[Constraint, ...]
    paper: str
    meaning: str
    flag: Flag | None = None

    def refuse_unless_allowed(self, value: object) -> None:
        if not any(kind.accepts(value) for kind in self.allowed):
            raise option_error(self.name, self.in_words, repr(value))

    @property
    def in_words(self) -> str:
        """What is allowed."""
        return either(self.allowed)

    @property
    def flag_type(self) -> type[int] | type[float] | type[bool] | type[str]:
        """What the command reads: a number where one is allowed, else one of the fixed values as a word."""
        if any(isinstance(kind, Real) for kind in self.allowed):
            return float
        if any(isinstance(kind, Integer) for kind in self.allowed):
            return int
        fixed = [kind.value for kind in self.allowed if isinstance(kind, Literal)]
        return bool if all(isinstance(value, bool) for value in fixed) else str

    @property
    def flag_default(self) -> object:
        """What the command assumes; None where a flag cannot have the option's own default."""
        if self.flag is not None and self.flag.default is not ...:
            return self.flag.default
        return self.default if isinstance(self.default, self.flag_type) else None

    def of_flag(self, given: Any) -> Any:
        """The option's value for what the user gave the flag; raises `OptionError` if it is not allowed."""
        name = self.name if self.flag is None else self.flag.name
        if self.flag_type is str:
            words = {str(k.value).lower(): k.value for k in self.allowed if isinstance(k, Literal)}
            if given not in words:
                raise option_error(name, either(words), repr(given))
            return words[given]
        kinds = [k for k in self.allowed if isinstance(k, Integer | Real) or self.flag_type is bool]
        if not any(kind.accepts(given) for kind in kinds):
            raise option_error(name, either(kinds), str(given))
        return given


_LARGEST_ALPHA = 1e6
"""No score of N rows lies more than √N deviations above their mean, and 10^12 rows are beyond any machine."""

_LARGEST_MARGIN = 1e63
"""The default in the unit of values of 1e30, the largest that data may have."""

_MOST_TRIPLETS = 100_000_000

OPTIONS: tuple[Option, ...] = (
    Option(
        "n_components",
        20,
        (Integer(1, 4096),),
        "M, sec. 6.3",
        "Columns of the representation.",
        Flag("--components", "Columns of a representation, 20 by default.", default=None),
    ),
    Option(
        "n_epochs",
        30,
        (Integer(1, 100_000),),
        "sec. 6.3",
        "Passes of training.",
        Flag("--epochs", "Passes of training, 30 by default; of the method repen.", default=None),
    ),
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
        (Literal("auto"), Real(0, _LARGEST_MARGIN, above=True)),
        "c, sec. 4.5",
        "Difference of squared distances beyond which a triplet is satisfied; 'auto' is in the unit of the data.",
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
        Flag("--alpha", "Flag rows this many standard deviations above the mean: Cantelli's cut-off.", default=None),
    ),
    Option(
        "cutoff",
        "auto",
        (
            Literal("auto"),
            Literal("chance"),
            Literal("cantelli"),
            Real(0, 0.5, above=True),
            HasMethod("cutoff", "TopK, Conformal, ..."),
        ),
        "eq. 2",
        "Cut-off of `predict`: more than chance explains, Cantelli's, the share of training rows to flag, or a custom "
        "rule. 'auto' is 'chance' for Consensus, unless α is given, and 'cantelli' for others.",
        Flag("--share", "Flag this share of the rows."),
    ),
    Option(
        "labeled_fraction",
        "auto",
        (Literal("auto"), Real(0, 1)),
        "sec. 4.6",
        "Share of the negatives of a batch that is drawn from labelled outliers, where there are any. 0.5 is the "
        "paper's choice; 'auto' depends on the number of labels.",
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
        Flag("--normalize", "Rows: none, l2 or max. By default none; l2 for text with the method repen."),
    ),
    Option(
        "n_estimators",
        1,
        (Integer(1, 1000),),
        "-",
        "Independent representations, whose scores are averaged.",
        Flag("--models", "Representations whose scores are averaged, 1 by default; of the method repen.", default=None),
    ),
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
        Flag("--seed", "The same seed gives the same scores.", default=0),
    ),
    Option(
        "n_jobs",
        None,
        (Literal(None), Integer(1, 4096), Integer(-4096, -1)),
        "-",
        "Threads. -1 is all cores, -2 all but one; None is 1, unless a `joblib.parallel_config` says otherwise. "
        "Results do not depend on it.",
        Flag("--threads", "All cores by default."),
    ),
    Option(
        "verbose",
        0,
        (Integer(0, 10), Literal(True), Literal(False)),
        "-",
        "1 reports the stages, with progress where there is a terminal.",
    ),
    # options of siblings and of single stages
    Option(
        "copies",
        "all",
        (Literal("all"), Literal("root")),
        "-",
        "How many of equal rows count: all, or as many as the square root of their number, so that rows that repeat "
        "neither hide others nor are nothing but ordinary.",
        Flag("--copies", "How many of equal rows count: all or root, their square root; root for logs.", default=None),
    ),
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
        "Expected share of false discoveries among the flagged rows, or among new rows, by `discoveries`.",
        Flag("--fdr", "Flag rows of which an expected share of at most this is flagged by chance.", default=None),
    ),
    Option(
        "held_out",
        None,
        (Literal(None), Real(0, 0.5, above=True)),
        "-",
        "Share of the rows that only the cut-off sees, in place of two models that each do without half of them.",
    ),
)


TOP = Option("top", 10, (Integer(1),), "-", "Reasons for each row.", Flag("--top"))


def option_named(name: str) -> Option:
    """The row of an option."""
    return next(option for option in OPTIONS if option.name == name)


def check(given: Mapping[str, Any]) -> None:
    """Raise `OptionError` for the first option in `given` that is not allowed."""
    for option in OPTIONS:
        if option.name in given:
            option.refuse_unless_allowed(given[option.name])
