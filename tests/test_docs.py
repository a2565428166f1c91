"""What the documents show runs; what describes the code agrees with it."""

import inspect
import re
from pathlib import Path

import pytest

import ramodo
from ramodo.framework import RandomDistanceDetector
from ramodo.kernels import _native
from ramodo.options import OPTIONS

ROOT = Path(__file__).parent.parent


def python_blocks(document):
    return re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(encoding="utf-8"), flags=re.DOTALL)


def test_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    blocks = python_blocks("README.md")
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert len(blocks) >= 2
    assert (names["scores"] == names["same"]).all()
    assert names["Z"].shape == (10_000, 20)


def _with_option(name):
    """Public classes that have this option."""
    public = [getattr(ramodo, name) for name in ramodo.__all__]
    return [kind for kind in public if inspect.isclass(kind) and name in inspect.signature(kind).parameters]


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_every_option_is_described(option):
    """By each detector that has it; an option of a single stage is named in that stage's signature."""
    owners = _with_option(option.name)
    assert owners
    for kind in owners:
        if issubclass(kind, RandomDistanceDetector):
            assert f"{option.name} : " in kind.__doc__
            assert option.meaning in kind.__doc__


def test_most_options_are_those_of_a_detector():
    """Otherwise the test above would look at signatures alone."""
    of_detectors = {o.name for o in OPTIONS if any(issubclass(k, RandomDistanceDetector) for k in _with_option(o.name))}
    assert {o.name for o in OPTIONS} - of_detectors == {"false_positives", "fraction", "count", "fdr", "held_out"}


def test_the_type_stub_names_what_the_native_module_has():
    stub = (ROOT / "src/ramodo/kernels/_native.pyi").read_text(encoding="utf-8")
    for name in (name for name in dir(_native) if not name.startswith("_")):
        assert re.search(rf"^(class|def) {name}\b", stub, flags=re.MULTILINE), name
        for member in (m for m in dir(getattr(_native, name)) if not m.startswith("_")):
            if isinstance(getattr(_native, name), type):
                assert re.search(rf"^    def {member}\b", stub, flags=re.MULTILINE), f"{name}.{member}"
    for name in re.findall(r"^(?:class|def) (\w+)", stub, flags=re.MULTILINE):
        assert hasattr(_native, name), name
