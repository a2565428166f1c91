"""Data that would colour a terminal, name its window or turn its letters round: shown, not obeyed."""

import json
import os

import pytest

EVIL = "\x1b[31mRED\x1b[0m \x1b]0;pwn\x07 \u202eyako\u202c alert"
SHOWN = r"\x1b[31mRED\x1b[0m \x1b]0;pwn\x07 \u202eyako\u202c alert"


def obeyed(text):
    return [c for c in text if c in "\x1b\x07\u202e\u202c\x9b"]


@pytest.fixture
def log(files, tmp_path):
    path = tmp_path / "evil.log"
    path.write_text(files.log.read_text() + EVIL + "\n", encoding="utf-8")
    return path


@pytest.fixture
def table(tmp_path):
    """Ids and a column with control characters, and an id of two lines."""
    lines = [f'"v{i}\x1b[2J",{i % 7},{i % 3}' for i in range(30)]
    path = tmp_path / "evil.csv"
    path.write_text("\n".join(["visit,sec\x1b[31monds,b", *lines, '"two\nlines",90,80']) + "\n")
    return path


def on_terminal(start, *arguments, stdin=b""):
    """What a terminal gets of the command's standard output."""
    master, slave = os.openpty()
    process = start(*arguments, stdout=slave)
    os.close(slave)
    process.stdin.write(stdin)
    process.stdin.close()
    process.stdin = None
    shown = b""
    while True:
        try:
            part = os.read(master, 1 << 16)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        shown += part
    os.close(master)
    assert process.wait() == 0
    return shown


def test_documents(ok, log, tmp_path):
    shown = ok("detect", log, "--top", 91, "-m", tmp_path / "model")
    assert r"\x1b[31mRED" in shown
    assert not obeyed(shown)
    shown = ok("explain", tmp_path / "model", log, "--row", 90)
    assert SHOWN in shown
    assert not obeyed(shown)


def test_the_terminal_gets_them_shown_too(start, log):
    """Where output is a terminal, colours of our own are written; none of the data's."""
    shown = on_terminal(start, "detect", log, "--top", 91)
    assert b"alert" in shown
    assert b"\x1b]0;" not in shown
    assert b"\x1b[31m" not in shown
    assert "\u202e".encode() not in shown


@pytest.mark.parametrize("command", ["score", "detect"])
def test_ids_on_a_terminal(start, ok, table, tmp_path, command):
    """As they are for a program, in one visible line each for eyes."""
    ok("fit", table, "--id", "visit", "-q", "-m", tmp_path / "model")
    fit = ["detect", table, "--id", "visit", "-q", "-o", "-"]
    arguments = ["score", tmp_path / "model", table] if command == "score" else fit
    shown = on_terminal(start, *arguments).decode()
    assert r"v0\x1b[2J," in shown
    assert r"two\nlines," in shown
    assert not obeyed(shown)
    assert len(shown.splitlines()) == 32
    piped = ok(*arguments)
    assert "v0\x1b[2J," in piped
    assert '"two\nlines",' in piped
    assert piped.replace("two\nlines", "twolines").count("\n") == 32


def test_a_stream_on_a_terminal(start, files):
    first = files.log.read_bytes().splitlines(keepends=True)[0]
    shown = on_terminal(start, "score", files.log_model, "-", stdin=first)
    assert len(shown.splitlines()) == 2


def test_ids_and_names(ok, run, table, tmp_path):
    options = ["--id", "visit"]
    shown = ok("detect", table, *options, "-m", tmp_path / "model")
    assert r"two\nlines" in shown
    assert r"sec\x1b[31monds" in shown
    explained = ok("explain", tmp_path / "model", table, "--row", "two\nlines")
    assert explained.startswith(r"two\nlines: score")
    assert r"\x1b[31monds" in explained
    facts = ok("info", table) + ok("info", tmp_path / "model")
    refused = run("explain", tmp_path / "model", table, "--row", "nobody").err
    assert r"v0\x1b[2J" in refused
    assert not obeyed(shown + explained + facts + refused)


def test_files_hold_what_the_data_hold(ok, table, tmp_path):
    """Escapes are for eyes; programs get the ids as they are."""
    ok("detect", table, "--id", "visit", "-q", "-o", tmp_path / "scores.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_text().splitlines()]
    assert rows[0]["id"] == "v0\x1b[2J"
    assert rows[-1]["id"] == "two\nlines"


def test_an_explanation_begins_with_the_id(ok, files):
    lines = ok("explain", files.log_model, files.log, "--row", 89).splitlines()
    assert lines[0].startswith("89: score")
    assert lines[1] == "  DROP TABLE users; SELECT"
    assert lines[2].split()[0][0] in "+-"
    assert lines[-1].startswith("  nearest training rows: ")
