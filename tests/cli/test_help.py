"""Help, version, and the command without its packages."""

import re
import shlex
from pathlib import Path

import pytest
import typer.main

import ramodo
from ramodo import demo
from ramodo.cli.app import app
from ramodo.cli.flags import FITTING, FLAGGING, MODEL_FILE, READING, TEXT, WRITING

COMMANDS = [name for name, command in typer.main.get_command(app).commands.items() if not command.hidden]


def plain(text):
    """Without colours, borders and line breaks."""
    return re.sub(r"\s+", " ", re.sub(r"\x1b\[[0-9;]*m|[│╭╮╰╯─]", " ", text))


def test_the_commands_there_are():
    assert {"detect", "fit", "score", "transform", "evaluate", "convert", "info", "demo"} <= set(COMMANDS)


@pytest.mark.parametrize("flag", ["--help", "-h"])
@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_each_command_has_an_example_that_fits_it(run, command, flag):
    done = run(command, flag)
    assert done.code == 0
    assert done.err == ""
    made = typer.main.get_command(app).commands[command]
    examples = re.findall(rf"`([^`]*ramodo {command}[^`]*)`", made.help)
    assert examples
    known = {"-", *[flag for parameter in made.params for flag in parameter.opts]}
    for example in examples:
        assert example in plain(done.out)
        words = shlex.split(example.split(f"ramodo {command}")[1])
        assert {word for word in words if word.startswith("-")} <= known


def test_each_option_of_each_command_is_documented():
    """On one of the pages about commands."""
    folder = Path(__file__).parents[2] / "docs"
    pages = [
        "reading",
        "writing",
        "streaming",
        "options",
        "datasets",
        "scale",
        "serving",
        "triage",
        "model-life",
        "cutoffs",
    ]
    text = "".join((folder / f"{page}.md").read_text(encoding="utf-8") for page in pages)
    commands = typer.main.get_command(app).commands
    flags = [
        (name, flag)
        for name in COMMANDS
        for parameter in commands[name].params
        for flag in (*parameter.opts, *parameter.secondary_opts)
        if flag.startswith("--")
    ]
    assert len(flags) > 60
    assert [pair for pair in flags if not re.search(rf"{pair[1]}(?![\w-])", text)] == []


@pytest.mark.parametrize("command", ["detect", "score"])
def test_options_stand_under_headings_what_is_written_first(run, command):
    shown = plain(run(command, "--help").out)
    places = [shown.find(heading) for heading in (WRITING, MODEL_FILE, FITTING, FLAGGING, READING, TEXT)]
    there = [place for place in places if place >= 0]
    assert there == sorted(there)
    assert len(there) == {"detect": 6, "score": 3}[command]
    assert shown.find("--output", there[0]) < shown.find("--flagged", there[0])


def test_the_help_names_all_commands(run):
    done = run("--help")
    assert done.code == 0
    assert all(name in done.out for name in COMMANDS)


def test_without_arguments_there_is_help(run):
    done = run()
    assert done.code == 2
    assert "detect" in done.out + done.err


def test_the_version(run):
    done = run("--version")
    assert (done.code, done.out, done.err) == (0, f"{ramodo.__version__}\n", "")


def test_the_demo_command_runs_the_demo(ok, monkeypatch):
    monkeypatch.setattr(demo, "main", lambda: print("ran"))
    assert ok("demo") == "ran\n"


def test_the_demo_finds_what_it_planted(capsys):
    demo.main(n_rows=1000, n_features=20_000)
    out = capsys.readouterr().out
    assert "generated 1,000 rows x 20,000 features" in out
    assert float(re.search(r"REPEN, 20 features\s+([\d.]+)", out)[1]) > 0.8
    assert out.rstrip().splitlines()[-1].split()[0] == "10"


def test_without_its_packages_the_command_says_what_to_install(python):
    program = """
import sys
sys.modules["typer"] = None
from ramodo.cli import main
try:
    main()
except SystemExit as end:
    print(end.code)
"""
    assert python(program) == "The command line needs the packages typer and rich: pip install typer rich.\n"
