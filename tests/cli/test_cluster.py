"""`--cluster`: the same files and the same scores, by the workers of a Dask cluster."""

import json
import os
import signal
import socket
import sys
import time

import dask
import numpy as np
import pytest
from distributed import LocalCluster, default_client

from ramodo.cli.cluster import connected
from support.examples import with_outliers
from support.made_files import write_svmlight, write_visits

REPEN = ("--method", "repen", "--epochs", "2")


@pytest.fixture
def address(two_workers):
    """The address of a scheduler."""
    return two_workers.scheduler.address


@pytest.fixture
def parts(tmp_path):
    """A glob of three files, and one file of all their rows."""
    X, y = with_outliers()
    write_svmlight(tmp_path / "all.svm", X, y)
    lines = (tmp_path / "all.svm").read_text().splitlines(keepends=True)
    (tmp_path / "parts").mkdir()
    for number in range(3):
        (tmp_path / "parts" / f"{number}.svm").write_text("".join(lines[40 * number : 40 * number + 40]))
    return str(tmp_path / "parts" / "*.svm")


def test_a_killed_worker_comes_back_however_long_that_takes():
    """Dask's own limit is shorter here than any start of a process."""
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "1 ms"}), connected("local:1", quiet=True):
        cluster = default_client().cluster
        (before,) = cluster.scheduler.workers
        cluster.workers[0].process.process.kill()
        while not set(cluster.scheduler.workers) - {before}:
            assert cluster.workers  # those whose return is awaited
            time.sleep(0.01)


@pytest.mark.parametrize("method", [REPEN, ()], ids=["repen", "consensus"])
def test_detect_gives_the_same(run, ok, address, parts, tmp_path, method):
    here, there = tmp_path / "here.csv", tmp_path / "there.csv"
    known = json.loads(ok("detect", tmp_path / "all.svm", *method, "-o", here, "--json", "--threads", 1))
    done = run("detect", parts, *method, "-o", there, "-m", tmp_path / "a.ramodo", "--cluster", address, "--json")
    assert done.code == 0, done.err
    assert f"cluster {address}, dashboard http" in done.err
    assert there.read_bytes() == here.read_bytes()
    found = json.loads(done.out)
    assert found["top"] == known["top"]
    assert (found["rows"], found["features"], found["non-zeros"]) == (120, 40, known["non-zeros"])
    scored = tmp_path / "scored.csv"
    assert run("score", tmp_path / "a.ramodo", parts, "-o", scored, "--cluster", address).code == 0
    assert scored.read_bytes() == here.read_bytes()


def test_a_glob_need_not_tell_the_format(ok, address, parts, tmp_path):
    glob = parts.replace("*.svm", "*")
    for name, data in (("told", parts), ("untold", glob)):
        ok(
            "detect",
            data,
            *REPEN,
            "-o",
            tmp_path / f"{name}.csv",
            "-m",
            tmp_path / "a.ramodo",
            "--cluster",
            address,
            "-q",
        )
    ok("score", tmp_path / "a.ramodo", glob, "-o", tmp_path / "scored.csv", "--cluster", address, "-q")
    assert {(tmp_path / f"{name}.csv").read_bytes() for name in ("told", "untold", "scored")} == {
        (tmp_path / "told.csv").read_bytes()
    }


def test_a_scheduler_without_workers_is_said(run, parts, monkeypatch):
    monkeypatch.setattr("ramodo.cli.cluster._PATIENCE", 0.5)
    options = {"n_workers": 0, "processes": False, "host": "127.0.0.1", "protocol": "tcp", "dashboard_address": None}
    with LocalCluster(**options) as cluster:
        done = run("detect", parts, "--cluster", cluster.scheduler_address)
    assert done.code == 3
    assert "the Dask scheduler has had no workers for 0.5 seconds; start some" in done.err


