"""docs/guarantees.md says what a model file holds: each array and each fact of one is named there; and the licences."""

import json
import re
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from ramodo import RAMODO, REPEN, Consensus, Layers
from ramodo.cli.flags import Keeping
from ramodo.formats.frequencies import DocumentFrequencies
from ramodo.model.file import tensors as tensor_file
from ramodo.model.file.terms import KINDS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")

SAID = {
    "sample": "up to 1,000 rows in the representation",
    "outlier_scores_ initial_scores_ calibration_scores_ row_lengths_ row_norms_ candidate_outliers_": (
        "score, length and norm of every training row"
    ),
    "profile": "a profile of up to 4,096 training rows",
    "loss_curve_": "losses of each epoch",
    "feature_names_in_": "names of columns",
    "documents.columns documents.with_each": "columns of all tokens of the training documents",
}

OF_TERMS = {
    "learned distance": {
        "origin.indices origin.indptr origin.data origin.values": "training rows, unchanged: up to 400",
        "origin.numbers references": "their row numbers, and their places in the representation",
        "columns weights upper": "indices of the features that occurred in training, and their weights",
    },
    "original distance": {
        "origin.indices origin.indptr origin.data origin.values": "training rows, unchanged: up to 400",
        "origin.numbers": "their row numbers, and their places in the representation",
    },
    "label direction": {"columns weights": "what labelled outliers have in common"},
    "mean": {},
    "normalized": {},
    "sum": {},
    "by fold": {},
    "evidence": {"curve": "some of the scores of each view"},
    "rarity": {"columns counts": "in how many training rows each of these features occurs"},
}
"""Of each kind of term its arrays, and what the page says of them."""

SOURCE = {
    "reference_ids": "ids of those training rows",
    "tokens": "up to 5,000 tokens",
    "command": "the command line, with the paths",
    "fitted": "the time of the fit",
    "categories": "categories",
    "means": "means that replace missing values",
}


def _said(names):
    return {name: text for group, text in names.items() for name in group.split()}


def test_the_page_is_asked_of_every_kind_of_term():
    assert set(OF_TERMS) == set(KINDS)


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize(
    "detector",
    [RAMODO(representation=Layers((6, 5)), n_estimators=2, normalize="l2", n_epochs=1), Consensus()],
    ids=str,
)
def test_each_array_of_a_model_is_named_there(data, tmp_path, dense, detector):
    """An array that a later version adds must be described before it is written."""
    fitted = clone(detector).set_params(random_state=0)
    fitted.fit(data[0].toarray() if dense else data[0], labels=data[1])
    fitted.feature_names_in_ = np.array([f"c{i}" for i in range(fitted.n_features_in_)], dtype=object)
    fitted.document_frequencies_ = DocumentFrequencies.of(sp.csr_array(data[0]))
    header, tensors = tensor_file.read(fitted.save(tmp_path / "model"))
    own = {re.sub(r"^(sample|profile)\.\w+$", r"\1", name) for name in tensors if not name.startswith("term.")}
    assert own == set(_said(SAID))
    assert all(text in PAGE for text in SAID.values())
    seen = set()
    for place, kind in _places(json.loads(header["terms"])["terms"], "term."):
        for name in [name for name in tensors if re.match(rf"{place}[a-z]", name)]:
            plain = re.sub(r"^(upper|curve)\.\d+(\.\w+)?$", r"\1", name.removeprefix(place))
            assert _said(OF_TERMS[kind])[plain] in PAGE, name
            seen.add(name)
    assert seen == {name for name in tensors if name.startswith("term.")}


def _places(terms, prefix):
    """Where each term's arrays are, and its kind."""
    for i, term in enumerate(terms):
        yield f"{prefix}{i}.", term["kind"]
        yield from _places(term.get("terms", ()), f"{prefix}{i}.")


def test_rows_and_numbers_are_as_many_as_it_says(quick, data, tmp_path):
    X = sp.csr_array(sp.vstack([sp.csr_array(data[0])] * 10))
    header, tensors = tensor_file.read(quick(n_subsamples=50).fit(X).save(tmp_path / "model"))
    rows = tensors["term.0.origin.numbers"]
    assert len(rows) == 400
    parts = [tensors[f"term.0.origin.{name}"] for name in ("data", "indices", "indptr")]
    kept = sp.csr_array(tuple(parts), shape=(400, X.shape[1]))
    assert np.array_equal(kept.toarray(), X[rows].toarray())  # in plain form
    assert len(tensors["sample.0"]) == 1000
    assert "schema" not in header


def test_the_page_says_how_to_leave_things_out():
    for flag in Keeping.flags():
        ((told,),) = [flag.annotation.__metadata__]
        assert f"- `{told.default}`:" in PAGE
        assert f"unless with `{told.default}`" in PAGE


@pytest.mark.parametrize("fact", SOURCE)
def test_what_the_command_adds_is_named_there(fact):
    assert SOURCE[fact] in PAGE


def test_people_who_save_models_are_told():
    assert "(docs/guarantees.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "(guarantees.md#what-a-model-file-holds)" in (ROOT / "docs" / "writing.md").read_text(encoding="utf-8")
    assert "docs/guarantees.md" in REPEN.save.__doc__


@pytest.mark.parametrize(
    ("name", "holder"),
    [
        ("LICENSE", "the Ramodo developers"),
        ("licenses/nanobind.txt", "Wenzel Jakob"),
        ("licenses/robin-map.txt", "Thibaut Goetghebuer-Planchon"),
    ],
)
def test_the_licences_of_what_is_in_a_wheel_are_in_it(name, holder):
    """The native module has nanobind, and the hash map that it brings, in it."""
    assert name in (metadata.metadata("ramodo").get_all("License-File") or [])
    installed = [file for file in metadata.files("ramodo") or [] if str(file).endswith(f"licenses/{name}")]
    (file,) = installed
    assert holder in file.read_text()
    assert (ROOT / name).read_text(encoding="utf-8") == file.read_text()
