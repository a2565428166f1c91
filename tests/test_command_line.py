"""The commands, as a shell sees them: streams, exit codes, files."""

import json
import os
import subprocess
import sys

import numpy as np
import pyarrow.parquet
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file
from sklearn.metrics import roc_auc_score

from examples import with_outliers
from ramodo import REPEN, load

COMMAND = [sys.executable, "-c", "from ramodo.cli import main; main()"]
QUICK = ["--epochs", "2", "--seed", "3"]


@pytest.fixture
def run(tmp_path):
    """Runs a command in a folder of its own."""

    def call(*arguments, stdin=None, code=0):
        done = subprocess.run(
            [*COMMAND, *map(str, arguments)], cwd=tmp_path, input=stdin, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stderr
        return done

    return call


@pytest.fixture
def mail(tmp_path):
    """An svmlight file with labels, and what is in it."""
    X, y = with_outliers()
    dump_svmlight_file(sp.csr_matrix(X), y, str(tmp_path / "mail.svm"), zero_based=False)
    return X, y


def scores_in(path):
    lines = path.read_text().splitlines()
    assert lines[0] == "id,score,percentile,flag"
    return np.array([[float(cell) for cell in line.split(",")] for line in lines[1:]])


def test_detect_writes_the_scores_of_repen(run, mail, tmp_path):
    done = run("detect", "mail.svm", "-o", "s.csv", "-m", "m.ramodo", *QUICK)
    table = scores_in(tmp_path / "s.csv")
    X = sp.csr_array(mail[0])
    expected = REPEN(n_epochs=2, random_state=3).fit(X)
    np.testing.assert_allclose(table[:, 1], expected.outlier_scores_, rtol=1e-6)
    assert table[:, 3].sum() == (expected.outlier_scores_ >= expected.threshold_).sum()
    assert "flagged" in done.stdout
    assert "rows" in done.stdout
    assert load(tmp_path / "m.ramodo").threshold_ == pytest.approx(expected.threshold_, rel=1e-6)


def test_every_kind_of_output_holds_the_same(run, mail, tmp_path):
    run("detect", "mail.svm", "-m", "m.ramodo", "-q", *QUICK)
    for name in ("s.csv", "s.jsonl", "s.parquet", "s.npz"):
        run("score", "m.ramodo", "mail.svm", "-o", name, "-q")
    expected = scores_in(tmp_path / "s.csv")
    lines = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
    assert [line["score"] for line in lines] == expected[:, 1].tolist()
    assert pyarrow.parquet.read_table(tmp_path / "s.parquet").column("flag").to_pylist() == expected[:, 3].tolist()
    with np.load(tmp_path / "s.npz") as arrays:
        assert np.array_equal(arrays["percentile"], expected[:, 2])
        assert arrays["id"].tolist() == [str(i) for i in range(len(expected))]


def test_a_stream_scores_as_the_file_does(run, mail, tmp_path):
    run("detect", "mail.svm", "-o", "s.csv", "-m", "m.ramodo", "-q", *QUICK)
    done = run("score", "m.ramodo", "-", stdin=(tmp_path / "mail.svm").read_text())
    assert done.stdout == (tmp_path / "s.csv").read_text()


def test_a_line_gets_its_score_before_the_stream_ends(run, mail, tmp_path):
    run("fit", "mail.svm", "-m", "m.ramodo", "-q", *QUICK)
    process = subprocess.Popen(
        [*COMMAND, "score", "m.ramodo", "-"], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    process.stdin.write((tmp_path / "mail.svm").read_text().splitlines()[0] + "\n")
    process.stdin.flush()
    assert process.stdout.readline().startswith("id,")
    assert process.stdout.readline().startswith("0,")
    process.stdin.close()
    assert process.wait(timeout=60) == 0
    process.stdout.close()


def test_quiet_says_nothing_and_json_is_json(run, mail):
    done = run("detect", "mail.svm", "-q", *QUICK)
    assert done.stdout == done.stderr == ""
    facts = json.loads(run("detect", "mail.svm", "--json", *QUICK).stdout)
    assert facts["rows"] == 120
    assert len(facts["top"]) == 10


def test_scores_on_standard_output_stand_alone(run, mail):
    done = run("detect", "mail.svm", "-o", "-", *QUICK)
    assert done.stdout.startswith("id,score")
    assert len(done.stdout.splitlines()) == 121
    assert "flagged" in done.stderr


def test_known_labels_change_the_ranking_as_they_do_in_python(run, mail, tmp_path):
    (tmp_path / "known.csv").write_text("id,label\n119,1\n0,-1\n")
    run("detect", "mail.svm", "--labels", "known.csv", "-o", "s.csv", "-q", *QUICK)
    y = np.zeros(120)
    y[[119, 0]] = 1, -1
    expected = REPEN(n_epochs=2, random_state=3).fit(sp.csr_array(mail[0]), labels=y).outlier_scores_
    np.testing.assert_allclose(scores_in(tmp_path / "s.csv")[:, 1], expected, rtol=1e-5)
    (tmp_path / "wrong.csv").write_text("id,label\n500,1\n")
    assert "'500' is not in the data" in run("detect", "mail.svm", "--labels", "wrong.csv", code=3).stderr


def test_evaluate_agrees_with_scikit_learn(run, mail, tmp_path):
    run("detect", "mail.svm", "-o", "s.csv", "-m", "m.ramodo", "-q", *QUICK)
    facts = json.loads(run("evaluate", "m.ramodo", "mail.svm", "--json").stdout)
    value, low, high = facts["AUC-ROC"]
    assert value == pytest.approx(roc_auc_score(mail[1], scores_in(tmp_path / "s.csv")[:, 1]))
    assert low <= value <= high
    assert "--outlier" in run("evaluate", "m.ramodo", "mail.svm", "--outlier", "7", code=3).stderr


def test_text_and_tables_are_read_the_same_way_again(run, tmp_path):
    (tmp_path / "a.log").write_text("".join(f"GET /page/{i % 9} 200\n" for i in range(80)) + "POST /etc/passwd 500\n")
    facts = json.loads(run("detect", "a.log", "-m", "a.ramodo", "--json", *QUICK).stdout)
    assert facts["top"][0]["id"] == "80"
    done = run("score", "a.ramodo", "-", stdin="POST /etc/passwd 500\n")
    assert float(done.stdout.splitlines()[1].split(",")[1]) == pytest.approx(facts["top"][0]["score"])

    rows = [f"v{i},{'NZ' if i % 3 else 'FR'},{i % 7}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["visit,country,seconds", *rows]) + "\n")
    (tmp_path / "new.csv").write_text("seconds,visit,country\n3,a,FR\n3,b,XX\n")
    run("fit", "t.csv", "--id", "visit", "-m", "t.ramodo", "-q", *QUICK)
    done = run("score", "t.ramodo", "new.csv")
    assert [line.split(",")[0] for line in done.stdout.splitlines()[1:]] == ["a", "b"]
    (tmp_path / "less.csv").write_text("visit,country\na,FR\n")
    assert "lacks the column 'seconds'" in run("score", "t.ramodo", "less.csv", code=3).stderr


def test_explain_names_the_reasons(run, mail, tmp_path):
    run("fit", "mail.svm", "-m", "m.ramodo", "-q", *QUICK)
    found = json.loads(run("explain", "m.ramodo", "mail.svm", "--row", "119", "--top", "5", "--json").stdout)
    expected = load(tmp_path / "m.ramodo").explain(sp.csr_array(mail[0])[[119]], top=5)[0]
    assert [r["column"] for r in found[0]["reasons"]] == [r.column for r in expected.reasons]
    assert found[0]["id"] == "119"
    assert {r["column"] for r in found[0]["reasons"]} & set(range(35, 40))  # the features that outliers alone have
    (tmp_path / "a.log").write_text("".join(f"GET /page/{i % 9} 200\n" for i in range(80)) + "POST /etc/passwd 500\n")
    run("fit", "a.log", "-m", "a.ramodo", "-q", *QUICK)
    printed = run("explain", "a.ramodo", "a.log").stdout
    assert printed.startswith("80: score")
    assert printed.splitlines()[1] == "  POST /etc/passwd 500"
    assert "etc" in printed.split("all other")[0].split("\n", 2)[2]
    assert "no row '500'" in run("explain", "m.ramodo", "mail.svm", "--row", "500", code=3).stderr


def test_convert_transform_info_and_help(run, mail, tmp_path):
    run("detect", "mail.svm", "-o", "s.csv", "-m", "m.ramodo", "-q", *QUICK)
    for target in ("mail.rows", "mail.npz", "mail.mtx", "again.svm"):
        run("convert", "mail.svm", target, "-q")
        run("score", "m.ramodo", target, "-o", "t.csv", "-q")
        np.testing.assert_allclose(scores_in(tmp_path / "t.csv")[:, 1], scores_in(tmp_path / "s.csv")[:, 1], rtol=1e-6)
    run("transform", "m.ramodo", "mail.svm", "-o", "z.npy", "-q")
    assert np.load(tmp_path / "z.npy").shape == (120, 20)
    assert "REPEN" in run("info", "m.ramodo").stdout
    assert json.loads(run("info", "mail.svm", "--json").stdout)["rows"] == 120
    for command in ("detect", "fit", "score", "transform", "explain", "evaluate", "convert", "info", "demo"):
        assert f"ramodo {command}" in " ".join(run(command, "--help").stdout.split())


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["detect"], 2, "Missing argument"),
        (["detect", "mail.svm", "--top", "many"], 2, "--top"),
        (["detect", "missing.svm"], 3, "missing.svm"),
        (["detect", "mail.unknown"], 3, "says nothing of its format"),
        (["detect", "mail.svm", "-o", "s.xlsx"], 2, "cannot write .xlsx"),
        (["detect", "mail.svm", "-o", "nowhere/s.csv"], 2, "nowhere"),
        (["detect", "mail.svm", "--normalize", "l3"], 2, "allowed: none, l2 or max"),
        (["detect", "mail.svm", "--share", "2"], 2, "--share 2.0 was given; allowed: a number above 0 and at most 0.5"),
        (["detect", "bad.svm"], 3, "bad.svm, line 2, column 3"),
        (["score", "mail.svm", "mail.svm"], 3, "is not a ramodo model"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_is_wrong_is_said_and_nothing_is_left_behind(run, mail, tmp_path, arguments, code, message):
    (tmp_path / "bad.svm").write_text("1 1:2\n1 x:3\n")
    (tmp_path / "mail.unknown").write_text("1 1:2\n")
    before = sorted(os.listdir(tmp_path))
    done = run(*arguments, code=code)
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert sorted(os.listdir(tmp_path)) == before
