"""Every target of the Makefile: its recipe can be read, what it calls is there, and it runs at a tiny size.

Benchmarks run in test_benchmarks.py, `make experiments` in paper/experiments/test_experiments_command.py.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ramodo import demo
from support import system_packages

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = [name for line in re.findall(r"^\.PHONY: (.*)$", MAKEFILE, flags=re.MULTILINE) for name in line.split()]

needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def recipe(*targets):
    """The commands that make would run, all that they rest on included."""
    done = subprocess.run(
        ["make", "--no-print-directory", "--always-make", "-n", *targets],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_targets_are_found():
    assert {"demo", "test", "test-oldest", "lint", "bench", "fuzz", "stubs", "experiments", "clean"} <= set(TARGETS)


@needs_make
@pytest.mark.parametrize("target", TARGETS)
def test_what_a_target_calls_is_there(target):
    commands = recipe(target)
    for module in re.findall(r"python -m ((?:ramodo|benchmarks)[\w.]*)", commands):
        assert importlib.util.find_spec(module) is not None, module
    for script in re.findall(r"python ((?:tests|docs|benchmarks)/\S+\.py)", commands):
        assert (ROOT / script).is_file(), script
    for source in re.findall(r"\b((?:tests|native)/\S+\.[ch]pp)", commands):
        assert (ROOT / source).is_file(), source


@needs_make
def test_what_lint_and_the_tests_need_compiles_the_module_once():
    commands = recipe("lint", "test")
    assert commands.count("--editable") == 1


@needs_make
@pytest.mark.parametrize("target", ["demo", "test", "test-spark", "sanitize", "test-portable"])
def test_an_install_finds_headers_where_the_last_one_did(target):
    """pip's isolated builds have them in a new temporary folder each time, and everything is compiled again."""
    installs = re.findall(r"pip install.*(?:--editable|--target).*", recipe(target))
    assert installs
    assert all("--no-build-isolation" in line for line in installs)


@needs_make
@pytest.mark.parametrize("target", ["test", "test-oldest", "test-spark", "fuzz"])
def test_system_packages_come_first(target):
    """Whoever runs the tests reads what is going to be installed before anything else is."""
    assert recipe(target).startswith("python3 tests/support/system_packages.py")


def test_missing_system_packages_are_named_with_the_way_to_install_them(tmp_path):
    """In a machine without any program, where nothing can be installed."""
    script = str(ROOT / "tests" / "support" / "system_packages.py")
    for setting, expected in (("no", "SYSTEM_PACKAGES=no"), ("", "sudo apt-get install default-jre-headless")):
        environment = {**os.environ, "PATH": str(tmp_path), "SYSTEM_PACKAGES": setting}
        done = subprocess.run([sys.executable, script, "java"], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert expected in done.stdout
        assert "default-jre-headless: the Spark example" in done.stdout


def test_root_reads_what_is_installed_and_how_to_prevent_it():
    needs = [system_packages.NEEDS["browser"], system_packages.NEEDS["postgres"]]
    text = system_packages.notice(needs, can_install=True, allowed=True)
    assert text.startswith("Installing system packages with apt-get, since you are root")
    assert "chromium chromium-driver: tests of pages in a browser" in text
    assert "postgresql: tests of labels" in text
    assert "SYSTEM_PACKAGES=no" in text


def test_each_target_that_people_call_is_described():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8") + (ROOT / "README.md").read_text(encoding="utf-8")
    silent = {"clean", "bench-all"}
    assert [name for name in TARGETS if name not in silent and f"make {name}" not in page] == []


def test_demo(capsys):
    demo.main(n_rows=300, n_features=5000)
    printed = capsys.readouterr().out
    assert "generated 300 rows x 5,000 features" in printed
    assert "the ten top rows" in printed


@pytest.mark.parametrize("script", sorted(path.name for path in (ROOT / "tests" / "fuzz").glob("fuzz_*.py")))
def test_fuzz(script, tmp_path):
    """Each for a second or so."""
    short = ["--count", "20"] if script == "fuzz_requests.py" else ["--seconds", "1"]
    line = [sys.executable, str(ROOT / "tests" / "fuzz" / script), *short]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_stubs(tmp_path):
    """A stub is written again; that it names what the module has is test_docs.py's to see."""
    pytest.importorskip("nanobind.stubgen", reason="nanobind comes with the Makefile's installs")
    line = [sys.executable, "-m", "nanobind.stubgen", "-m", "ramodo.kernels._native", "-o", str(tmp_path / "s.pyi")]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "def instructions" in (tmp_path / "s.pyi").read_text(encoding="utf-8")


def test_lint():
    """The settings are read, and one small file is clean; all files are `make lint`'s."""
    ruff = shutil.which("ruff", path=str(Path(sys.executable).parent))
    if ruff is None:
        pytest.skip("ruff comes with make lint")
    done = subprocess.run([ruff, "check", __file__], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
