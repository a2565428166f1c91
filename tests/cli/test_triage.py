"""`ramodo triage --headless`, and what the command refuses before any work."""

import json
import sys

import pytest

from ramodo.cli import main


def call(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["ramodo", *map(str, words)])
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code or 0


@pytest.fixture
def mail(tmp_path):
    """Lines of which every tenth has a word of its own, and the answers."""
    lines = [f"report of the week number {i % 7} to the team {i % 5}" for i in range(120)]
    for i in range(0, 120, 10):
        lines[i] += " prize winner claim cash"
    (tmp_path / "mail.txt").write_text("\n".join(lines) + "\n")
    answers = "".join(f"{i},{1 if i % 10 == 0 else -1}\n" for i in range(120))
    (tmp_path / "answers.csv").write_text("id,label\n" + answers)
    return tmp_path


def test_the_loop_without_a_page(mail, monkeypatch, capsys):
    words = ["triage", mail / "mail.txt", "--headless", mail / "answers.csv", "--rows", 30, "--json", "-q"]
    words += ["-o", mail / "ranking.csv", "--save", mail / "model.ramodo", "--store", mail / "labels.db"]
    assert call(monkeypatch, *words) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["looked at"] == 30
    assert found["outliers"] == 12
    assert found["outliers in the first 10"] <= 10
    assert found["models"] >= 2
    assert len((mail / "ranking.csv").read_text().splitlines()) == 121
    assert call(monkeypatch, "score", mail / "model.ramodo", mail / "mail.txt", "-o", mail / "scores.csv") == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--method", "sp"], "learns from no labels"),
        (["--rows", "5"], "without --headless"),
        (["--host", "0.0.0.0"], "--allow-remote"),
        (["--store", "mysql://x/y", "--headless", "answers.csv"], "allowed: a file, or postgresql"),
    ],
)
def test_what_is_refused(mail, monkeypatch, capsys, words, said):
    monkeypatch.chdir(mail)
    assert call(monkeypatch, "triage", "mail.txt", *words) == 2
    assert said in capsys.readouterr().err
