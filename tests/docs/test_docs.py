"""What the documents show runs; what describes the code agrees with it."""

import re
from pathlib import Path

from ramodo.kernels import _native

ROOT = Path(__file__).parents[2]


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
    assert names["Z"].shape == (10_000, 40)


def test_the_readme_shows_what_the_command_prints(monkeypatch):
    """A log with attacks, found; `python docs/make_readme.py` writes it again."""
    monkeypatch.syspath_prepend(ROOT / "docs")
    import make_readme

    text = make_readme.PAGE.read_text(encoding="utf-8")
    made = make_readme.block()
    assert made in text, "write it again: python docs/make_readme.py"
    assert make_readme.attacks(made) == [True] * 7  # the rows that are shown
    assert len(text.splitlines()) < 120  # what is longer is a page of docs/


def test_the_type_stub_names_what_the_native_module_has():
    stub = (ROOT / "src/ramodo/kernels/_native.pyi").read_text(encoding="utf-8")
    for name in (name for name in dir(_native) if not name.startswith("_")):
        assert re.search(rf"^(class|def) {name}\b", stub, flags=re.MULTILINE), name
        for member in (m for m in dir(getattr(_native, name)) if not m.startswith("_")):
            if isinstance(getattr(_native, name), type):
                assert re.search(rf"^    def {member}\b", stub, flags=re.MULTILINE), f"{name}.{member}"
    for name in re.findall(r"^(?:class|def) (\w+)", stub, flags=re.MULTILINE):
        assert hasattr(_native, name), name
