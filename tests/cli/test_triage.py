"""`ramodo triage --headless`, and what the command refuses before any work."""

import json
import re
import signal
import subprocess
import sys
from contextlib import contextmanager

import httpx
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


def test_a_store_is_copied(mail, monkeypatch, capsys):
    words = ["triage", mail / "mail.txt", "--headless", mail / "answers.csv", "--rows", 5, "-q"]
    assert call(monkeypatch, *words) == 0
    assert call(monkeypatch, "triage", mail / "mail.txt", "--backup", mail / "copy.triage") == 0
    assert f"a copy of {mail / 'mail.txt'}.triage" in capsys.readouterr().err
    again = [*words[:5], 6, "--store", mail / "copy.triage", "--json", "-q"]
    assert call(monkeypatch, *again) == 0
    assert json.loads(capsys.readouterr().out)["labelled"] == 6
    assert call(monkeypatch, "triage", mail / "none.txt", "--backup", mail / "more.triage") == 2


def test_the_loop_without_a_page(mail, monkeypatch, capsys):
    words = ["triage", mail / "mail.txt", "--headless", mail / "answers.csv", "--rows", 30, "--json", "-q"]
    words += ["-o", mail / "ranking.csv", "--save", mail / "model.ramodo", "--store", mail / "labels.db"]
    assert call(monkeypatch, *words) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["labelled"] == 30
    assert found["outliers"] == 12
    assert found["outliers in the first 10"] <= 10
    assert found["models"] >= 2
    assert len((mail / "ranking.csv").read_text().splitlines()) == 121
    assert call(monkeypatch, "score", mail / "model.ramodo", mail / "mail.txt", "-o", mail / "scores.csv") == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--method", "sp"], "learns nothing from labels"),
        (["--rows", "5"], "--rows needs --headless"),
        (["--host", "0.0.0.0"], "--allow-remote"),
        (["--store", "mysql://x/y", "--headless", "answers.csv"], "--store must be a file, or postgresql"),
    ],
)
def test_what_is_refused(mail, monkeypatch, capsys, words, said):
    monkeypatch.chdir(mail)
    assert call(monkeypatch, "triage", "mail.txt", *words) == 2
    assert said in capsys.readouterr().err


@contextmanager
def serving(folder, *words):
    """The command as a process, and the link that it prints."""
    line = [sys.executable, "-c", "from ramodo.cli import main; main()", "triage", "mail.txt", "--method", "repen"]
    line += ["--epochs", "1", "--no-browser", "--seed", "0", *words]
    with subprocess.Popen(line, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process, re.search(r"http://\S+", process.stdout.readline())[0]
        finally:
            process.kill()


def test_a_kill_of_the_server_loses_nothing_that_it_acknowledged(mail):
    with serving(mail) as (process, link), httpx.Client(follow_redirects=True, base_url=link.split("/?")[0]) as client:
        page = client.get(link, headers={"accept": "text/html"}).text
        csrf = re.search('name="csrf" content="(.+?)"', page)[1]
        row, rows = int(re.search('data-row="([0-9]+)"', page)[1]), []
        for _ in range(4):
            found = client.post("/label", json={"row": row, "label": 1}, headers={"x-csrf-token": csrf})
            assert found.status_code == 200
            rows.append(row)
            row = int(re.search('data-row="([0-9]+)"', found.json()["card"])[1])
        process.send_signal(signal.SIGKILL)
    with serving(mail, "--host", "0.0.0.0", "--allow-remote") as (process, link), httpx.Client() as client:
        again = client.get(link, follow_redirects=True, headers={"accept": "text/html"}).text
        assert int(re.search('data-row="([0-9]+)"', again)[1]) == row  # where it was left
        exported = client.get(link.split("?")[0] + "export/labels.csv").text
        assert sorted(int(line.split(",")[0]) for line in exported.splitlines()[1:]) == sorted(rows)
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
        assert process.wait(30) == 0
    assert "every machine that can reach this one" in said
