"""Standard streams that are closed, or whose other end is."""

import os
import subprocess
import sys

import pytest


@pytest.fixture
def shell(files):
    """Runs a line in which RAMODO is the command, MODEL and DATA are files."""

    def run(line):
        line = line.replace("RAMODO", f'"{sys.executable}" -c "from ramodo.cli import main; main()"')
        line = line.replace("MODEL", str(files.mail_model)).replace("DATA", str(files.mail))
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.run(["sh", "-c", line], env=environment, capture_output=True, text=True, check=False)

    return run


@pytest.mark.parametrize("arguments", ["score MODEL DATA", "info DATA", "--help"])
def test_closed_standard_output(shell, arguments):
    done = shell(f"RAMODO {arguments} >&-")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(("arguments", "code"), [("score MODEL DATA", 0), ("info nothing.svm", 3), ("detect", 2)])
def test_closed_standard_error(shell, arguments, code):
    done = shell(f"RAMODO {arguments} 2>&-")
    assert done.returncode == code
    assert done.stderr == ""
    assert bool(done.stdout) == (code == 0)


def test_a_file_does_not_get_the_place_of_a_closed_stream(shell, tmp_path):
    """The first file that is opened would: what is printed must not be written into it."""
    done = shell(f"RAMODO score MODEL DATA -o {tmp_path / 's.csv'} <&- >&- 2>&-")
    assert done.returncode == 0
    lines = (tmp_path / "s.csv").read_text().splitlines()
    assert lines[0] == "id,score,percentile,flag"
    assert len(lines) == 121


def test_closed_standard_input(shell):
    done = shell("RAMODO info - --format svmlight <&-")
    assert done.returncode == 3
    assert done.stderr.startswith("ramodo: ")
    assert "Traceback" not in done.stderr


def without_reader():
    """A pipe that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    return writing


@pytest.mark.parametrize(
    ("arguments", "code"), [(["score", "MODEL", "DATA", "-o"], 0), (["score", "no", "no", "-o"], 3)]
)
def test_nobody_reads_standard_error(start, files, tmp_path, arguments, code):
    names = {"MODEL": files.mail_model, "DATA": files.mail}
    pipe = without_reader()
    process = start(*[names.get(a, a) for a in arguments], tmp_path / "s.csv", stderr=pipe)
    os.close(pipe)
    process.communicate()
    assert process.returncode == code
    assert (tmp_path / "s.csv").exists() == (code == 0)