def test_tables_with_ids(ok, address, tmp_path):
    write_visits(tmp_path / "all.csv")
    header, *lines = (tmp_path / "all.csv").read_text().splitlines()
    for number in range(2):
        some = lines[45 * number : 45 * number + 45]
        (tmp_path / f"part{number}.csv").write_text("\n".join([header, *some]) + "\n")
    flags = ("--id", "visit", "--label", "truth", *REPEN)
    ok("detect", tmp_path / "all.csv", *flags, "-o", tmp_path / "here.csv", "-q")
    ok("fit", tmp_path / "part*.csv", *flags, "-m", tmp_path / "a.ramodo", "--cluster", address, "-q")
    ok("score", tmp_path / "a.ramodo", tmp_path / "part*.csv", "-o", tmp_path / "there.csv", "--cluster", address, "-q")
    assert (tmp_path / "there.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()
    ok("score", tmp_path / "a.ramodo", tmp_path / "part1.csv", "-o", tmp_path / "one.csv", "-q")
    assert (tmp_path / "one.csv").read_text().splitlines()[1:] == (tmp_path / "here.csv").read_text().splitlines()[46:]


def test_a_cluster_of_this_machine(ok, parts, tmp_path):
    ok("detect", parts, *REPEN, "-o", tmp_path / "there.npz", "--cluster", "local:1", "-q")
    ok("detect", tmp_path / "all.svm", *REPEN, "-o", tmp_path / "here.npz", "-q")
    there, here = (np.load(tmp_path / f"{name}.npz")["score"] for name in ("there", "here"))
    assert there.tobytes() == here.tobytes()


@pytest.mark.parametrize("given", ["local:0", "local:x", "many", "local:99999"])
def test_what_is_no_cluster_is_refused(run, parts, given):
    done = run("fit", parts, "-m", "a.ramodo", "--cluster", given)
    assert done.code == 2
    assert "must be tcp://host:port of a Dask scheduler, local, or local:N" in done.err


def test_a_scheduler_that_does_not_answer(run, parts, tmp_path, monkeypatch):
    monkeypatch.setattr("ramodo.cli.cluster._PATIENCE", 0.5)
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    done = run("detect", parts, "-o", tmp_path / "a.csv", "--cluster", f"tcp://127.0.0.1:{port}")
    assert done.code == 3
    assert f"none answers at tcp://127.0.0.1:{port}" in done.err
    assert not (tmp_path / "a.csv").exists()


def test_files_that_cannot_be_read_are_named_and_nothing_is_written(run, address, parts, tmp_path):
    (tmp_path / "parts" / "1.svm").write_text("0 1:x\n")
    done = run("detect", parts, "-o", tmp_path / "a.csv", "-m", tmp_path / "a.ramodo", "--cluster", address)
    assert done.code == 3
    assert "1.svm, line 1, column 5: a number was expected" in done.err
    assert not (tmp_path / "a.csv").exists()
    assert not (tmp_path / "a.ramodo").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--report", "a.html"), "--report a.html cannot be combined with --cluster"),
        (("--with", "truth", "-o", "-"), "--with truth cannot be combined with --cluster"),
        (("--format", "text", "--vocabulary"), "holds text whose tokens are listed"),
        (("--format", "csv", "--text", "words"), "holds text beside other columns"),
    ],
    ids=["report", "with", "vocabulary", "text and more"],
)
def test_what_needs_all_rows_here_is_refused(run, address, parts, arguments, said):
    done = run("detect", parts, "--cluster", address, *arguments)
    assert done.code == 2
    assert said in done.err


def test_standard_input_is_refused(run, address, fitted, tmp_path):
    fitted.save(tmp_path / "a.ramodo")
    done = run("score", tmp_path / "a.ramodo", "-", "--cluster", address)
    assert done.code == 2
    assert "got standard input (-)." in done.err


def test_a_scheduler_that_dies_leaves_no_output(start, tmp_path, parts):
    """The cluster is ended while the command reads: the fifo, which nobody writes to, keeps it waiting."""
    import subprocess
    from pathlib import Path

    script = tmp_path / "cluster.py"
    script.write_text(
        "import time\nfrom distributed import LocalCluster\n"
        "if __name__ == '__main__':\n"
        "    c = LocalCluster(n_workers=1, host='127.0.0.1', dashboard_address='127.0.0.1:0')\n"
        "    print(c.scheduler_address, flush=True)\n    time.sleep(600)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    os.mkfifo(tmp_path / "parts" / "3.svm")
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, env=environment, text=True) as cluster:
        scheduler = cluster.stdout.readline().strip()
        command = start("detect", parts, "-o", tmp_path / "a.csv", "--cluster", scheduler)
        with open(tmp_path / "parts" / "3.svm", "wb"):  # opens once the worker reads it
            cluster.send_signal(signal.SIGKILL)
            _, err = command.communicate(timeout=120)
    assert command.returncode == 3, err
    assert b"was lost" in err
    assert b"nothing was written" in err
    assert not Path(tmp_path / "a.csv").exists()
