"""The command as a process: exit codes, Ctrl-C, pipes that end early, disks that are full, rows as they come."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from ramodo.cli.streaming import _records
from ramodo.formats import svmlight


def wait_for(process, condition):
    """Until it holds; a process that has ended will not make it hold."""
    while not condition():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def has_loaded(process, name):
    """Whether a library is in the memory of a process."""
    with open(f"/proc/{process.pid}/maps") as maps:
        return name in maps.read()


needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="looks into /proc")


# ---- exit codes and streams ------------------------------------------------------------------------------------------


def test_a_run_that_goes_well(start, files, tmp_path):
    process = start("detect", files.mail, "-o", tmp_path / "s.csv")
    out, err = process.communicate()
    assert process.returncode == 0
    assert err == b""
    assert b"flagged" in out
    assert (tmp_path / "s.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "code"), [(["detect", "none.svm"], 3), (["detect", "none.svm", "--share", "x"], 2)]
)
def test_runs_that_do_not(start, tmp_path, arguments, code):
    process = start(*arguments, cwd=tmp_path)
    out, err = process.communicate()
    assert process.returncode == code
    assert out == b""
    assert b"Traceback" not in err
    assert err != b""


# ---- Ctrl-C ----------------------------------------------------------------------------------------------------------


@needs_proc
def test_ctrl_c_during_a_fit(start, files, tmp_path):
    long = ["--method", "repen", "--epochs", "30000"]
    process = start("detect", files.mail, *long, "-o", tmp_path / "s.csv", "-m", tmp_path / "model")
    wait_for(process, lambda: has_loaded(process, "sklearn") and has_loaded(process, "_native"))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130
    assert out == b""
    assert b"Traceback" not in err
    assert os.listdir(tmp_path) == []


def test_ctrl_c_while_data_are_read(start, tmp_path):
    process = start("detect", "-", "--format", "svmlight", "-o", tmp_path / "s.csv")
    process.stdin.write(b"0 1:1\n" * 100_000)  # more than a pipe holds: it is being read
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130, err
    assert out == err == b""
    assert os.listdir(tmp_path) == []


def test_ctrl_c_ends_a_stream(start, files):
    process = start("score", files.mail_model, "-")
    assert process.stdout.readline() == b"id,score,percentile,flag\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert b"Traceback" not in err


# ---- rows as they come -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["mail", "log"])
def test_a_line_has_its_score_before_the_next_is_written(start, ok, files, kind):
    lines = getattr(files, kind).read_bytes().splitlines(keepends=True)[:6]
    expected = ok("score", getattr(files, f"{kind}_model"), getattr(files, kind)).splitlines(keepends=True)
    process = start("score", getattr(files, f"{kind}_model"), "-")
    assert process.stdout.readline().decode() == expected[0]
    for line, answer in zip(lines[:4], expected[1:], strict=False):
        process.stdin.write(line)
        process.stdin.flush()
        assert process.stdout.readline().decode() == answer
    process.stdin.write(lines[4] + lines[5][:7])  # a line and a half
    process.stdin.flush()
    assert process.stdout.readline().decode() == expected[5]
    process.stdin.write(lines[5][7:].rstrip(b"\n"))  # and its end without an end
    out, err = process.communicate()
    assert out.decode() == expected[6]
    assert process.returncode == 0
    assert err == b""


def test_scores_before_a_wrong_line_have_been_given(start, files):
    process = start("score", files.mail_model, "-")
    process.stdin.write(files.mail.read_bytes().splitlines(keepends=True)[0])
    process.stdin.flush()
    process.stdout.readline()
    first = process.stdout.readline()
    out, err = process.communicate(b"0 1:x\n")
    assert process.returncode == 3
    assert first.startswith(b"0,")
    assert out == b""
    assert b"standard input, line 2, column 5" in err


BAD = {
    "mail": (b"0 1:x\n", "standard input, line 2, column 5"),
    "not finite": (
        b"0 1:1e300\n",
        "standard input, line 2: the values of X must be finite and at most 1e+30 in absolute value, got 1e+300",
    ),
}


@pytest.mark.parametrize(("bad", "told"), BAD.values(), ids=BAD)
def test_a_stream_goes_on_after_a_bad_row(run, ok, files, bad, told):
    lines = files.mail.read_bytes().splitlines(keepends=True)[:4]
    expected = ok("score", files.mail_model, "-", stdin=b"".join(lines)).splitlines()
    given = b"".join([lines[0], bad, *lines[1:], b"0 0:1\n"])
    done = run("score", files.mail_model, "-", stdin=given)
    assert done.code == 3
    assert told in done.err
    assert "standard input: 2 of 6 rows could not be read and were skipped" in done.err
    found = done.out.splitlines()
    assert [line.split(",")[0] for line in found[1:]] == ["0", "2", "3", "4"]
    assert [line.split(",", 1)[1] for line in found] == [line.split(",", 1)[1] for line in expected]


def test_a_table_is_a_stream_too(run, ok, files):
    """Its first line names the columns of all others; a row of too few values, or a word for a number, is skipped."""
    names, *lines = files.visits.read_bytes().splitlines(keepends=True)
    expected = ok("score", files.visits_model, files.visits).splitlines()
    assert ok("score", files.visits_model, "-", stdin=files.visits.read_bytes()).splitlines() == expected
    word = re.sub(rb"[0-9]+\.[0-9]+", b"slow", lines[5])
    given = b"".join([names, *lines[:3], b"x1,NZ\n", *lines[3:5], word, *lines[6:]])
    done = run("score", files.visits_model, "-", stdin=given)
    assert done.code == 3
    assert "standard input, line 5: Expected 6 columns, got 2: x1,NZ. Skipped." in done.err
    assert "standard input, line 8: column 'seconds' must hold numbers, " in done.err
    assert f"2 of {len(lines) + 1} rows could not be read" in done.err
    assert done.out.splitlines() == expected[:6] + expected[7:]
    done = run("score", files.visits_model, "-", stdin=names.replace(b"seconds", b"time") + b"".join(lines))
    assert (done.code, done.out.count("\n")) == (3, 1)
    assert "standard input must name the columns of the model in its first line, among them 'seconds'" in done.err
    assert "skipped" not in done.err


QUOTED = {
    b'a,"b\nc"\nd,e\nf': [b'a,"b\nc"\n', b"d,e\n", b"f"],
    b'a,5" pipe\nd,"x""\n,"\ne,': [b'a,5" pipe\n', b'd,"x""\n,"\n', b"e,"],
    b'"a\nb","c\n"\n': [b'"a\nb","c\n"\n', b""],
    b'a,"b\n': [b'a,"b\n'],
}


@pytest.mark.parametrize(("block", "expected"), QUOTED.items(), ids=range(len(QUOTED)))
def test_a_value_in_quotes_may_hold_line_breaks(block, expected):
    assert _records(block) == expected


def test_a_strict_stream_ends_after_the_good_rows_before(run, files):
    lines = files.mail.read_bytes().splitlines(keepends=True)[:4]
    done = run("score", files.mail_model, "-", "--strict", stdin=b"".join([*lines[:2], b"0 1:x\n", *lines[2:]]))
    assert done.code == 3
    assert "standard input, line 3, column 5" in done.err
    assert [line.split(",")[0] for line in done.out.splitlines()[1:]] == ["0", "1"]


# ---- output that ends, or has no room --------------------------------------------------------------------------------


def test_a_reader_that_has_seen_enough(start, files, tmp_path):
    """As `head` does it: no error, no complaint."""
    with open(tmp_path / "long.svm", "wb") as file:
        file.write(files.mail.read_bytes() * 100)
    process = start("score", files.mail_model, tmp_path / "long.svm")
    assert process.stdout.readline() == b"id,score,percentile,flag\n"
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate()
    assert process.returncode == 0
    assert err == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("arguments", [["score", "{model}", "{data}"], ["info", "{data}"]], ids=["scores", "facts"])
def test_standard_output_without_room(start, files, arguments):
    arguments = [argument.format(model=files.mail_model, data=files.mail) for argument in arguments]
    with open("/dev/full", "wb") as full:
        process = start(*arguments, stdout=full)
        _, err = process.communicate()
    assert process.returncode == 3
    assert err.decode().splitlines() == ["ramodo: standard output could not be written: No space left on device."]


WRITING = {
    "scores.csv": ["detect", "{data}", "-o", "{target}"],
    "scores.jsonl": ["detect", "{data}", "-o", "{target}"],
    "scores.parquet": ["detect", "{data}", "-o", "{target}"],
    "scores.npz": ["score", "{model}", "{data}", "-o", "{target}"],
    "model.ramodo": ["fit", "{data}", "-m", "{target}"],
    "matrix.npy": ["transform", "{model}", "{data}", "-o", "{target}"],
    "matrix.npz": ["transform", "{model}", "{data}", "-o", "{target}"],
    "matrix.csv": ["transform", "{model}", "{data}", "-o", "{target}"],
    "matrix.parquet": ["transform", "{model}", "{data}", "-o", "{target}"],
    "report.html": ["report", "{model}", "{data}", "-o", "{target}"],
    "data.rows": ["convert", "{data}", "{target}"],
    "other.rows": ["convert", "{npz}", "{target}"],
    "data.npz": ["convert", "{data}", "{target}"],
    "data.mtx": ["convert", "{data}", "{target}"],
    "data.svm": ["convert", "{npz}", "{target}"],
}


ON_SMALL_DISK = """
import contextlib, io, json, resource, sys
from ramodo.cli import main

