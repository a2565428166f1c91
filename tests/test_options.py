"""The table of options: the detector's signature, its documentation and its refusals all follow it."""

import ast
import inspect
import math
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ramodo import (
    RAMODO,
    REPEN,
    AboveChance,
    AverageNeighborREPEN,
    AverageNN,
    Cantelli,
    Conformal,
    KthNeighborREPEN,
    KthNN,
    RankingHinge,
    Sp,
    TopFraction,
    TopK,
    TripletSampler,
)
from ramodo.constraints import HasMethod, Integer, Literal, RandomSource, Real
from ramodo.options import OPTIONS, OptionError, check

MESSAGES = Path(__file__).with_name("messages_of_options.txt")

TABLE = {option.name: option for option in OPTIONS}

DETECTORS = [REPEN, RAMODO, KthNeighborREPEN, AverageNeighborREPEN]
STAGES = [Sp, KthNN, AverageNN, AboveChance, Cantelli, TopFraction, TopK, Conformal, TripletSampler, RankingHinge]
STAGE_OPTIONS = {
    "false_positives": lambda value: Cantelli(false_positives=value),
    "fraction": TopFraction,
    "count": TopK,
    "fdr": lambda value: Conformal(fdr=value),
    "held_out": lambda value: Conformal(held_out=value),
    "copies_once": lambda value: AboveChance(copies_once=value),
}
"""Options of a cut-off alone, and what makes one with such an option."""

RAMODO_STAGES = ["scorer", "ranker", "thresholder", "sampler", "representation", "loss"]
COMMON = [
    "n_epochs",
    "samples_per_epoch",
    "batch_size",
    "normalize",
    "n_estimators",
    "warm_start",
    "random_state",
    "n_jobs",
    "verbose",
]
"""Options that every detector has."""

ALLOWED = {
    "n_components": [1, 20, 4096, np.int64(5)],
    "n_epochs": [1, 1000, np.uint8(3), 100_000],
    "samples_per_epoch": ["auto", 1, 10**8],
    "batch_size": [1, 10**8],
    "margin": ["auto", 1e-9, 1, 1000.0, np.float32(5), 1e63],
    "n_queries": [1, 3],
    "n_subsamples": [1, 50],
    "subsample_size": [1, 8],
    "alpha": [0, 0.5, math.sqrt(3), 1e6],
    "cutoff": ["auto", "chance", "cantelli", 1e-6, 0.1, 0.5, TopK(5), Conformal()],
    "labeled_fraction": ["auto", 0, 0.0, 0.5, 1, 1.0],
    "labels_in_score": [True, False],
    "normalize": [None, "l2", "max"],
    "copies": ["all", "root"],
    "copies_once": [True, False],
    "n_estimators": [1, 3, 1000, np.int32(2)],
    "warm_start": [False, True],
    "random_state": [None, 0, 2**64 - 1, np.random.RandomState(0), np.random.default_rng(0)],
    "n_jobs": [None, -1, -2, 1, 8],
    "verbose": [0, 1, True, False],
    "k": [1, 3, 100_000, np.int64(2)],
    "false_positives": [None, 1e-12, 0.25, 1],
    "fraction": [1e-9, 0.05, 1, np.float32(0.5)],
    "count": [1, 10**6],
    "fdr": [1e-9, 0.1, 1],
    "held_out": [None, 1e-9, 0.2, 0.5],
}
REFUSED = {
    "n_components": [0, -1, 4097, 2.0, "20", None, True, np.True_],
    "n_epochs": [0, -1, 1.5, None, False, 10**6],
    "samples_per_epoch": [0, -5, "all", None, 10.0, 10**9],
    "batch_size": [0, None, 2.5, 10**9],
    "margin": [0, 0.0, -1, math.nan, math.inf, "1000", None, True, 10**400, 1j, 1e64, 1e300],
    "n_queries": [0, 1.0, None],
    "n_subsamples": [0, -1, None],
    "subsample_size": [0, 2.5, None],
    "alpha": [np.True_, -0.1, math.nan, math.inf, "sqrt3", None, 1e7, 1e300],
    "cutoff": [0, 0.0, -0.1, 0.6, 1, math.nan, "Auto", "Cantelli", None, True, TopK, Sp()],
    "labeled_fraction": [-0.1, 1.1, math.nan, None, "half", True],
    "labels_in_score": [None, 0, 1, "auto"],
    "copies": ["", "none", None, 1, True],
    "copies_once": [None, "", "yes", 2, 0.5],
    "normalize": ["l1", "L2", "", 0, 2, True, ["l2"]],
    "n_estimators": [0, -1, 1001, 2.0, None, True],
    "warm_start": [0, 1, None, "yes"],
    "random_state": [-1, 0.5, "0", 2**64, [1, 2]],
    "n_jobs": [0, 1.0, "all", 5000, -5000],
    "verbose": [-1, None, 0.5],
    "k": [0, -1, 100_001, 1.5, None, True, "3"],
    "false_positives": [0, 0.0, -0.1, 1.1, math.nan, True, "0.25", 1e-13, 1e-300],
    "fraction": [0, 0.0, -0.1, 1.1, math.nan, None, True],
    "count": [0, -1, 2.0, None, True],
    "fdr": [0, 0.0, 1.1, math.nan, None, True],
    "held_out": [0, 0.0, 0.6, math.nan, "0.2", True],
}


