"""Files to work on, and two ways to run the command: in this process for speed, in its own for signals and streams."""

import io
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from ramodo.cli import main
from support.examples import with_outliers
from support.made_files import AS_REPEN, write_log, write_svmlight, write_visits

PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # tests in the background are started with Ctrl-C ignored
from ramodo.cli import main
main()
"""


@pytest.fixture
def run(capsys, monkeypatch):
    """Runs the command in this process: its exit code, and what it wrote to each stream."""

    def command(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "argv", ["ramodo", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(stdin), isatty=lambda: False))
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        out, err = capsys.readouterr()
        return SimpleNamespace(code=end.value.code or 0, out=out, err=err)

    return command


@pytest.fixture
def ok(run):
    """The same where nothing is to go wrong; gives back standard output."""

    def command(*arguments, **options):
        done = run(*arguments, **options)
        assert done.code == 0, done.err
        return done.out

    return command


@pytest.fixture
def start():
    """Starts the command in a process of its own; those still running at the end of the test are ended."""
    started = []

    def command(*arguments, before="", **options):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        environment.pop("PYTHONUNBUFFERED", None)  # which would flush in the command's place
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        line = [sys.executable, "-c", before + PROGRAM, *map(str, arguments)]
        started.append(subprocess.Popen(line, env=environment, **{**pipes, **options}))
        return started[-1]

    yield command
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """mail.svm, visits.csv and access.txt, and a model of each, two of them of REPEN; tests do not change them."""
    folder = tmp_path_factory.mktemp("files")
    write_svmlight(folder / "mail.svm", *with_outliers())
    write_visits(folder / "visits.csv")
    write_log(folder / "access.txt")
    for name, more in (
        ("mail.svm", AS_REPEN),
        ("visits.csv", [*AS_REPEN, "--id", "visit", "--label", "truth", "--normalize", "max"]),
        ("access.txt", []),
    ):
        arguments = ["fit", str(folder / name), "-m", str(folder / name) + ".ramodo", "-q", *more]
        before = sys.argv
        try:
            sys.argv = ["ramodo", *arguments]
            main()
        except SystemExit as end:
            assert not end.code  # noqa: PT017
        finally:
            sys.argv = before
    return SimpleNamespace(
        folder=folder,
        mail=folder / "mail.svm",
        visits=folder / "visits.csv",
        log=folder / "access.txt",
        mail_model=folder / "mail.svm.ramodo",
        visits_model=folder / "visits.csv.ramodo",
        log_model=folder / "access.txt.ramodo",
    )
