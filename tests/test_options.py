"""The table of options: the detector's signature, its documentation and its refusals all follow it."""

import inspect
import math
import re

import numpy as np
import pytest

from ramodo import REPEN
from ramodo.options import OPTIONS, OptionError, check

TABLE = {option.name: option for option in OPTIONS}

ALLOWED = {
    "n_components": [1, 20, 4096, np.int64(5)],
    "n_epochs": [1, 1000, np.uint8(3)],
    "samples_per_epoch": ["auto", 1, 10**6],
    "batch_size": [1, 10**6],
    "margin": [1e-9, 1, 1000.0, np.float32(5)],
    "n_queries": [1, 3],
    "n_subsamples": [1, 50],
    "subsample_size": [1, 8],
    "alpha": [0, 0.5, math.sqrt(3)],
    "threshold": ["cantelli", 1e-6, 0.1, 0.5],
    "labeled_fraction": [0, 0.0, 0.5, 1, 1.0],
    "random_state": [None, 0, 2**64 - 1, np.random.RandomState(0), np.random.default_rng(0)],
    "n_jobs": [None, -1, 1, 8],
    "verbose": [0, 1, True, False],
}
REFUSED = {
    "n_components": [0, -1, 4097, 2.0, "20", None, True],
    "n_epochs": [0, -1, 1.5, None, False],
    "samples_per_epoch": [0, -5, "all", None, 10.0],
    "batch_size": [0, None, 2.5],
    "margin": [0, 0.0, -1, math.nan, math.inf, "1000", None, True, 10**400, 1j],
    "n_queries": [0, 1.0, None],
    "n_subsamples": [0, -1, None],
    "subsample_size": [0, 2.5, None],
    "alpha": [-0.1, math.nan, math.inf, "sqrt3", None],
    "threshold": [0, 0.0, -0.1, 0.6, 1, math.nan, "auto", "Cantelli", None, True],
    "labeled_fraction": [-0.1, 1.1, math.nan, None, "half"],
    "random_state": [-1, 0.5, "0", 2**64, [1, 2]],
    "n_jobs": [0, -2, 1.0, "all"],
    "verbose": [-1, None, 0.5],
}


def _cases(table):
    return [pytest.param(name, value, id=f"{name}={value!r:.30}") for name, values in table.items() for value in values]


def test_every_option_has_cases_here():
    assert set(ALLOWED) == set(REFUSED) == set(TABLE)


def test_the_signature_is_the_table():
    parameters = inspect.signature(REPEN.__init__).parameters
    defaults = {name: parameter.default for name, parameter in parameters.items() if name != "self"}
    assert list(defaults.items()) == [(option.name, option.default) for option in OPTIONS]
    assert REPEN().get_params() == defaults


def test_the_defaults_are_the_paper_s():
    expected = {
        "n_components": 20,
        "n_epochs": 30,
        "samples_per_epoch": "auto",
        "batch_size": 256,
        "margin": 1000.0,
        "n_queries": 1,
        "n_subsamples": 50,
        "subsample_size": 8,
        "alpha": math.sqrt(3),
        "threshold": "cantelli",
        "labeled_fraction": 0.5,
        "random_state": None,
        "n_jobs": None,
        "verbose": 0,
    }
    assert REPEN().get_params() == expected


def test_every_option_is_documented():
    for option in OPTIONS:
        assert re.search(
            rf"^ +{option.name} : .*default {re.escape(repr(option.default))}$", REPEN.__doc__, re.MULTILINE
        )
        assert option.meaning in REPEN.__doc__


@pytest.mark.parametrize(("name", "value"), _cases(ALLOWED))
def test_allowed_values_pass(name, value):
    check({name: value})


@pytest.mark.parametrize(("name", "value"), _cases(REFUSED))
def test_other_values_are_refused_by_name(name, value):
    allowed = " or ".join(map(str, TABLE[name].allowed))
    with pytest.raises(OptionError, match=re.escape(f"was given; allowed: {allowed}.")) as caught:
        check({name: value})
    assert str(caught.value).startswith(f"{name}=")


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_fit_refuses_before_it_works(name, data):
    detector = REPEN(**{name: REFUSED[name][0]})
    with pytest.raises(OptionError, match=rf"{name}=.* was given; allowed: "):
        detector.fit(data[0])
    assert not [key for key in vars(detector) if key.endswith("_")]


def test_the_message_says_what_was_given_and_what_is_allowed():
    message = "n_components=0 was given; allowed: an integer from 1 to 4,096."
    with pytest.raises(OptionError, match=re.escape(message)):
        check({"n_components": 0})
