"""`--method`: what each method finds, and what it refuses."""

import inspect
import json

import pytest

from ramodo import REPEN, Consensus, Sp, load
from ramodo.cli.methods import METHODS, OF_CUTOFF
from support.made_files import AS_REPEN

NO_MODEL = "the method sp only ranks rows and cannot write"

REFUSED = {
    "no method": (["--method", "lof"], "--method must be consensus, repen or sp, got 'lof'."),
    "epochs": (["--epochs", 30], "the method consensus has no option --epochs, got --epochs 30; its options are "),
    "models": (["--models", 1], "the method consensus has no option --models, got --models 1"),
    "share of sp": (
        ["--method", "sp", "--share", 0.1],
        "the method sp has no option --share, got --share 0.1; its options are --seed, --threads.",
    ),
    "a model of sp": (["--method", "sp", "-m", "{out}"], NO_MODEL),
    "a report of sp": (["--method", "sp", "--report", "{out}.html"], NO_MODEL),
}


@pytest.mark.parametrize(("arguments", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_a_method_does_not_have_is_refused_before_any_work(run, tmp_path, arguments, message):
    done = run("detect", tmp_path / "none.svm", *[str(a).format(out=tmp_path / "out") for a in arguments])
    assert done.code == 2
    assert done.out == ""
    assert message in done.err
    assert list(tmp_path.iterdir()) == []


def test_the_first_method_is_the_default(ok, files, tmp_path):
    for arguments in ([], ["--method", "consensus"]):
        ok("fit", files.mail, "-m", tmp_path / "model", "-q", *arguments)
        assert type(load(tmp_path / "model")) is Consensus
    assert next(iter(METHODS)) == "consensus"


def test_methods_have_the_options_of_their_estimators():
    for method, kind in (("consensus", Consensus), ("repen", REPEN)):
        assert METHODS[method] - OF_CUTOFF == set(inspect.signature(kind).parameters)


def test_sp_ranks_and_gives_reasons(ok, files, data, tmp_path):
    scores = Sp(random_state=0).fit(data[0]).outlier_scores_
    ok("detect", files.mail, "--method", "sp", "-o", tmp_path / "s.csv", "-q")
    lines = (tmp_path / "s.csv").read_text().splitlines()[1:]
    assert [float(line.split(",")[1]) for line in lines] == scores.tolist()
    facts = json.loads(ok("detect", files.mail, "--method", "sp", "--json", "--top", 2))
    assert facts["flagged"] == sum(line.endswith(",1") for line in lines)
    assert set(facts["seconds"]) == {"read", "ranking"}
    for row in facts["top"]:
        assert len(row["reasons"]) == 3
        assert row["score"] == scores[int(row["id"])]
    assert "at most 25 % of any scores" in ok("detect", files.mail, "--method", "sp")


def test_sp_takes_text_and_labels(ok, files, tmp_path):
    assert "DROP TABLE users" in ok("detect", files.log, "--method", "sp", "--top", 2)
    (tmp_path / "known.csv").write_text("id,label\n3,1\n")
    ok("detect", files.mail, "--method", "sp", "--labels", tmp_path / "known.csv", "-q", "-o", "-")


# ---- a model of several views ----------------------------------------------------------------------------------------


@pytest.fixture(params=["log", "visits"])
def model(request, ok, files, tmp_path):
    """A model of Consensus, and its data."""
    data = getattr(files, request.param)
    read = ["--id", "visit", "--label", "truth"] if request.param == "visits" else []
    ok("fit", data, "-m", tmp_path / "model", "-q", *read)
    return tmp_path / "model", data


def test_explain_names_the_views(ok, model):
    detector = load(model[0])
    for row in json.loads(ok("explain", *model, "--json")):
        views = row["views"]
        assert {seen["view"] for seen in views} == set(detector.model_.evidence.names)
        amounts = [seen["contribution"] for seen in views]
        assert amounts == sorted(amounts, reverse=True)
        assert sum(amounts) == pytest.approx(row["score"])
    shown = ok("explain", *model)
    assert shown.count("\n  by: far ") == 3
    assert f"  by: {views[0]['view']} {amounts[0]:.3g}, {views[1]['view']} " in shown


def test_explain_names_the_nearest_training_rows_by_id(ok, model):
    known = {line.split(",")[0] for line in ok("score", *model).splitlines()[1:]}
    assert {name for row in json.loads(ok("explain", *model, "--json")) for name in row["nearest"]} <= known


def test_info_names_the_views(ok, model):
    detector = load(model[0])
    facts = json.loads(ok("info", model[0], "--json"))
    assert facts["class"] == "Consensus"
    assert facts["views"] == dict(zip(detector.model_.evidence.names, detector.model_.evidence.agreement, strict=True))
    assert "far from most rows (" in ok("info", model[0])


def test_the_other_commands_take_it(ok, model, tmp_path):
    detector = load(model[0])
    scores = [float(line.split(",")[1]) for line in ok("score", *model).splitlines()[1:]]
    assert scores == detector.outlier_scores_.tolist()
    ok("transform", *model, "-o", tmp_path / "out.npy")
    ok("report", *model, "-o", tmp_path / "out.html")
    assert "far from the nearest rows" in (tmp_path / "out.html").read_text()


@pytest.mark.parametrize("command", ["score", "explain"])
def test_it_is_used_without_scikit_learn(python, model, command):
    """Which takes most of a second to import."""
    program = """
import sys
from ramodo.cli import main
try:
    main()
except SystemExit as end:
    print(end.code, "sklearn" in sys.modules)
"""
    assert python(program, command, *model).endswith("0 False\n")


def test_evaluate_takes_it(ok, files, tmp_path):
    ok("fit", files.mail, "-m", tmp_path / "model", "-q")
    assert json.loads(ok("evaluate", tmp_path / "model", files.mail, "--json"))["AUC-ROC"][0] > 0.9


def test_models_of_one_distance_name_no_views(ok, files):
    assert "  by: " not in ok("explain", files.mail_model, files.mail)
    assert json.loads(ok("info", files.mail_model, "--json"))["views"] == {}
    top = json.loads(ok("detect", files.mail, *AS_REPEN, "--json", "--top", 1))["top"]
    assert [len(row["views"]) for row in top] == [1]
