"""`ramodo info`: what is in a model, and in data."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from safetensors.numpy import save_file

from ramodo import REPEN, load
from ramodo.stages.conformal import Conformal


def test_a_model(run, files):
    detector = load(files.mail_model)
    done = run("info", files.mail_model, "--json")
    facts = json.loads(done.out, parse_constant=pytest.fail)
    assert done.err == ""
    assert facts["class"] == "REPEN"
    assert facts["features"] == 40
    assert facts["features with weights"] == len(detector.feature_indices_)
    assert facts["training rows"] == 120
    assert facts["models"] == 1
    assert facts["labels in the score"] is False
    assert facts["terms of the score"] == ["learned distance"]
    assert facts["cut-off"] == detector.threshold_
    assert facts["data fingerprint"] == detector.fingerprint_
    assert facts["data read as"]["format"] == "svmlight"
    assert facts["options"]["n_epochs"] == 2
    shown = run("info", files.mail_model).out
    assert "n_epochs=2" in shown
    assert "batch_size" not in shown  # as by default
    assert detector.fingerprint_ in shown


def test_a_model_with_labels_a_cut_off_and_several_members(ok, data, tmp_path):
    options = {
        "threshold": Conformal(0.2, held_out=0.2),
        "n_estimators": 3,
        "normalize": "l2",
        "n_epochs": 2,
        "random_state": 0,
    }
    REPEN(**options).fit(data[0], labels=data[1]).save(tmp_path / "model")
    facts = json.loads(ok("info", tmp_path / "model", "--json"), parse_constant=pytest.fail)
    assert facts["models"] == 3
    assert facts["normalize"] == "l2"
    assert facts["labels in the score"] is True
    terms = ["mean of 3 learned distances, of rows whose length is 1", "label direction"]
    assert facts["terms of the score"] == terms
    assert "; ".join(terms) in ok("info", tmp_path / "model").replace("\n", " ")
    assert "Conformal" in facts["options"]["threshold"]
    assert facts["data read as"] is None
    assert "Conformal" in ok("info", tmp_path / "model")


def test_a_model_is_known_whatever_its_name(ok, files, tmp_path):
    for name in ("model.svm", "model", "model.csv"):
        (tmp_path / name).write_bytes(files.mail_model.read_bytes())
        assert json.loads(ok("info", tmp_path / name, "--json"))["class"] == "REPEN"


def test_data(run, files, data):
    done = run("info", files.mail, "--json")
    assert done.err == ""
    facts = json.loads(done.out)
    assert facts == {"rows": 120, "features": 40, "non-zeros": data[0].nnz, "labels": {"0": 114, "1": 6}}
    shown = run("info", files.mail).out
    assert "0: 114, 1: 6" in shown
    assert f"{data[0].nnz:,}, {data[0].nnz / 120:.1f} a row" in shown


def test_a_table_and_text(ok, files):
    facts = json.loads(ok("info", files.visits, "--json"))
    assert facts["rows"] == 90
    assert facts["columns"][90:] == []
    assert "columns" in ok("info", files.visits)
    facts = json.loads(ok("info", files.log, "--json"))
    assert (facts["rows"], facts["features"]) == (90, 2**22)


def test_a_table_with_missing_values(ok, tmp_path):
    """There is nothing to decide: nothing is fitted."""
    (tmp_path / "data.csv").write_text("a,b\n1,\n2,3\n")
    assert json.loads(ok("info", tmp_path / "data.csv", "--json")) == {
        "rows": 2,
        "features": 2,
        "non-zeros": 3,
        "columns": ["a", "b"],
    }


def test_a_folder_and_standard_input(ok, files, tmp_path):
    ok("convert", files.mail, tmp_path / "mail.rows")
    assert ok("info", tmp_path / "mail.rows") == ok("info", files.mail)
    assert ok("info", "-", "--format", "svmlight", stdin=files.mail.read_bytes()) == ok("info", files.mail)


def test_a_format_that_is_asked_for(ok, files, tmp_path):
    (tmp_path / "data").write_bytes(files.mail.read_bytes())
    assert ok("info", tmp_path / "data", "--format", "svmlight") == ok("info", files.mail)


def test_what_is_neither(run, tmp_path):
    save_file({"a": np.ones(2)}, tmp_path / "foreign")
    (tmp_path / "text").write_text("hello")
    for name in ("foreign", "text", "none"):
        done = run("info", tmp_path / name)
        assert done.code == 3
        assert f"{name}: the suffix (none) says nothing of its format" in done.err
        assert done.out == ""


def test_a_damaged_model(run, files, tmp_path):
    content = files.mail_model.read_bytes()
    (tmp_path / "model").write_bytes(content[: len(content) // 2])
    done = run("info", tmp_path / "model")
    assert done.code == 3
    assert "model is not a ramodo model" in done.err


def test_damaged_arrays_are_refused_not_counted(run, tmp_path):
    X = sp.csr_array(np.eye(3))
    arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr[:0], "shape": X.shape}
    np.savez(tmp_path / "data.npz", **arrays)
    done = run("info", tmp_path / "data.npz")
    assert done.code == 3
    assert "data.npz is not a matrix" in done.err
