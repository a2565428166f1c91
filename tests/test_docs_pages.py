"""Each example of each page in docs/ runs, in order: Python here, commands in a shell."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
WITH_EXAMPLES = {
    "command-line.md",
    "cutoffs.md",
    "datasets.md",
    "labels.md",
    "normalization.md",
    "report.md",
    "stages.md",
    "theory.md",
    "why.md",
}


def blocks(page):
    """Language and text of each example."""
    return re.findall(r"```(python|sh)\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.fixture
def shell(tmp_path):
    """Runs lines of shell, `ramodo` being the one that is tested."""
    command = tmp_path / "bin" / "ramodo"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "from ramodo.cli import main; main()" "$@"\n')
    command.chmod(0o755)
    path = os.pathsep.join([str(command.parent), os.environ["PATH"]])

    def run(lines):
        subprocess.run(["sh", "-e", "-c", lines], check=True, env={**os.environ, "PATH": path}, cwd=tmp_path)

    return run


def test_the_pages_that_show_code_are_known():
    assert {page.name for page in DOCS.glob("*.md") if blocks(page.name)} == WITH_EXAMPLES


@pytest.mark.parametrize("page", sorted(WITH_EXAMPLES))
@pytest.mark.filterwarnings("ignore:All rows have")
def test_the_page_runs(page, tmp_path, monkeypatch, shell):
    monkeypatch.chdir(tmp_path)
    names = {}
    for number, (language, text) in enumerate(blocks(page)):
        if language == "sh":
            shell(text)
        else:
            exec(compile(text, f"{page}, block {number}", "exec"), names)