def test_every_option_has_cases_here():
    assert set(ALLOWED) == set(REFUSED) == set(TABLE)


def _defaults(kind):
    return {name: parameter.default for name, parameter in inspect.signature(kind).parameters.items()}


def test_the_signature_is_the_table():
    """Row by row; what follows in the table are options of siblings and of single stages."""
    defaults = _defaults(REPEN)
    rows, others = OPTIONS[: len(defaults)], OPTIONS[len(defaults) :]
    assert list(defaults.items()) == [(option.name, option.default) for option in rows]
    assert REPEN().get_params() == defaults
    assert {option.name for option in others} == {"copies", "k", *STAGE_OPTIONS}


@pytest.mark.parametrize("kind", [KthNeighborREPEN, AverageNeighborREPEN])
def test_the_siblings_of_repen_have_its_options_and_k(kind):
    """As many queries as a subsample has references, so that there is a k-th nearest one."""
    expected = {"k": TABLE["k"].default, **_defaults(REPEN), "n_queries": TABLE["subsample_size"].default}
    assert list(_defaults(kind).items()) == list(expected.items())
    assert kind().get_params() == expected


def test_ramodo_has_its_stages_and_the_options_that_are_of_none():
    """Labels enter the score after all stages: no stage could have that option."""
    own = ["cutoff", "labels_in_score", *COMMON]
    expected = [(name, None) for name in RAMODO_STAGES] + [(name, TABLE[name].default) for name in own]
    assert list(_defaults(RAMODO).items()) == expected
    assert RAMODO().get_params() == dict(expected)


@pytest.mark.parametrize("kind", STAGES)
def test_the_defaults_of_stages_are_the_table_s(kind):
    assert {name: TABLE[name].default for name in _defaults(kind)} == _defaults(kind)


def test_every_option_of_a_stage_has_a_stage():
    assert {"k", *STAGE_OPTIONS} <= {name for kind in STAGES for name in _defaults(kind)}


def test_the_defaults_are_the_paper_s():
    """But for the use of labels, where the paper's is 0.5, and what the paper does not have, which is off."""
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
        "cutoff": "auto",
        "labeled_fraction": "auto",
        "labels_in_score": True,
        "normalize": None,
        "n_estimators": 1,
        "warm_start": False,
        "random_state": None,
        "n_jobs": None,
        "verbose": 0,
    }
    assert REPEN().get_params() == expected


def _type_of(kind):
    if isinstance(kind, Literal):
        return "bool" if isinstance(kind.value, bool) else repr(kind.value)
    return {Integer: "int", Real: "float", RandomSource: "RandomState or Generator", HasMethod: "object"}[type(kind)]


def _as_documented(option, default):
    """Type and default on the line of the name, then what it means, what is allowed, and where the paper has it."""
    types = " or ".join(dict.fromkeys(map(_type_of, option.allowed)))
    paper = "" if option.paper == "-" else f" In the paper: {option.paper}."
    return f"{types}, default {default!r}", f"{option.meaning} Must be {option.in_words}.{paper}"


def _section(kind, title):
    """Names in a section of a numpydoc docstring, with the rest of their lines and their paragraphs in one line."""
    text = inspect.cleandoc(kind.__doc__)
    body = re.search(rf"^{title}\n-+\n(.*?)(?=\n\n|\Z)", text, re.MULTILINE | re.DOTALL)[1]
    entries = re.findall(r"^(\w.*?) : (.*)\n((?:    .*(?:\n|\Z))+)", body, re.MULTILINE)
    assert sum(1 + paragraph.strip().count("\n") + 1 for _, _, paragraph in entries) == body.count("\n") + 1
    return {name: (line, " ".join(paragraph.split())) for name, line, paragraph in entries}


@pytest.mark.parametrize("kind", DETECTORS)
def test_the_docstring_is_the_table(kind):
    """Row by row, with the defaults of this class; the text itself is static, for tools that do not run it."""
    found = _section(kind, "Parameters")
    assert list(found) == list(_defaults(kind))
    options = {name: default for name, default in _defaults(kind).items() if name not in RAMODO_STAGES}
    assert {name: found[name] for name in options} == {
        name: _as_documented(TABLE[name], default) for name, default in options.items()
    }


