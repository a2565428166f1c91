"""What docs/serving.md says, besides that its examples run: scores of the engines, commands of the container."""

import csv
import json
import re
import socket
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet
import pytest

from support.fitted_models import command

PAGE = (Path(__file__).parents[2] / "docs" / "serving.md").read_text(encoding="utf-8")
PROGRAM = "from ramodo.cli import main; main()"


@pytest.fixture
def visits(tmp_path, monkeypatch):
    """The page's Python, run; a folder with what it leaves behind."""
    monkeypatch.chdir(tmp_path)
    names = {}
    for number, text in enumerate(re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)):
        exec(compile(text, "docs/serving.md", "exec"), names)
        if number == 0:
            for line in re.findall(r"^ramodo ((?:fit|score) .*)$", PAGE, flags=re.MULTILINE):
                command(*line.split())
    return names


def test_all_engines_give_the_scores_of_the_command(visits):
    with open("scores.csv", newline="") as file:
        expected = {row["id"]: float(row["score"]) for row in csv.DictReader(file)}
    assert len(expected) == 400
    for name in ("scores-duckdb.parquet", "scores-polars.parquet"):
        rows = pyarrow.parquet.read_table(name).to_pylist()
        assert {row["visit"]: row["score"] for row in rows} == expected
        assert len(rows) == 400


def _line(name):
    """The command after a word of the Dockerfile."""
    return json.loads(re.search(rf"^{name} (?:CMD )?(\[.*\])$", PAGE, flags=re.MULTILINE)[1])


def test_the_commands_of_the_container(fitted, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    paths = {"/model.ramodo": str(fitted.visits.model), "/run/secrets/token": str(tmp_path / "token"), "8000": port}
    program, *arguments = [paths.get(word, word) for word in _line("ENTRYPOINT")]
    assert program == "ramodo"
    server = subprocess.Popen([sys.executable, "-c", PROGRAM, *arguments], stderr=subprocess.PIPE, text=True)
    try:
        assert "serving" in server.stderr.readline()
        python, *check = _line("HEALTHCHECK")
        assert python == "python"
        line = [sys.executable, *(word.replace("8000", port) for word in check)]
        assert subprocess.run(line, check=False).returncode == 0
        server.terminate()
        assert server.wait(30) == 0
        assert subprocess.run(line, check=False, capture_output=True).returncode != 0
    finally:
        server.kill()
        server.communicate()
