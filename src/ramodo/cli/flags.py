"""Flags that several commands share, in groups: how to read data, how to fit, what to write.

Flags of an estimator's options come from the table of options, with their types, defaults, help and checks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from inspect import Parameter
from typing import Annotated, Any, Self

import typer

from ..constraints import either
from ..formats import FORMATS
from ..formats.schema import MISSING, SCALES
from ..options import OPTIONS, Option, OptionError, option_error, option_named
from . import methods
from .groups import Group, flag
from .rules import Rules

READING, TEXT, FITTING, FLAGGING = "Reading the data", "Reading text", "Fitting", "Which rows to flag"
WRITING, MODEL_FILE = "What to write", "The model file"
"""Headings in the help of a command."""

_OF_TEXT = ("--text", "--mask", "--multiline", "--bits", "--words", "--characters", "--vocabulary", "--idf/--no-idf")
_OF_FLAGGING = ("--share", "--fdr", "--alpha")


def flag_of(option: Option, heading: str | None = None) -> Any:
    """Return the flag of an option, for typer."""
    if option.flag is None:
        raise ValueError(f"{option.name} has no flag.")
    return typer.Option(option.flag.name, help=option.flag.help or option.meaning, rich_help_panel=heading)


def _reading(*names: str, help: str, **bounds: int) -> Any:
    heading = TEXT if names[0] in _OF_TEXT else READING
    return typer.Option(*names, help=help, rich_help_panel=heading, **bounds)  # type: ignore[arg-type]


Format = Annotated[str | None, _reading("--format", help=f"{', '.join(FORMATS)}; by default, the suffix decides.")]
Id = Annotated[str | None, _reading("--id", help="Column of a table with the ids of its rows.")]
Label = Annotated[str | None, _reading("--label", help="Column with the truth; never a feature, never trained on.")]
Seed = Annotated[int, flag_of(option_named("random_state"))]
Threads = Annotated[int | None, flag_of(option_named("n_jobs"))]
Cluster = Annotated[
    str | None,
    typer.Option("--cluster", help="Dask: tcp://host:port of a scheduler, or local:N; DATA may then be a glob."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only results and errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]


@dataclass(frozen=True, kw_only=True)
class Reading(Group):
    """How to read data."""

    format: Format = None
    id: Id = None
    label: Label = None
    text: Annotated[list[str] | None, _reading("--text", help="Column of a table with documents; may be repeated.")] = (
        None
    )
    ignore: Annotated[list[str] | None, _reading("--ignore", help="Column to leave out; may be repeated.")] = None
    missing: Annotated[
        str | None,
        _reading(
            "--missing",
            help=f"Missing values of a table: {', '.join(MISSING[:-1])} or {MISSING[-1]}; indicator for records by "
            "default, error for others.",
        ),
    ] = None
    delimiter: Annotated[
        str | None,
        _reading("--delimiter", help="What separates values in a CSV file: a character, or tab; by default, detected."),
    ] = None
    header: Annotated[
        bool | None,
        _reading("--header/--no-header", help="Whether a CSV file begins with a line of names; by default, detected."),
    ] = None
    group_by: Annotated[
        str | None,
        _reading(
            "--group-by",
            help="Make one row of the lines of a log that share this: client, block, a key, or a regular expression.",
        ),
    ] = None
    window: Annotated[
        str | None,
        _reading("--window", help="With --group-by: longest duration of a session: 30s, 5m, 2h."),
    ] = None
    bits: Annotated[int, _reading("--bits", help="Text is hashed to 2^BITS features, up to 40.", min=8, max=40)] = 22
    words: Annotated[str, _reading("--words", help="n-grams of words in text, from-to; 0 for none.")] = "1-1"
    characters: Annotated[str, _reading("--characters", help="n-grams of characters in text, from-to; 0 for none.")] = (
        "3-5"
    )
    vocabulary: Annotated[bool, _reading("--vocabulary", help="Keep the tokens of text as named columns.")] = False
    mask: Annotated[
        list[str] | None,
        _reading(
            "--mask",
            help="What to mask in logs: auto, the default, for times, addresses, numbers and the like; none; or a "
            "regular expression, in addition to auto. May be repeated.",
        ),
    ] = None
    multiline: Annotated[
        str | None,
        _reading("--multiline", help="Regular expression that marks the first line of each event of a log."),
    ] = None
    layer: Annotated[str | None, _reading("--layer", help="Layer of a .h5ad file to read in place of X.")] = None
    transpose: Annotated[
        bool,
        _reading("--transpose", help="Rank the columns of a table or .h5ad file: its rows are genes."),
    ] = False
    zero_based: Annotated[
        bool | None,
        _reading(
            "--zero-based/--one-based", help="First index of an svmlight file; by default 0 if a 0 occurs, else 1."
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ReadingToFit(Reading):
    """How to read training data, from which a model may learn how to read other data."""

    scale: Annotated[
        str | None,
        _reading(
            "--scale",
            help=f"How to scale numbers: {', '.join(SCALES[:-1])} or {SCALES[-1]}; auto for tables by default.",
        ),
    ] = None
    top_variable: Annotated[
        int | None,
        _reading(
            "--top-variable",
            help="Keep this many columns of numbers, those that vary most; 0 for all. By default 2000 of genes.",
            min=0,
        ),
    ] = None
    within: Annotated[
        str | None, _reading("--within", help="Column of batches: each is centred, so that only rows in it differ.")
    ] = None
    idf: Annotated[
        bool, _reading("--idf/--no-idf", help="Weight the tokens of text, rare ones most, or use their counts.")
    ] = True


LINES = ("csv", "jsonl")
"""Formats for standard output."""


def _writing(*names: str, help: str, **bounds: int) -> Any:
    heading = MODEL_FILE if names[0].startswith("--no-") else WRITING
    return typer.Option(*names, help=help, rich_help_panel=heading, **bounds)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Writing(Group):
    """Columns to write about rows in addition to id, score, percentile and flag."""

    flagged: Annotated[
        bool, _writing("--flagged", help="Only flagged rows, highest first; for a stream, as they arrive.")
    ] = False
    beside: Annotated[
        list[str] | None,
        _writing(
            "--with", help="Also write these columns of the data, unchanged: text,path. The document is called text."
        ),
    ] = None
    reasons: Annotated[
        int, _writing("--reasons", help="Write this many reasons for each row, strongest first.", min=0)
    ] = 0
    views: Annotated[bool, _writing("--views", help="Write what each view of a row adds to its score.")] = False
    rules: Annotated[
        str | None,
        _writing(
            "--rules", help="Do not flag rows that this .toml file knows to be fine; a column says by which rule."
        ),
    ] = None
    lines: Annotated[str, _writing("--as", help="Format of -o -: csv or jsonl.")] = "csv"

    def refuse(self, output: str | None) -> None:
        """Raise if a flag has no effect, or there is no output to write to."""
        if self.lines not in LINES:
            raise option_error("--as", either(LINES), repr(self.lines))
        if output not in (None, "-") and self.lines != LINES[0]:
            raise OptionError(
                f"--as {self.lines} is for standard output (-o -); the suffix of --output {output} already says its "
                "format."
            )
        asked: dict[str, Any] = {"--flagged": self.flagged, "--with": self.beside, "--reasons": self.reasons}
        asked |= {"--views": self.views, "--rules": self.rules}
        given = [name for name, value in asked.items() if value]
        if output is None and given:
            raise OptionError(f"{given[0]} needs --output FILE, or --output - for standard output.")
        if self.rules is not None:
            Rules.read(self.rules)  # raises before any work


def _cutting(name: str, help: str, **bounds: float) -> Any:
    return typer.Option(name, help=help, rich_help_panel=FLAGGING, **bounds)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Cutting(Group):
    """Another cut-off than the model's."""

    share: Annotated[
        float | None, _cutting("--share", "Flag what only this share of the training rows reaches.", min=1e-6, max=0.5)
    ] = None
    fdr: Annotated[
        float | None,
        _cutting("--fdr", "Flag the rows that this false-discovery rate allows; the model must be fitted with --fdr."),
    ] = None
    top: Annotated[int | None, _cutting("--top", "Flag this many of the rows, the highest.", min=1)] = None
    cutoff: Annotated[float | None, _cutting("--cutoff", "Flag rows that score at least this.")] = None

    def given(self) -> str:
        """The flag that was given, or nothing; raises for two."""
        values = {"--share": self.share, "--fdr": self.fdr, "--top": self.top, "--cutoff": self.cutoff}
        given = [name for name, value in values.items() if value is not None]
        if len(given) > 1:
            raise OptionError(f"{' and '.join(given)} cannot be combined; give one of them.")
        return given[0] if given else ""


