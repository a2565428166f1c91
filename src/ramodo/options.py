"""Every option of a detector: its valid values, its default, its place in the paper, and its flag.

A row of the table is the only place that describes an option. `check` refuses values in Python, `Option.of_flag` on the
command line, both with messages such as `k must be an integer from 1 to 100, got 0.` The flags of `ramodo detect` and
`ramodo fit`, docs/options.md and the docstrings of the detectors follow the rows too; tests check the last two.

Nothing here imports numpy: `ramodo --version` and `--help` need the table, and should not wait.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .constraints import Constraint, HasMethod, Integer, Literal, RandomSource, Real, either


class OptionError(ValueError, TypeError):
    """An option has an invalid value."""


def option_error(name: str, must_be: object, got: str, advice: str = "") -> OptionError:
    """Return an error in the form that all options share: what must hold, what the user gave, and perhaps `advice`."""
    return OptionError(f"{name} must be {must_be}, got {got}.{f' {advice}' if advice else ''}")


@dataclass(frozen=True)
class Flag:
    """The flag of an option on the command line.

    help : needed if the option's meaning does not fit, since flags take numbers or single words, but no objects
    default : needed if it differs from the option's; None means that the flag is not set
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
        """The type that the command reads: a number if the option accepts one, else a word for a fixed value."""
        if any(isinstance(kind, Real) for kind in self.allowed):
            return float
        if any(isinstance(kind, Integer) for kind in self.allowed):
            return int
        fixed = [kind.value for kind in self.allowed if isinstance(kind, Literal)]
        return bool if all(isinstance(value, bool) for value in fixed) else str

    @property
    def flag_default(self) -> object:
        """The default on the command line; None if a flag cannot have the option's own default."""
        if self.flag is not None and self.flag.default is not ...:
            return self.flag.default
        return self.default if isinstance(self.default, self.flag_type) else None

    def of_flag(self, given: Any) -> Any:
        """Return the option's value for the flag's; raise `OptionError` if it is invalid."""
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
"""No score of N rows lies more than √N deviations above their mean, and no machine holds 10^12 rows."""

_LARGEST_MARGIN = 1e63
"""The default margin for values of 1e30, the largest that data may have."""

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
        Flag("--epochs", "Passes of training, 30 by default; only for the method repen.", default=None),
    ),
    Option(
        "samples_per_epoch",
        "auto",
        (Literal("auto"), Integer(1, _MOST_TRIPLETS)),
        "sec. 6.3",
        "Triplets drawn per epoch; 'auto' is 5,000, or the number of rows if that is less.",
    ),
    Option("batch_size", 256, (Integer(1, _MOST_TRIPLETS),), "b, sec. 6.3", "Triplets per gradient step."),
    Option(
        "margin",
        1000.0,
        (Literal("auto"), Real(0, _LARGEST_MARGIN, above=True)),
        "c, sec. 4.5",
        "Difference of squared distances beyond which a triplet is satisfied; 'auto' follows the scale of the data.",
    ),
    Option("n_queries", 1, (Integer(1, 1024),), "n, sec. 4.5", "Queries per triplet."),
    Option("n_subsamples", 50, (Integer(1, 100_000),), "m, sec. 4.5", "Subsamples in the Sp ensemble."),
    Option("subsample_size", 8, (Integer(1, 100_000),), "|S|, sec. 4.5", "References in each subsample."),
    Option(
        "alpha",
        math.sqrt(3),
        (Real(0, _LARGEST_ALPHA),),
        "α, eq. 2 and sec. 5.2",
        "Standard deviations above the mean at which a score counts as high; at most 1/(1+α²) of the scores can be.",
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
        "Cut-off of `predict`: 'chance' flags rows that stand out more than chance explains, 'cantelli' goes by "
        "Cantelli's inequality, a number is the share of training rows to flag, and an object is a custom rule. "
        "'auto' is 'chance' for Consensus, unless α is given, and 'cantelli' for others.",
        Flag("--share", "Flag this share of the rows."),
    ),
    Option(
        "labeled_fraction",
        "auto",
        (Literal("auto"), Real(0, 1)),
        "sec. 4.6",
        "Share of the negatives of a batch to draw from labelled outliers, if there are any. 0.5 is the paper's "
        "choice; 'auto' depends on the number of labels.",
    ),
    Option(
        "labels_in_score",
        True,
        (Literal(True), Literal(False)),
        "-",
        "Whether labelled outliers also shape the final score, by the direction in which they differ from other rows. "
        "In the paper they only shape training: False.",
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
        Flag(
            "--models", "Representations with averaged scores, 1 by default; only for the method repen.", default=None
        ),
    ),
    Option(
        "warm_start",
        False,
        (Literal(False), Literal(True)),
        "-",
        "Whether another `fit` starts from the current weights and trains for a tenth of the epochs.",
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
        "1 reports the stages, with progress on a terminal.",
    ),
    # options of siblings and of single stages
    Option(
        "copies",
        "all",
        (Literal("all"), Literal("root")),
        "-",
        "How many of several equal rows count: all, or the square root of their number, so that repeated rows look "
        "ordinary but do not hide others.",
        Flag(
            "--copies",
            "How many of equal rows count: all, or root for the square root, as in logs of requests.",
            default=None,
        ),
    ),
    Option("k", 3, (Integer(1, 100_000),), "sec. 3.2", "Number of neighbours in φ, at most the number of references."),
    Option(
        "false_positives",
        None,
        (Literal(None), Real(_LARGEST_ALPHA**-2, 1)),
        "sec. 5.2",
        "Bound on the share of high scores, an alternative to α: 0.25 gives √3.",
    ),
    Option("fraction", 0.05, (Real(0, 1, above=True),), "-", "Share of the rows."),
    Option("count", 10, (Integer(1),), "-", "Number of rows."),
    Option(
        "fdr",
        0.1,
        (Real(0, 1, above=True),),
        "-",
        "Expected share of false discoveries among the flagged rows or, with `discoveries`, among new rows.",
        Flag("--fdr", "Flag rows, at most this expected share of them by chance.", default=None),
    ),
    Option(
        "copies_once",
        False,
        (Literal(True), Literal(False)),
        "-",
        "Whether rows with the same score count once, unless more stand out when all count.",
    ),
    Option(
        "held_out",
        None,
        (Literal(None), Real(0, 0.5, above=True)),
        "-",
        "Share of the rows to keep for the cut-off alone, instead of two models that each leave out half of the rows.",
    ),
)


TOP = Option("top", 10, (Integer(1),), "-", "Reasons for each row.", Flag("--top"))


def option_named(name: str) -> Option:
    """Return the row of an option."""
    return next(option for option in OPTIONS if option.name == name)


def check(given: Mapping[str, Any]) -> None:
    """Raise `OptionError` for the first invalid option in `given`."""
    for option in OPTIONS:
        if option.name in given:
            option.refuse_unless_allowed(given[option.name])
