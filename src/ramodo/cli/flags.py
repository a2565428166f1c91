"""Flags that several commands share, and the two groups of them: how to read data, and how to fit.

Flags that are options of an estimator come from its table of options, with their types, defaults, help and checks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from inspect import Parameter
from typing import Annotated, Any, Optional, Self

import typer

from ..constraints import either
from ..formats import FORMATS
from ..formats.scales import SCALES
from ..formats.schema import MISSING
from ..options import OPTIONS, Option, OptionError, option_error, option_named
from . import methods
from .groups import Group, flag

READING, TEXT, FITTING, FLAGGING = "Reading the data", "Reading text", "Fitting", "Which rows are flagged"
WRITING, MODEL_FILE = "What is written", "The model file"
"""Headings in the help of a command."""

_OF_TEXT = ("--text", "--bits", "--words", "--characters", "--vocabulary", "--idf/--no-idf")
_OF_FLAGGING = ("--share", "--fdr")


def flag_of(option: Option, heading: str | None = None) -> Any:
    """An option's flag, for typer."""
    if option.flag is None:
        raise ValueError(f"{option.name} has no flag.")
    return typer.Option(option.flag.name, help=option.flag.help or option.meaning, rich_help_panel=heading)


def _reading(*names: str, help: str, **bounds: int) -> Any:
    heading = TEXT if names[0] in _OF_TEXT else READING
    return typer.Option(*names, help=help, rich_help_panel=heading, **bounds)  # type: ignore[arg-type]


Format = Annotated[
    Optional[str],  # noqa: UP045 - typer reads it
    _reading("--format", help=f"{', '.join(FORMATS)}; else by suffix."),
]
Id = Annotated[Optional[str], _reading("--id", help="Column of a table that names its rows.")]  # noqa: UP045
Label = Annotated[Optional[str], _reading("--label", help="Column with the truth: no feature, never trained on.")]  # noqa: UP045
Seed = Annotated[int, flag_of(option_named("random_state"))]
Threads = Annotated[Optional[int], flag_of(option_named("n_jobs"))]  # noqa: UP045
Cluster = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--cluster", help="Dask: tcp://host:port of a scheduler, or local:N; DATA may then be a glob."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but results and errors.")]
Json = Annotated[bool, typer.Option("--json", help="The summary as JSON.")]


@dataclass(frozen=True)
class Reading(Group):
    """How to read data."""

    format: Format = None
    id: Id = None
    label: Label = None
    text: Annotated[
        Optional[list[str]],  # noqa: UP045
        _reading("--text", help="Column of a table that holds documents; may be given again."),
    ] = None
    ignore: Annotated[
        Optional[list[str]],  # noqa: UP045
        _reading("--ignore", help="Column to leave out; may be given again."),
    ] = None
    missing: Annotated[
        str, _reading("--missing", help=f"Missing values of a table: {', '.join(MISSING[:-1])} or {MISSING[-1]}.")
    ] = "error"
    delimiter: Annotated[
        Optional[str],  # noqa: UP045
        _reading("--delimiter", help="Between the values of a CSV file: a character, or tab; else it is found."),
    ] = None
    header: Annotated[
        Optional[bool],  # noqa: UP045
        _reading("--header/--no-header", help="Whether a CSV file begins with a line of names; else it is found."),
    ] = None
    bits: Annotated[int, _reading("--bits", help="Text is hashed to 2^BITS features, up to 40.", min=8, max=40)] = 22
    words: Annotated[str, _reading("--words", help="n-grams of words in text, from-to; 0 for none.")] = "1-1"
    characters: Annotated[str, _reading("--characters", help="n-grams of characters in text, from-to; 0 for none.")] = (
        "3-5"
    )
    vocabulary: Annotated[bool, _reading("--vocabulary", help="Keep the tokens of text as named columns.")] = False
    zero_based: Annotated[
        Optional[bool],  # noqa: UP045
        _reading("--zero-based/--one-based", help="First index of an svmlight file; else 0 where a 0 occurs."),
    ] = None


