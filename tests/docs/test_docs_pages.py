"""Each example of each page in docs/ runs, in order: Python and plain commands here, other lines in a shell."""

import os
import re
import shlex
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from ramodo.cli import main

DOCS = Path(__file__).parents[2] / "docs"
WITH_EXAMPLES = {
    "consensus.md",
    "cutoffs.md",
    "datasets.md",
    "frames.md",
    "labels.md",
    "model-life.md",
    "neighbours.md",
    "reading.md",
    "reasons.md",
    "scale.md",
    "serving.md",
    "stages.md",
    "streaming.md",
    "theory.md",
    "triage.md",
    "tutorial.md",
    "which-options.md",
    "writing.md",
}


def blocks(page):
    """Language and text of each example."""
    return re.findall(r"```(python|sh)\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """Runs lines of shell, `ramodo` being the one that is tested."""
    script = tmp_path / "bin" / "ramodo"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "from ramodo.cli import main; main()" "$@"\n')
    script.chmod(0o755)
    path = os.pathsep.join([str(script.parent), os.environ["PATH"]])

    def run(lines):
        for line in lines.splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] == ["ramodo"] and not {"|", ">"} & set(words):
                monkeypatch.setattr(sys, "argv", words)
                with pytest.raises(SystemExit) as end:
                    main()
                assert not end.value.code, line
            else:
                subprocess.run(["sh", "-e", "-c", line], check=True, env={**os.environ, "PATH": path}, cwd=tmp_path)

    yield run
    for left in tmp_path.glob("*.pid"):  # of what an example starts, where another failed before its end
        with suppress(ProcessLookupError):
            os.kill(int(left.read_text()), signal.SIGTERM)


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


def rounded(text):
    """Last digits differ between machines, and sums that are 0 but for them."""
    text = re.sub(r"-?\d[\d.]*e-\d+", "0", text)
    return re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]):.3g}", text)


def test_the_tutorial_shows_what_its_commands_print(monkeypatch):
    """`python docs/make_tutorial.py` writes it again. What it says of the planted visits holds."""
    monkeypatch.syspath_prepend(DOCS)
    import make_tutorial

    text = make_tutorial.PAGE.read_text(encoding="utf-8")
    assert rounded(make_tutorial.page(text)) == rounded(text), "write it again: python docs/make_tutorial.py"
    ranked, explained, labelled, _ = re.findall(r"```console\n(.*?)```", text, flags=re.DOTALL)
    tabs, robots = ({f"v{i}" for i in range(first, 1000, 250)} for first in (120, 180))
    assert set(re.findall(r"^v\d+", ranked, flags=re.MULTILINE)) == tabs | robots
    assert "page=login" in explained
    assert set(re.findall(r"^v\d+", labelled, flags=re.MULTILINE)[:4]) == robots
