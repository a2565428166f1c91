"""Commands that are killed at any moment: what they write is as before or complete, and the next run cleans up."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ramodo import load
from ramodo.formats import read

KILLING = Path(__file__).with_name("killing.py")


@pytest.fixture
def sources(tmp_path):
    """Files of 30 and of 40 rows."""
    for n in (30, 40):
        rows = "".join(f"{i % 2} {i % 9 + 1}:{i % 5}.5 {i % 13 + 20}:1\n" for i in range(n))
        (tmp_path / f"{n}.svm").write_text(rows)
    return [str(tmp_path / "30.svm"), str(tmp_path / "40.svm")]


@pytest.fixture
def out(tmp_path):
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


def kills(n, out, sources, *command):
    """Yields after each of `n` kills of the command, which gets one of the sources and then the other."""
    arguments = [sys.executable, "-W", "ignore", str(KILLING), str(n), str(out), *sources, *map(str, command)]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        outcomes, n_left = [], 0
        for line in process.stdout:
            outcomes.append(line.strip())
            n_left += any(".ramodo-" in name for name in os.listdir(out))
            yield
            process.stdin.write("\n")
            process.stdin.flush()
    assert process.returncode == 0
    assert len(outcomes) == n
    assert set(outcomes) <= {"killed", "ended with 0"}
    assert outcomes.count("killed") >= n / 2  # a run may end before a late signal comes
    assert n_left > 0  # some kills came while something was being written


def run(*command):
    subprocess.run([Path(sys.executable).with_name("ramodo"), *map(str, command)], check=True, capture_output=True)


@pytest.mark.parametrize("suffix", ["rows", "npz"])
def test_convert(out, sources, suffix):
    target = out / f"data.{suffix}"
    for _ in kills(12, out, sources, "convert", target):
        assert read(str(target)).X.shape[0] in (30, 40)
    run("convert", sources[1], target)
    assert read(str(target)).X.shape[0] == 40
    assert os.listdir(out) == [target.name]


def test_detect(out, sources):
    options = ["--output", out / "scores.csv", "--model", out / "m.ramodo", "--report", out / "r.html", "--seed", "0"]
    for _ in kills(6, out, sources, "detect", *options, "--quiet"):
        assert len((out / "scores.csv").read_text().splitlines()) in (31, 41)
        assert len(load(out / "m.ramodo").outlier_scores_) in (30, 40)
        assert (out / "r.html").read_text().rstrip().endswith("</html>")
    run("detect", sources[1], *options)
    assert len((out / "scores.csv").read_text().splitlines()) == 41
    assert sorted(os.listdir(out)) == ["m.ramodo", "r.html", "scores.csv"]