@dataclass(frozen=True)
class ReadingToFit(Reading):
    """How to read data that a model is fitted to, which may learn from them how to read others."""

    scale: Annotated[
        Optional[str],  # noqa: UP045
        _reading(
            "--scale",
            help=f"How numbers are scaled: {', '.join(SCALES[:-1])} or {SCALES[-1]}; else auto for tables alone.",
        ),
    ] = None
    idf: Annotated[
        bool, _reading("--idf/--no-idf", help="Weigh the tokens of text, rare ones most; else their counts are taken.")
    ] = True


LINES = ("csv", "jsonl")
"""What standard output gets."""


def _writing(*names: str, help: str, **bounds: int) -> Any:
    heading = MODEL_FILE if names[0].startswith("--no-") else WRITING
    return typer.Option(*names, help=help, rich_help_panel=heading, **bounds)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Writing(Group):
    """What to write of rows, beside id, score, percentile and flag."""

    flagged: Annotated[
        bool, _writing("--flagged", help="Only rows that are flagged, highest first; of a stream, as they arrive.")
    ] = False
    beside: Annotated[
        Optional[list[str]],  # noqa: UP045
        _writing("--with", help="Columns of the data to write too, as they are: text,path. The document is text."),
    ] = None
    reasons: Annotated[
        int, _writing("--reasons", help="Write this many reasons of each row, the strongest first.", min=0)
    ] = 0
    views: Annotated[bool, _writing("--views", help="Write what each view of a row adds to its score.")] = False
    lines: Annotated[str, _writing("--as", help="What -o - writes: csv or jsonl.")] = "csv"

    def refuse(self, output: str | None) -> None:
        """Raise where flags have no meaning, or no file to be written to."""
        if self.lines not in LINES:
            raise option_error("--as", either(LINES), repr(self.lines))
        if output not in (None, "-") and self.lines != LINES[0]:
            raise OptionError(
                f"--as {self.lines} was given with --output {output}, whose suffix says what it gets; allowed: --as "
                "with standard output (-o -)."
            )
        asked = {"--flagged": self.flagged, "--with": self.beside, "--reasons": self.reasons, "--views": self.views}
        given = [name for name, value in asked.items() if value]
        if output is None and given:
            raise OptionError(
                f"{given[0]} was given, which says what to write, and no file; allowed: with --output FILE, or "
                "--output - for standard output."
            )


@dataclass(frozen=True)
class Keeping(Group):
    """What a model file does without."""

    no_tokens: Annotated[
        bool, _writing("--no-tokens", help="Keep no words and fragments of the training text in the model file.")
    ] = False
    no_provenance: Annotated[
        bool, _writing("--no-provenance", help="Keep no ids, no time and no command line, with its paths, in it.")
    ] = False

    def refuse(self, model: str | None, vocabulary: bool) -> None:
        """Raise where there is no file, or tokens are its columns."""
        for name, given in (("--no-tokens", self.no_tokens), ("--no-provenance", self.no_provenance)):
            if given and model is None:
                raise OptionError(f"{name} was given, and no model is written; allowed: with --model FILE.")
        if self.no_tokens and vocabulary:
            raise OptionError(
                "--no-tokens and --vocabulary were given, and a vocabulary is the tokens of the training text; "
                "allowed: one of them."
            )


Labels = Annotated[
    Optional[str],  # noqa: UP045
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
    """How to fit: a file of labels, and the options given, checked and under their Python names."""

    labels: str | None = None
    method: str = methods.DEFAULT
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def flags(cls) -> list[Parameter]:
        """One flag for labels, one for the method, and one for each option that has a flag."""
        first = [flag("labels", Labels, None), flag("method", Method, methods.DEFAULT)]
        return [*first, *[_parameter(option) for option in OPTIONS if option.flag is not None]]

    def for_workers(self) -> Self:
        """The same where tasks run side by side, each on one thread unless more were asked for."""
        return replace(self, options={"n_jobs": 1, **self.options})

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """The group from the values of its flags; raises `OptionError` for values that are not allowed."""
        rows = [option for option in OPTIONS if option.flag is not None and given[option.name] is not None]
        options = {option.name: option.of_flag(given[option.name]) for option in rows}
        return cls(given["labels"], methods.checked(given["method"]), options)


def _parameter(option: Option) -> Parameter:
    kind, default = option.flag_type, option.flag_default
    heading = FLAGGING if option.flag is not None and option.flag.name in _OF_FLAGGING else FITTING
    return flag(option.name, Annotated[kind | None if default is None else kind, flag_of(option, heading)], default)
