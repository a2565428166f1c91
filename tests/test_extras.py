"""What messages advise to install is what pyproject.toml says."""

import tomllib
from pathlib import Path

import pytest

from ramodo.extras import pip_install

ROOT = Path(__file__).parents[1]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


@pytest.mark.parametrize(
    ("extra", "packages"),
    [
        ("report", "plotly"),
        ("serve", "typer rich pyarrow zstandard starlette uvicorn prometheus-client"),
        ("team", "typer rich plotly starlette uvicorn jinja2 sqlalchemy 'psycopg[binary]'"),
    ],
)
def test_packages_are_named_themselves(extra, packages):
    assert pip_install(extra) == f"pip install {packages}"


@pytest.mark.parametrize("extra", EXTRAS)
def test_every_extra_has_packages(extra):
    assert pip_install(extra).count(" ") > 1


def test_no_message_names_an_index_that_does_not_have_us():
    named = [path for path in (ROOT / "src").rglob("*.py") if "pip install 'ramodo" in path.read_text(encoding="utf-8")]
    assert not named
