"""The package's face: its names, and that importing it is cheap."""

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import ramodo

pytestmark = pytest.mark.slow


def test_public_names():
    detectors = {"Consensus", "RAMODO", "REPEN", "KthNeighborREPEN", "AverageNeighborREPEN"}
    scorers = {"Sp", "KthNN", "AverageNN", "Ensemble"}
    cutoffs = {"Cantelli", "TopFraction", "TopK", "GivenSet", "Candidates", "Cutoff", "Conformal", "AboveChance"}
    stages = {"TripletSampler", "Layers", "RankingHinge"}
    classes = detectors | scorers | cutoffs | stages | {"TableReader"}
    assert set(ramodo.__all__) == classes | {"load", "open_dataset", "__version__"}
    assert set(ramodo.__all__) <= set(dir(ramodo))
    for name in classes:
        assert getattr(ramodo, name).__name__ == name
    assert callable(ramodo.load)
    assert callable(ramodo.open_dataset)
    with pytest.raises(AttributeError, match="module 'ramodo' has no attribute 'DevNet'"):
        _ = ramodo.DevNet


def test_importing_leaves_heavy_libraries_alone(python):
    """scikit-learn and scipy take most of a second; they come with the first use of a detector."""
    loaded = "sorted({'sklearn', 'scipy', 'numpy'} & set(sys.modules))"
    assert python(f"import sys, ramodo; print({loaded})").strip() == "[]"
    assert python(f"import sys, ramodo; ramodo.REPEN; print({loaded})").strip() == "['numpy', 'scipy', 'sklearn']"


ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_version_has_one_source():
    assert "version" in PROJECT["project"]["dynamic"]
    assert metadata.version("ramodo") == ramodo.__version__
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", cited, flags=re.MULTILINE) == [ramodo.__version__]


def test_the_module_is_the_command(python):
    program = "import runpy, sys; sys.argv = ['x', *sys.argv[1:]]; runpy.run_module('ramodo', run_name='__main__')"
    assert python(program, "--version").strip() == ramodo.__version__


def test_each_supported_python_is_named_and_has_a_wheel():
    classified = [c for c in PROJECT["project"]["classifiers"] if c.startswith("Programming Language :: Python :: 3.")]
    versions = [c.rpartition(" ")[2] for c in classified]
    assert versions == ["3.11", "3.12", "3.13", "3.14"]
    assert PROJECT["project"]["requires-python"] == f">={versions[0]}"
    built = PROJECT["tool"]["cibuildwheel"]["build"]
    assert built == [f"cp{version.replace('.', '')}-*" for version in versions]


def test_the_smoke_test_of_wheels_runs_here(python):
    """`make wheels` and the release run it in clean environments."""
    smoke = (ROOT / "tests" / "wheels" / "smoke.py").read_text(encoding="utf-8")
    assert re.search(r"^Python 3\.\d+\.\d+, numpy .*: _native\..*, [0-9a-f]{16}$", python(smoke))
    assert "tests/wheels/smoke.py" in PROJECT["tool"]["cibuildwheel"]["test-command"]


def test_the_release_builds_for_all_systems():
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    runners = re.findall(r"^ +- (\S+) +# (.*)$", workflow, flags=re.MULTILINE)
    assert [system for _, system in runners] == [
        "Linux, x86-64",
        "Linux, aarch64",
        "macOS, x86-64",
        "macOS, arm64",
        "Windows, x86-64",
    ]