sys.dont_write_bytecode = True
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
for arguments in json.load(sys.stdin):
    sys.argv, out, err = ["ramodo", *arguments], io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main() or 0
        except SystemExit as end:
            code = end.code or 0
    print(json.dumps([code, out.getvalue(), err.getvalue()]))
"""


def on_small_disk(*commands):
    """Code, output and errors of commands where no file may have more than 1,000 bytes: a full disk, to a program.

    In one process of their own: the limit would hold for what the tests write too, were their output a file.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    given = json.dumps([[str(argument) for argument in command] for command in commands])
    program = [sys.executable, "-c", ON_SMALL_DISK]
    done = subprocess.run(program, env=environment, input=given, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def npz(files):
    table = svmlight.read(str(files.mail))
    path = files.folder / "mail.npz"
    np.savez(path, data=table.X.data, indices=table.X.indices, indptr=table.X.indptr, shape=table.X.shape)
    return path


@pytest.fixture(scope="module")
def written(files, npz, tmp_path_factory):
    """Target of each command, in a folder of its own that has an old file, and what the command did on a small disk."""
    targets = {name: tmp_path_factory.mktemp("disk") / name for name in WRITING}
    for target in targets.values():
        if target.suffix != ".rows":
            target.write_text("old")
    names = {"data": files.mail, "model": files.mail_model, "npz": npz}
    commands = [[argument.format(**names, target=targets[name]) for argument in WRITING[name]] for name in WRITING]
    return dict(zip(WRITING, zip(targets.values(), on_small_disk(*commands), strict=True), strict=True))


@pytest.mark.parametrize("name", WRITING)
def test_a_full_disk_leaves_what_was_there(written, name):
    target, (code, out, err) = written[name]
    assert code == 3
    assert out == ""
    (line,) = err.splitlines()
    assert line.startswith(f"ramodo: {target.resolve()} could not be written: ")
    assert "File too large" in line or "could be written; the disk is full" in line
    if name.endswith(".rows"):
        assert os.listdir(target.parent) == []
    else:
        assert os.listdir(target.parent) == [name]
        assert target.read_text() == "old"


def test_a_small_disk_is_large_enough_for_small_files(tmp_path):
    """So that the tests above fail for the reason that they mean."""
    data = tmp_path / "data.svm"
    data.write_text("0 1:1\n0 2:1\n0 3:1\n")
    conversions = [["convert", data, tmp_path / target] for target in ("data.rows", "data.mtx", "other.svm")]
    done = on_small_disk(*conversions, ["detect", data, "-o", tmp_path / "s.csv"])
    assert [code for code, *_ in done] == [0, 0, 0, 0], done
    assert len((tmp_path / "s.csv").read_text().splitlines()) == 4


# ---- events of several lines -----------------------------------------------------------------------------------------


def app_log(n):
    lines = [f"2026-03-02 09:{i // 60:02}:{i % 60:02} INFO order {i * 7919 % 1000} took {i % 9} ms" for i in range(n)]
    lines[n // 2] += "\nTraceback (most recent call last):\n  File 'a.py', line 3\nKeyError: 7\n"
    return "\n".join(lines) + "\n"


def test_an_event_that_arrives_in_parts_is_one_row_as_in_the_file(start, ok, tmp_path):
    (tmp_path / "app.log").write_text(app_log(80))
    ok("fit", tmp_path / "app.log", "-m", tmp_path / "model", "-q")
    ok("score", tmp_path / "model", tmp_path / "app.log", "-o", tmp_path / "scores.csv", "-q")
    patient = "import ramodo.cli.streaming\nramodo.cli.streaming._SILENCE = 600\n"
    process = start("score", tmp_path / "model", "-", before=patient)
    before, trace, after = re.split(r"(?<=\n)(?=Traceback)|(?<=KeyError: 7\n)", app_log(80))
    process.stdin.write((before + trace[:20]).encode())
    process.stdin.flush()
    first = [process.stdout.readline() for _ in range(41)]  # all but the event that may go on
    process.stdin.write((trace[20:] + after).encode())
    out, _ = process.communicate()
    assert (b"".join(first) + out).decode() == (tmp_path / "scores.csv").read_text()


def test_an_event_is_whole_when_nothing_comes(start, ok, tmp_path):
    (tmp_path / "app.log").write_text(app_log(80))
    ok("fit", tmp_path / "app.log", "-m", tmp_path / "model", "-q")
    process = start("score", tmp_path / "model", "-")
    process.stdin.write(app_log(80).split("\n")[0].encode() + b"\n")
    process.stdin.flush()
    assert process.stdout.readline().startswith(b"id,")
    assert process.stdout.readline().startswith(b"0,")
