"""`make test-oldest` installs the lowest versions that pyproject.toml states, and no list of its own."""

import tomllib
from pathlib import Path

import pytest

from support.oldest_versions import LEFT_OUT, PROJECT, constraints

MAKEFILE = (Path(__file__).parents[2] / "Makefile").read_text(encoding="utf-8")


def test_each_package_that_the_tests_install_is_pinned_to_its_bound():
    text = PROJECT.read_text(encoding="utf-8")
    content = tomllib.loads(text)
    project, listings = content["project"], content["project"]["optional-dependencies"] | content["dependency-groups"]
    pinned = dict(line.split("==") for line in constraints(text))
    extras = [p for name, listed in listings.items() if name not in LEFT_OUT for p in listed]
    for package in (*project["dependencies"], *extras):
        name, _, lowest = package.partition(">=")
        assert name.startswith("ramodo[") or pinned[name.partition("[")[0]] == lowest
    assert {"numpy", "typer", "anndata", "pytest", "nanobind"} <= set(pinned)


def test_another_bound_is_another_constraint():
    text = PROJECT.read_text(encoding="utf-8").replace('"scipy>=', '"scipy>=9.')
    assert any(line.startswith("scipy==9.") for line in constraints(text))


def test_a_package_without_a_bound_is_refused():
    text = PROJECT.read_text(encoding="utf-8").replace('"rich>=13', '"rich')
    with pytest.raises(ValueError, match=r"must have a name and a lowest version, .*, got 'rich'"):
        constraints(text)


def test_the_environment_is_made_from_them():
    recipe = MAKEFILE.split("$(OLDEST)/installed:", 1)[1].split("\n\n", 1)[0]
    assert "tests/support/oldest_versions.py > $(OLDEST)/constraints.txt" in recipe
    assert "--constraint $(OLDEST)/constraints.txt --build-constraint $(OLDEST)/constraints.txt" in recipe
    assert "'.[$(EXTRAS)]' --group test" in recipe
