"""Flags that are options come from the table of options, and groups of flags are spread out for typer."""

import inspect
from dataclasses import dataclass
from typing import Annotated

import pytest
import typer.main
from typer.testing import CliRunner

from ramodo.cli import flags
from ramodo.cli.app import app
from ramodo.cli.groups import Group, grouped
from ramodo.cli.training import detector_of
from ramodo.constraints import Integer, Literal, Real
from ramodo.formats import FORMATS
from ramodo.options import OPTIONS, Flag, Option, OptionError

ROWS = [option for option in OPTIONS if option.flag is not None]


def parameters(command):
    """What typer made of a command, by flag."""
    return {flag: p for p in typer.main.get_command(app).commands[command].params for flag in p.opts}


def given(**values):
    """What the group is told where no flag was given but these."""
    return {parameter.name: parameter.default for parameter in flags.Fitting.flags()} | values


@pytest.mark.parametrize("option", ROWS, ids=lambda option: option.name)
@pytest.mark.parametrize("command", ["detect", "fit"])
def test_a_row_with_a_flag_is_a_flag_of_the_command(command, option):
    made = parameters(command)[option.flag.name]
    assert made.default == option.flag_default
    assert made.help == (option.flag.help or option.meaning)
    assert not made.required


def test_the_rows_that_have_flags():
    expected = {
        "--components",
        "--epochs",
        "--share",
        "--normalize",
        "--copies",
        "--models",
        "--seed",
        "--threads",
        "--fdr",
        "--alpha",
    }
    assert {option.flag.name for option in ROWS} == expected


@pytest.mark.parametrize(("method", "of_text"), [("consensus", None), ("repen", "l2")])
def test_defaults_of_the_command_are_those_of_the_detector(method, of_text):
    """But for the seed, so that a command gives the same again, the threads, and for REPEN the length of texts."""
    fitting = flags.Fitting.of(given(method=method))
    assert fitting == flags.Fitting(None, method, {"random_state": 0})
    detector = detector_of(fitting, is_text=False, verbose=False)
    assert detector.n_jobs >= 1
    detector.set_params(random_state=None, n_jobs=None)
    assert detector.get_params() == type(detector)().get_params()
    assert detector_of(fitting, is_text=True, verbose=True).normalize == of_text


def test_words_stand_for_values_and_what_is_given_wins():
    fitting = flags.Fitting.of(given(normalize="none", cutoff=0.1, n_jobs=1))
    detector = detector_of(fitting, is_text=True, verbose=False)
    assert (detector.normalize, detector.cutoff, detector.n_jobs) == (None, 0.1, 1)
    with pytest.raises(OptionError, match=r"^--normalize must be none, l2 or max, got 'l1'\.$"):
        flags.Fitting.of(given(normalize="l1"))
    with pytest.raises(OptionError, match=r"^--share must be .*, got 0.7\.$"):
        flags.Fitting.of(given(cutoff=0.7))


NEW = {
    "whole": (Option("new", 3, (Integer(1, 9),), "-", "New.", Flag("--new")), ["--new", "9"], 9, 3),
    "real": (Option("new", "auto", (Literal("auto"), Real(0, 1)), "-", "N.", Flag("--new")), ["--new", "1"], 1.0, None),
    "word": (Option("new", "a", (Literal("a"), Literal("b")), "-", "New.", Flag("--new")), ["--new", "b"], "b", "a"),
    "switch": (
        Option("new", True, (Literal(True), Literal(False)), "-", "New.", Flag("--new/--old")),
        ["--old"],
        False,
        True,
    ),
}


@pytest.mark.parametrize(("option", "arguments", "value", "default"), NEW.values(), ids=NEW.keys())
def test_a_new_row_is_a_new_flag(monkeypatch, option, arguments, value, default):
    """With nothing to change in the command: what was given arrives under the option's name in Python."""
    monkeypatch.setattr(flags, "OPTIONS", (option,))
    made, found = typer.Typer(), []

    @made.command()
    @grouped
    def fit(data: str, fitting: flags.Fitting) -> None:
        found.append((data, dict(fitting.options)))

    for line in (["file", *arguments], ["file"]):
        done = CliRunner().invoke(made, line)
        assert done.exit_code == 0, done.output
    assert found == [("file", {"new": value}), ("file", {} if default is None else {"new": default})]


def test_a_group_is_spread_out_in_its_place():
    @dataclass(frozen=True)
    class Pair(Group):
        left: Annotated[int, typer.Option("--left")] = 1
        right: Annotated[str, typer.Option("--right")] = "b"

    found = []

    def command(first: str, pair: Pair, last: bool = False) -> None:
        """Says what it does."""
        found.append((first, pair, last))

    command.__annotations__ = {"first": str, "pair": Pair, "last": bool}  # a class of this function has no global name
    spread = grouped(command)
    assert list(inspect.signature(spread).parameters) == ["first", "left", "right", "last"]
    assert spread.__doc__ == "Says what it does."
    spread(first="x", left=5, right="c", last=True)
    assert found == [("x", Pair(5, "c"), True)]


@pytest.mark.parametrize("command", ["detect", "fit", "score", "convert", "info"])
def test_the_help_lists_the_formats_there_are(command):
    assert parameters(command)["--format"].help == f"{', '.join(FORMATS)}; by default, the suffix decides."


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["detect", "--help"]])
def test_what_needs_no_data_does_not_wait_for_numpy(python, arguments):
    program = """
import sys
from ramodo.cli import main
try:
    main()
except SystemExit as end:
    print(end.code, sorted({"numpy", "scipy", "sklearn"} & set(sys.modules)))
"""
    assert python(program, *arguments).endswith("0 []\n")