@dataclass(frozen=True)
class Keeping(Group):
    """Parts to leave out of a model file."""

    no_tokens: Annotated[
        bool, _writing("--no-tokens", help="Leave words and fragments of the training text out of the model file.")
    ] = False
    no_provenance: Annotated[
        bool, _writing("--no-provenance", help="Leave ids, the time and the command line with its paths out of it.")
    ] = False

    def refuse(self, model: str | None, vocabulary: bool) -> None:
        """Raise if no model is written, or if tokens are the columns of the model."""
        for name, given in (("--no-tokens", self.no_tokens), ("--no-provenance", self.no_provenance)):
            if given and model is None:
                raise OptionError(f"{name} needs --model FILE, the model to leave it out of.")
        if self.no_tokens and vocabulary:
            raise OptionError(
                "--no-tokens and --vocabulary cannot be combined: a vocabulary consists of tokens of the training text."
            )


Labels = Annotated[
    str | None,
    typer.Option("--labels", help="Table of id,label: 1 known outlier, -1 known inlier.", rich_help_panel=FITTING),
]


Method = Annotated[
    str,
    typer.Option(
        "--method",
        help="consensus: the evidence of several views. repen: one learned distance, the paper's. sp: the plain "
        "distance, which only ranks.",
        rich_help_panel=FITTING,
    ),
]


@dataclass(frozen=True)
class Fitting(Group):
    """How to fit: a file of labels, the method, and the given options, checked and under their Python names."""

    labels: str | None = None
    method: str = methods.DEFAULT
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def flags(cls) -> list[Parameter]:
        """Return a flag for labels, one for the method, and one for each option with a flag."""
        first = [flag("labels", Labels, None), flag("method", Method, methods.DEFAULT)]
        return [*first, *[_parameter(option) for option in OPTIONS if option.flag is not None]]

    def for_workers(self) -> Self:
        """Return the same options with one thread for each task, unless the user asked for more."""
        return replace(self, options={"n_jobs": 1, **self.options})

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Return the group, given the values of its flags; raise `OptionError` for an invalid value."""
        rows = [option for option in OPTIONS if option.flag is not None and given[option.name] is not None]
        options = {option.name: option.of_flag(given[option.name]) for option in rows}
        return cls(given["labels"], methods.checked(given["method"]), options)


def _parameter(option: Option) -> Parameter:
    kind, default = option.flag_type, option.flag_default
    heading = FLAGGING if option.flag is not None and option.flag.name in _OF_FLAGGING else FITTING
    return flag(option.name, Annotated[kind | None if default is None else kind, flag_of(option, heading)], default)