@pytest.mark.parametrize("kind", DETECTORS)
def test_the_docstring_is_a_constant(kind):
    tree = ast.parse(inspect.getsource(kind))
    assert ast.get_docstring(tree.body[0]) == inspect.cleandoc(kind.__doc__)


@pytest.mark.parametrize("kind", [REPEN, KthNeighborREPEN])
def test_a_fitted_detector_has_the_attributes_that_are_documented(kind, data):
    """Those of others are said to be the same."""
    table = pd.DataFrame(data[0].toarray()[:, :5], columns=list("abcde"))
    fitted = kind(n_epochs=1, random_state=0).fit(table)
    names = [name for entry in _section(REPEN, "Attributes") for name in entry.split(", ")]
    assert len(names) > 10
    for name in names:
        assert getattr(fitted, name) is not None


@pytest.mark.parametrize("name", ALLOWED)
def test_allowed_values_pass(name):
    for value in ALLOWED[name]:
        check({name: value})


@pytest.mark.parametrize("name", REFUSED)
def test_other_values_are_refused_by_name(name):
    for value in REFUSED[name]:
        with pytest.raises(OptionError, match=rf"^{name} must be .*, got {re.escape(repr(value))}\.$"):
            check({name: value})


def _with_refused():
    """Detectors with an option that is not allowed: of their own, or of a stage."""
    for name in _defaults(REPEN):
        yield pytest.param(name, REPEN(**{name: REFUSED[name][0]}), id=name)
    yield pytest.param("k", KthNeighborREPEN(REFUSED["k"][0]), id="k")
    for name in COMMON:
        yield pytest.param(name, RAMODO(**{name: REFUSED[name][0]}), id=f"RAMODO-{name}")
    for name, stage in STAGE_OPTIONS.items():
        yield pytest.param(name, REPEN(cutoff=stage(REFUSED[name][0])), id=f"cutoff-{name}")
        yield pytest.param(name, RAMODO(cutoff=stage(REFUSED[name][0])), id=f"cutoff-{name}")
        yield pytest.param(name, RAMODO(thresholder=stage(REFUSED[name][0])), id=f"thresholder-{name}")
    yield pytest.param("alpha", RAMODO(cutoff=Cantelli(-1)), id="cutoff-alpha")
    yield pytest.param("k", RAMODO(KthNN(0)), id="scorer-k")
    yield pytest.param("n_subsamples", RAMODO(ranker=Sp(0)), id="ranker-n_subsamples")
    yield pytest.param("n_queries", RAMODO(sampler=TripletSampler(0)), id="sampler-n_queries")
    yield pytest.param("labeled_fraction", RAMODO(sampler=TripletSampler(1, 2.0)), id="sampler-labeled_fraction")
    yield pytest.param("margin", RAMODO(loss=RankingHinge(0)), id="loss-margin")


@pytest.mark.parametrize(("name", "detector"), list(_with_refused()))
def test_fit_refuses_before_it_works(name, detector, data, monkeypatch):
    """Not even the data is looked at."""

    def work(*_given, **_options):
        raise AssertionError("it began to work")

    monkeypatch.setattr("ramodo.fitting.training_data.open_with_facts", work)
    with pytest.raises(OptionError, match=rf"{name} must be .*, got "):
        detector.fit(data[0])
    assert vars(detector).keys() == detector.get_params(deep=False).keys()


def _messages():
    """The message of each option of the table, in Python and, where it has a flag, of the command."""
    for name, option in TABLE.items():
        refusals = [lambda option=option, name=name: option.refuse_unless_allowed(REFUSED[name][0])]
        if option.flag is not None:
            refusals.append(lambda option=option: option.of_flag("x" if option.flag_type is str else -(10**9)))
        for refuse in refusals:
            with pytest.raises(OptionError) as caught:
                refuse()
            yield str(caught.value)


def test_messages_are_those_that_were_recorded():
    """To record them anew: RAMODO_RECORD=1 pytest tests/test_options.py, then read the difference."""
    found = "".join(f"{message}\n" for message in _messages())
    if os.environ.get("RAMODO_RECORD"):
        MESSAGES.write_text(found, encoding="utf-8")
    assert found == MESSAGES.read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "value"), [("alpha", 1e6), ("margin", 1e63), ("false_positives", 1e-12)])
def test_what_is_just_allowed_can_be_fitted(name, value, data, quick):
    """The margin in the unit of rows as large as rows may be."""
    options = {"cutoff": Cantelli(false_positives=value)} if name == "false_positives" else {name: value}
    X = data[0] * (1e30 / abs(data[0]).max()) if name == "margin" else data[0]
    detector = quick(**options).fit(X)
    assert np.isfinite(detector.outlier_scores_).all()
    assert np.isfinite([detector.threshold_, detector.false_positive_bound_]).all()
    assert 0 < detector.false_positive_bound_ <= 1
    assert np.isfinite(detector.loss_curve_).all()
