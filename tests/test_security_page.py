"""docs/security.md says what a model file holds: each array and each fact of one is named there; and the licences."""

import json
import re
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from ramodo import REPEN
from ramodo.model.file import tensors as tensor_file

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")

SAID = {
    "origin.indices origin.indptr origin.data origin.values": "training rows, as they were given: up to 400",
    "origin.numbers references": "their row numbers, and their places in the representation",
    "sample": "up to 1,000 rows in the representation",
    "outlier_scores_ initial_scores_ calibration_scores_ row_lengths_ row_norms_ candidate_outliers_": (
        "score, length and norm of every training row"
    ),
    "columns weights upper loss_curve_": "indices of the features that occurred in training, and their weights",
    "direction.columns direction.weights": "what labelled outliers have in common",
    "feature_names_in_": "names of columns",
}

SOURCE = {
    "reference_ids": "ids of those training rows",
    "tokens": "up to 5,000 tokens",
    "command": "the command line, with the paths",
    "categories": "categories",
    "means": "means that stand in for missing values",
}


def test_each_array_of_a_model_is_named_there(fitted, tmp_path):
    """An array that a later version adds must be described before it is written."""
    fitted.feature_names_in_ = np.array([f"c{i}" for i in range(fitted.n_features_in_)], dtype=object)
    _, tensors = tensor_file.read(fitted.save(tmp_path / "model"))
    known = {name: text for names, text in SAID.items() for name in names.split()}
    for name in tensors:
        plain = re.sub(r"^model\.\d+\.", "", name)
        assert known[re.sub(r"^(upper)\.\d+$", r"\1", plain)] in PAGE, name


def test_rows_and_numbers_are_as_many_as_it_says(quick, data, tmp_path):
    X = sp.csr_array(sp.vstack([sp.csr_array(data[0])] * 10))
    header, tensors = tensor_file.read(quick(n_subsamples=50).fit(X).save(tmp_path / "model"))
    rows = tensors["model.0.origin.numbers"]
    assert len(rows) == 400
    parts = [tensors[f"model.0.origin.{name}"] for name in ("data", "indices", "indptr")]
    kept = sp.csr_array(tuple(parts), shape=(400, X.shape[1]))
    assert np.array_equal(kept.toarray(), X[rows].toarray())  # in plain form
    assert len(tensors["model.0.sample"]) == 1000
    assert json.loads(header["source"]) is None


@pytest.mark.parametrize("fact", SOURCE)
def test_what_the_command_adds_is_named_there(fact):
    assert SOURCE[fact] in PAGE


def test_people_who_save_models_are_told():
    assert "(docs/security.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "(security.md)" in (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert "docs/security.md" in REPEN.save.__doc__


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
