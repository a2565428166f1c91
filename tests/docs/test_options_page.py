"""docs/options.md is what the tables say: an option, a flag or a format that it lacks fails here."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest

from ramodo.formats import FORMATS
from ramodo.options import OPTIONS, Flag

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def generator():
    spec = importlib.util.spec_from_file_location("make_options", DOCS / "make_options.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_tables_say(generator):
    found = (DOCS / "options.md").read_text(encoding="utf-8")
    assert found == generator.page(), "write it again: python docs/make_options.py"


def test_the_page_names_everything(generator):
    lines = generator.page().splitlines()
    for name in [*(option.name for option in OPTIONS), *FORMATS]:
        assert len([line for line in lines if line.startswith(f"| `{name}` |")]) == 1
    for option in OPTIONS:
        (line,) = [line for line in lines if line.startswith(f"| `{option.name}` |")]
        assert option.meaning in line
        assert option.in_words in line
        assert option.flag is None or f"| `{option.flag.name}`" in line


def test_a_change_of_the_table_changes_the_page(generator, monkeypatch):
    before = generator.page()
    monkeypatch.setattr(generator, "OPTIONS", (replace(OPTIONS[4], flag=Flag("--margin", "How far.", 5.0)),))
    changed = generator.page()
    assert changed != before
    assert "| `margin` | `--margin` (5.0) | `1000.0` |" in changed
    assert "`--margin`: How far. |" in changed
