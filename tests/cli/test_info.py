"""`ramodo info`: what is in a model, and in data."""

import json
import re

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


def test_a_model_with_labels_a_cut_off_and_several_models(ok, data, tmp_path):
    options = {
        "cutoff": Conformal(0.2, held_out=0.2),
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
    assert "Conformal" in facts["options"]["cutoff"]
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


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (5, 0)])
def test_a_matrix_without_values(run, tmp_path, shape):
    np.save(tmp_path / "data.npy", np.empty(shape))
    done = run("info", tmp_path / "data.npy")
    assert done.code == 3
    assert re.fullmatch(r"ramodo: \S*data.npy has no (rows|columns)\.\n", done.err)


def test_a_format_that_is_asked_for(ok, files, tmp_path):
    (tmp_path / "data").write_bytes(files.mail.read_bytes())
    assert ok("info", tmp_path / "data", "--format", "svmlight") == ok("info", files.mail)


def test_what_is_neither(run, tmp_path):
    save_file({"a": np.ones(2)}, tmp_path / "foreign")
    (tmp_path / "text").write_text("hello")
    for name in ("foreign", "text", "none"):
        done = run("info", tmp_path / name)
        assert done.code == 3
        assert f"{name}: the suffix (none) says nothing about its format" in done.err
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


# ---- a page for people, and what is private --------------------------------------------------------------------------


def test_a_person_gets_a_page_and_a_program_all(ok, files):
    shown = ok("info", files.log_model)
    assert len(shown) < 2500
    assert "etc" not in shown.replace("etc.", "")  # no token of the text
    facts = json.loads(ok("info", files.log_model, "--json"))
    assert facts["bytes"] == files.log_model.stat().st_size == sum(facts["tables"].values())
    assert f"{facts['training rows']:,}, {facts['flagged training rows']:,} of them flagged" in shown
    assert facts["private"]["tokens of text"] > 100
    assert f"{facts['private']['tokens of text']:,} tokens of text" in shown
    assert "; no ids of rows, names of columns" in shown
    assert facts["fitted"].endswith("UTC")
    assert facts["fitted"] in shown
    largest = next(iter(facts["tables"]))
    assert f"MB: {largest} " in shown or f"kB: {largest} " in shown
    assert "words=(1, 1)" in shown


def test_the_tables_of_every_model_have_names(ok, files, data, tmp_path):
    """What each array is said to be is what docs/guarantees.md says; sizes add up."""
    for path in (files.mail_model, files.visits_model, files.log_model):
        tables = json.loads(ok("info", path, "--json"))["tables"]
        assert list(tables.values()) == sorted(tables.values(), reverse=True)
        assert {"training rows, unchanged", "weights of features"} <= set(tables)


PRIVATE = ("passwd", "index", "SELECT")


def test_a_model_without_tokens(ok, files, tmp_path):
    """No fragment of the text is in the file; what a row has is named by the row."""
    ok("fit", files.log, "-m", tmp_path / "model", "--no-tokens", "-q")
    content = (tmp_path / "model").read_bytes()
    kept = files.log_model.read_bytes()
    assert all(word.lower().encode() in kept for word in PRIVATE)
    header = content[: int.from_bytes(content[:8], "little") + 8]
    assert not any(word.lower().encode() in header for word in PRIVATE)
    facts = json.loads(ok("info", tmp_path / "model", "--json"))
    assert facts["private"]["tokens of text"] == 0
    assert facts["private"]["command line"] == 1
    assert ok("score", tmp_path / "model", files.log) == ok("score", files.log_model, files.log)
    (tmp_path / "new.log").write_text("POST /admin/../../etc/passwd 500\n")
    (row,) = json.loads(ok("explain", tmp_path / "model", tmp_path / "new.log", "--top", 12, "--json"))
    names = [reason["feature"] for reason in row["reasons"]]
    assert names == ["'POST /admin/../../etc/passwd 500'"]  # all of it is odd: one fact, however many are asked for
    assert all(name.strip("'") in (tmp_path / "new.log").read_text() for name in names)
    total = sum(r["contribution"] for r in row["reasons"]) + row["lacks"]["contribution"] + row["rest"]
    assert total == pytest.approx(row["score"])
    assert "feature " not in ok("explain", tmp_path / "model", tmp_path / "new.log").replace("other features", "")


def test_a_model_without_provenance(ok, files, tmp_path):
    ok("fit", files.visits, "--id", "visit", "-m", tmp_path / "model", "--no-provenance", "-q")
    content = (tmp_path / "model").read_bytes()
    assert b"v000" not in content
    assert b"visits.csv" not in content
    assert str(tmp_path).encode() not in content
    facts = json.loads(ok("info", tmp_path / "model", "--json"))
    assert facts["fitted"] is None
    assert facts["private"]["ids of rows"] == facts["private"]["command line"] == 0
    assert "fitted" in ok("info", tmp_path / "model")
    ok("explain", tmp_path / "model", files.visits)
    ok("report", tmp_path / "model", files.visits, "-o", tmp_path / "r.html")


def test_what_is_left_out_needs_a_file(run, files, tmp_path):
    for flag in ("--no-tokens", "--no-provenance"):
        done = run("detect", files.log, flag)
        assert done.code == 2
        assert f"{flag} needs --model FILE" in done.err
    done = run("fit", files.log, "-m", tmp_path / "m", "--no-tokens", "--vocabulary")
    assert done.code == 2
    assert "a vocabulary consists of tokens of the training text" in done.err
