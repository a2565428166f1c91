"""Every benchmark runs, tiny; every `make bench-NAME` names one, and every one has its target."""

import re
import runpy
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")

COMMANDS = sorted(
    path.stem
    for path in (ROOT / "benchmarks").glob("*.py")
    if re.search(rf"^ *python -m benchmarks\.{path.stem}( \[|$)", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
)
"""Modules that say of themselves that they are a command without arguments."""


def test_each_benchmark_has_its_target_and_each_target_its_benchmark():
    (listed,) = re.findall(r"^BENCHMARKS := (.*)$", MAKEFILE, flags=re.MULTILINE)
    (more,) = re.findall(r"^bench-all: bench (.*)$", MAKEFILE, flags=re.MULTILINE)
    assert sorted([*listed.split(), *more.replace("bench-", "").split()]) == COMMANDS


def test_the_page_that_lists_commands_names_only_those_that_there_are():
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`make bench-(\w+)`", page))
    assert "kernels" in named
    assert named <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.filterwarnings("ignore:All rows have")
def test_the_benchmark_runs(name, monkeypatch, capsys):
    """As `python -m benchmarks.NAME` does it, in this process."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("RAMODO_TINY", "1")
    monkeypatch.setattr(sys, "argv", [name])
    for loaded in [module for module in sys.modules if module.startswith("benchmarks.")]:
        monkeypatch.delitem(sys.modules, loaded)
    runpy.run_module(f"benchmarks.{name}", run_name="__main__", alter_sys=True)
    printed = capsys.readouterr().out
    assert "a tiny run, whose figures mean nothing" in printed
    lines = [line for line in printed.splitlines() if line.startswith("|")]
    assert len(lines) > 2
    assert not [line for line in lines if "nan" in line or line.endswith("| NO |")]  # a part that did not run says NO
