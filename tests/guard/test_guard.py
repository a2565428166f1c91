"""Results stay the same bits through changes of the code that are not meant to change them."""

import json

import pytest
from fits import FITS
from record import RECORDED, checksums, environment

MADE = json.loads(RECORDED.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", FITS)
def test_same_bits_as_recorded(name):
    if environment() != MADE["environment"]:
        pytest.skip(f"recorded with {MADE['environment']}, and this is {environment()}")
    assert checksums(name) == MADE["fits"][name]


def test_every_fit_is_recorded():
    assert set(MADE["fits"]) == set(FITS)
