"""docs/guarantees.md names tests: each of them is there."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)))


def test_each_section_names_tests_and_its_limits():
    _, *sections = PAGE.partition("\n## What a model file holds")[0].split("\n## ")
    assert len(sections) == 5
    for section in sections:
        assert "`tests/" in section
        assert "Where it ends:" in section


def test_what_it_names_is_there():
    assert [(path, test) for path, test in NAMED if not _is_there(path, test)] == []


def _is_there(path, test):
    if not (ROOT / path).is_file():
        return False
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    names = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return test in names if test else any(name.startswith("test_") for name in names)
