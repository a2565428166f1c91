"""Results stay the same bits through changes of the code that are not meant to change them."""

import json

import pytest
from fits import FITS
from record import RECORDED, made

KNOWN = json.loads(RECORDED.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def found():
    """All fits, in a process of their own; skips where they were recorded with other instructions or packages."""
    result = made()
    if result["environment"] != KNOWN["environment"]:
        pytest.skip(f"recorded with {KNOWN['environment']}, and this is {result['environment']}")
    return result["fits"]


@pytest.mark.parametrize("name", FITS)
def test_same_bits_as_recorded(found, name):
    assert found[name] == KNOWN["fits"][name]


def test_every_fit_is_recorded():
    assert set(KNOWN["fits"]) == set(FITS)
