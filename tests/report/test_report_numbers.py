"""What stands in a report is what the detector says."""

import json
import re
import sys
from types import SimpleNamespace

import numpy as np
import pandas
import polars
import pytest
import sklearn
from sklearn.ensemble import IsolationForest
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

import ramodo
from ramodo import RAMODO, REPEN, Conformal, Consensus, TopK, load
from ramodo.explain.naming import explained
from ramodo.explain.reasons import Lacks, Reason, RowExplanation, Span
from ramodo.formats import How, Schema
from ramodo.formats.text import as_table
from ramodo.insight.cutoffs import flags_of_noise, guarantee_of
from ramodo.model.provenance import Provenance
from ramodo.options import OptionError
from ramodo.report.page import as_json
from ramodo.report.words import of_kind, percent
from support.report_pages import payload_of, report_of_lacks


@pytest.fixture
def report(tmp_path):
    """Writes a report and gives back its data."""

    def write(detector, X, **options):
        assert detector.report(X, tmp_path / "report.html", **options) == tmp_path / "report.html"
        return payload_of(tmp_path / "report.html")

    return write


def test_bars_table_and_map_agree_with_the_scores(report, fitted, data):
    found = report(fitted, data[0])
    scores, flagged = fitted.outlier_scores_, int((fitted.outlier_scores_ >= fitted.threshold_).sum())
    counts = found["histogram"]["counts"]
    assert sum(counts) == 120
    assert sum(counts[found["histogram"]["first_flagged"] :]) == flagged
    order = np.argsort(-scores, kind="stable")
    rows = found["table"]["rows"]
    assert len(rows) == 20
    assert [row["id"] for row in rows] == [str(i) for i in order[:20]]
    assert [row["score"] for row in rows] == pytest.approx(scores[order[:20]], rel=1e-5)
    assert [row["flagged"] for row in rows] == [i < flagged for i in range(20)]
    lower = [100 * np.mean(scores < scores[i]) for i in order[:20]]
    assert [row["percentile"] for row in rows] == pytest.approx(lower, abs=1e-3)
    assert len(found["map"]["x"]) == len(found["map"]["y"]) == 120
    assert sum(found["map"]["flagged"]) == flagged
    for i, place in enumerate(found["map"]["places"]):
        if place >= 0:
            assert found["map"]["ids"][i] == rows[place]["id"]
    assert f"Of 120 rows, {flagged} " in found["summary"][0]
    assert found["training"]["loss"] == pytest.approx(fitted.loss_curve_, rel=1e-4)


def test_the_terms_of_a_score_are_named(report, quick, data):
    found = report(quick(n_estimators=2).fit(data[0], labels=data[1]), data[0])
    assert found["training"]["caption"].endswith("A score is the sum of: mean of 2 learned distances; label direction.")


def test_reasons_are_those_of_explain(report, fitted, data):
    names = [f"word {j}" for j in range(40)]
    found = report(fitted, data[0], names=names)
    highest = np.argsort(-fitted.outlier_scores_, kind="stable")[:20]
    for number, row, expected in zip(
        highest, found["table"]["rows"], fitted.explain(data[0][highest], names=names), strict=True
    ):
        assert [found["names"][reason[0]] for reason in row["reasons"]] == [r.feature for r in expected.reasons]
        for place, field in enumerate(("value", "contribution", "share", "mean"), start=1):
            values = [getattr(r, field) for r in expected.reasons]
            assert [reason[place] for reason in row["reasons"]] == pytest.approx(values, rel=1e-3)
        assert row["rest"] == pytest.approx(expected.rest, rel=1e-3)
        assert row["nearest"] == [str(near) for near in expected.nearest if near != number]
    for group in found["groups"]:
        assert len(group["rows"]) >= 2
        assert max(group["rows"]) < 20


def test_views_are_those_of_explain_and_evidence_is_explained(report, data):
    detector = Consensus(random_state=0).fit(data[0])
    found = report(detector, data[0])
    order = np.argsort(-detector.outlier_scores_, kind="stable")[:20]
    assert sorted(found["views"]) == sorted(detector.model_.evidence.names)
    for shown, row in zip(found["table"]["rows"], detector.explain(data[0][order]), strict=True):
        assert [found["views"][view] for view, _ in shown["views"]] == [seen.view for seen in row.views]
        assert [v for _, v in shown["views"]] == pytest.approx([seen.contribution for seen in row.views], rel=1e-2)
    said = [text for text in found["summary"] if text.startswith("A score is evidence, added up over ")]
    assert f" over {len(found['views'])} views of a row" in said[0]


def test_one_distance_is_not_called_evidence(report, fitted, data):
    assert not [text for text in report(fitted, data[0])["summary"] if "evidence" in text]


def test_what_rows_lack_is_told_from_what_they_have(fitted, data, tmp_path):
    found = payload_of(report_of_lacks(fitted, data[0], tmp_path / "report.html"))
    assert [driver[3] for driver in found["drivers"]] == [True, False, True]
    assert [driver[3] for driver in found["groups"][0]["drivers"]] == [True, False, True]
    said = " ".join(found["summary"])
    assert "most of all by “zq”, and it lacks 'the'." in said
    assert "Reasons in single quotes are runs of characters" in found["notation"]


def test_where_features_are_no_tokens_there_is_no_word_of_their_notation(report, fitted, data):
    assert report(fitted, data[0], texts=["zq"] * 120)["notation"] == ""
    assert report(fitted, data[0], names=[f"'{j}'" for j in range(40)])["notation"] == ""
    assert report(fitted, data[0], names=[f"'{j}'" for j in range(40)], texts=["zq"] * 120)["notation"] != ""


def test_labels_give_curves(report, fitted, data):
    X, y = data
    found = report(fitted, X, y=np.where(y == 1, 1, -1))["curves"]
    x, _, _ = roc_curve(y, fitted.outlier_scores_)
    assert found["false_positives"] == pytest.approx(x, rel=1e-3)
    assert found["auc"] == pytest.approx(roc_auc_score(y, fitted.outlier_scores_), rel=1e-3)
    assert found["average_precision"] == pytest.approx(average_precision_score(y, fitted.outlier_scores_), rel=1e-3)
    assert "AUC-ROC" in found["caption"]
    assert "flattering" not in found["caption"]
    assert report(fitted, X)["curves"] is None


def test_curves_on_labels_that_training_saw_are_called_flattering(report, quick, data):
    X, y = data
    known = np.where(np.arange(120) >= 117, 1, 0)
    assert "flattering" in report(quick().fit(X, labels=known), X, y=y)["curves"]["caption"]


CUT_OFFS = {
    "cantelli": ({}, "at most 25 % of any scores"),
    "alpha": ({"alpha": 2.0}, "mean + 2 deviations; at most 20 %"),
    "share": ({"cutoff": 0.05}, "the requested share, 0.05"),
    "number": ({"cutoff": TopK(7)}, "the requested number, 7 "),
    "conformal": (
        {"cutoff": Conformal(0.2, held_out=0.4)},
        "Benjamini and Hochberg's rule at 0.2 on the training rows",
    ),
}


@pytest.mark.parametrize(("options", "words"), CUT_OFFS.values(), ids=CUT_OFFS.keys())
def test_the_summary_says_what_the_cut_off_guarantees(report, quick, data, options, words):
    assert words in " ".join(report(quick(**options).fit(data[0]), data[0])["summary"])


@pytest.mark.parametrize("name", CUT_OFFS)
def test_to_other_rows_a_cut_off_guarantees_less(report, quick, data, name):
    detector = quick(**CUT_OFFS[name][0]).fit(data[0])
    assert "any share can be flagged" not in " ".join(report(detector, data[0])["summary"])
    said = " ".join(report(detector, data[0][110:])["summary"])
    if name == "conformal":
        assert "It can flag any share of rows outside the training data, such as these" in said
    else:
        assert "This holds for the training rows only. Any share of other rows, such as these, can be flagged" in said
    assert not re.search("of any scores|bounds how many|says how many|is expected to be flagged falsely", said)
    assert ("scores; at most" in said) == (name in ("cantelli", "alpha"))


def test_a_rate_at_which_nothing_is_found(report, quick, data):
    detector = quick(cutoff=Conformal(0.001)).fit(data[0])
    assert not (detector.predict(data[0]) == -1).any()
    found = report(detector, data[0])
    assert "no row is a discovery at this rate" in guarantee_of(detector).text
    assert "no row is a discovery at this rate" in " ".join(found["summary"])
    cards = dict(found["cards"])
    assert cards["Cut-off"] == f"just above {cards['Highest score']}"
    assert "no training row is a discovery" in " ".join(report(detector, data[0][110:])["summary"])
    finding = quick(cutoff=Conformal(0.99, held_out=0.4)).fit(data[0])
    assert (finding.predict(data[0]) == -1).any()
    assert "discovery at this rate" not in guarantee_of(finding).text


def test_warnings_are_those_of_diagnose(report, quick, data):
    lengths = data[0].copy()
    lengths.data[:] = 1
    detector = quick().fit(lengths)
    assert detector.diagnose().warnings
    found = report(detector, lengths)
    assert found["warnings"] == list(detector.diagnose().warnings)
    assert [f[0].replace(" ", "_") for f in found["findings"]] == [f.name for f in detector.diagnose().findings]


def test_what_it_takes_to_get_the_same_again(report, fitted, data):
    found = report(fitted, data[0])["reproduction"]
    again = eval(found["call"].replace("X", "data[0]"), {"REPEN": REPEN, "data": data})
    assert (again.outlier_scores_ == fitted.outlier_scores_).all()
    assert dict(found["options"])["n_epochs"] == "3"
    assert set(found["changed"]) == {"n_components", "n_epochs", "n_subsamples", "random_state"}
    versions = dict(found["versions"])
    assert (versions["ramodo"], versions["scikit-learn"]) == (ramodo.__version__, sklearn.__version__)
    assert dict(found["data"])["fingerprint of the training data"] == fitted.fingerprint_
    assert found["seed"].startswith("0;")


def test_no_share_becomes_all_of_it_by_rounding(report, quick):
    for share in (0.995, 0.9996, 0.99994, 0.99996, 0.9999999):
        assert "100" not in percent(share)
    assert percent(1.0) == "100 %"
    assert percent(0.5) == "50 %"
    rng = np.random.default_rng(0)
    X = rng.random((300_000, 2))
    detector = quick(n_epochs=1).fit(X)
    rows = report(detector, X)["table"]["rows"]
    assert rows[0]["percentile"] == pytest.approx(100 * (1 - 1 / 300_000), abs=1e-4)
    assert max(row["percentile"] for row in rows) < 100
    assert report(detector, 100 + X[:3])["table"]["rows"][0]["percentile"] == 100


def test_a_model_from_a_file_writes_the_same_report(report, fitted, data, tmp_path):
    fitted.save(tmp_path / "model")
    first, again = report(fitted, data[0]), report(load(tmp_path / "model"), data[0])
    for part in ("summary", "histogram", "map", "table", "groups", "training", "warnings"):
        assert first[part] == again[part]


def test_new_rows_are_told_from_training_rows(report, fitted, data):
    found = report(fitted, data[0][100:])
    assert any("not the rows that the model was fitted to" in sentence for sentence in found["summary"])
    assert all(name.startswith("training row ") for name in found["table"]["rows"][0]["nearest"])
    assert "fingerprint of these data" in dict(found["reproduction"]["data"])
    assert sum(found["histogram"]["counts"]) == 20


def test_models_that_cannot_be_explained_have_a_report_that_says_so(report, data):
    detector = RAMODO(IsolationForest(random_state=0), random_state=0, n_epochs=2).fit(data[0])
    found = report(detector, data[0])
    assert "cannot be explained" in found["table"]["caption"]
    assert found["groups"] == found["drivers"] == []
    assert "reasons" not in found["table"]["rows"][0]


@pytest.mark.parametrize("normalize", ["l2", "max"])
def test_dense_and_normalised_rows_and_several_models(report, quick, data, normalize):
    found = report(quick(normalize=normalize, n_estimators=2).fit(data[0].toarray()), data[0].toarray())
    assert not any("not the rows that the model" in sentence for sentence in found["summary"])
    assert len(found["map"]["x"]) == 120


def test_a_page_stays_below_6_mb_whatever_the_texts_are(report, quick, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.random((6000, 300))
    long = ["<\u2028&" * 2000 + str(i) for i in range(300)]
    texts = [long[i % 300] for i in range(6000)]
    report(quick(cutoff=0.5).fit(X), X, ids=texts, texts=texts, names=long)
    assert (tmp_path / "report.html").stat().st_size < 6_000_000


def test_no_character_of_data_ends_the_block_it_stands_in():
    text = "</script><!--&\u2028\u2029 \ud800 é"
    made = as_json({"a": text})
    assert not re.search("[<>&\u2028\u2029]", made)
    assert json.loads(made) == {"a": text}


def test_half_a_character_is_no_obstacle(report, fitted, data):
    found = report(fitted, data[0], ids=[f"\ud83d{i}" for i in range(120)])
    assert re.fullmatch(r"\\ud83d\d+", found["table"]["rows"][0]["id"])


def test_texts_cannot_turn_themselves_around(report, fitted, data, tmp_path):
    turned = "invoice \u202egnp.exe \x1b[31m\u2066"
    given = {"ids": [turned] * 120, "texts": [turned] * 120, "names": [turned] * 40, "title": turned}
    fitted.provenance_, fitted.schema_ = Provenance(command=turned), Schema(id=turned)
    found = report(fitted, data[0], **given)
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x1b]", (tmp_path / "report.html").read_text(encoding="utf-8"))
    row, shown = found["table"]["rows"][0], r"invoice \u202egnp.exe \x1b[31m\u2066"
    assert row["id"] == row["text"] == found["title"] == found["names"][0] == found["map"]["ids"][0] == shown
    assert found["reproduction"]["command"] == dict(found["reproduction"]["data"])["column of ids"] == shown
    assert shown in " ".join(found["summary"])


def test_columns_of_a_frame_are_read_by_place_not_by_label(report, fitted, data):
    plain = [f"mail {i}" for i in range(120)]
    for frame in (pandas.Series(plain, index=range(119, -1, -1)), pandas.Index(plain), polars.Series(plain)):
        found = report(fitted, data[0], ids=frame, texts=frame)
        assert found["table"] == report(fitted, data[0], ids=plain, texts=plain)["table"]


def test_the_index_of_a_frame_names_its_rows(report, quick, data):
    frame = pandas.DataFrame(data[0].toarray(), columns=[f"c{j}" for j in range(40)])
    detector = quick().fit(frame)
    order = np.argsort(-detector.outlier_scores_, kind="stable")[:20]

    def ids(**given):
        return [row["id"] for row in report(detector, frame, **given)["table"]["rows"]]

    assert ids() == [str(i) for i in order]
    for index, expected in (
        ([f"mail {i // 2}" for i in range(120)], lambda i: f"mail {i // 2}"),
        (pandas.date_range("2026-01-01", periods=120), lambda i: str(np.datetime64("2026-01-01") + i) + " 00:00:00"),
        (pandas.RangeIndex(1000, 1120), lambda i: str(1000 + i)),
    ):
        frame.index = index
        assert ids() == [expected(int(i)) for i in order]
        assert ids(ids=range(120)) == [str(i) for i in order]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_data_in_which_nothing_stands_out(report):
    rng = np.random.default_rng(0)
    for X in (rng.random((3, 4)), np.ones((30, 4)), np.eye(30)):
        found = report(REPEN(random_state=0, n_epochs=2).fit(X), X)
        assert sum(found["histogram"]["counts"]) == len(X)
        assert len(found["table"]["rows"]) == min(20, len(X))


def test_wrong_input_is_refused_and_nothing_is_written(fitted, data, tmp_path):
    target, X = tmp_path / "report.html", data[0]
    for options, words in (
        ({"ids": ["a"]}, "ids must have one entry for each of the 120 rows, got 1"),
        ({"texts": ["a"] * 121}, "got 121"),
        ({"names": ["a"]}, "names must be one for each of 40 features, got 1"),
        ({"y": np.zeros(120)}, "some rows, but not all"),
        ({"y": np.full(120, 7)}, "must be 1 "),
    ):
        with pytest.raises(OptionError, match=words):
            fitted.report(X, target, **options)
    for name in ("report.pdf", "report", "report.html.gz"):
        with pytest.raises(OptionError, match=r"must end in \.html or \.htm, got"):
            fitted.report(X, tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OSError, match="missing"):
        fitted.report(X, tmp_path / "missing" / "report.html")


def test_without_plotly_the_error_says_what_to_install(fitted, monkeypatch, tmp_path):
    for name in ("plotly", "plotly.offline"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ValueError, match=r"^a report needs the package plotly: pip install plotly\.$"):
        fitted.report(None, tmp_path / "report.html")


def test_kinds_cover_all_rows_that_are_flagged(report, quick):
    """Also those that are too many for the table; each is in one kind."""
    rng = np.random.default_rng(0)
    X = (rng.random((3000, 60)) < 0.1) * 1.0
    X[:700, 50:53] += 6
    X[700:1000, 55:58] += 9
    found = report(quick(cutoff=0.33).fit(X), X)
    assert len(found["table"]["rows"]) >= 500
    assert sum(n for n, _ in found["kinds"]) >= 900
    places = [place for _, group in found["kinds"] for place in group]
    assert sorted(places) == list(range(len(found["table"]["rows"])))
    assert found["groups"][0]["n"] >= 250
    assert "of them are of" in found["headline"]


def test_the_headline_speaks_of_others_only_where_there_are_some(report, quick):
    rng = np.random.default_rng(0)
    X = (rng.random((600, 60)) < 0.1) * 1.0
    X[:40, 50:53] += 9
    all_alike = report(quick(cutoff=TopK(40)).fit(X), X)["headline"]
    assert all_alike == "40 of 600 rows are flagged. All of them are of one kind, high for the same reason."
    X[40, 3] += 30
    one_other = report(quick(cutoff=TopK(41)).fit(X), X)["headline"]
    assert one_other.endswith("40 of them are of one kind, high for the same reason; the other stands alone.")


def test_many_flags_are_compared_with_those_of_noise(report, quick):
    rng = np.random.default_rng(0)
    X = rng.random((3000, 5))
    few, many = report(quick(cutoff=TopK(20)).fit(X), X), report(quick(cutoff=0.2).fit(X), X)
    assert few["noise"] == ""
    assert "would give about 600 flags with this cut-off, and here are 600" in many["noise"]
    some = report(Consensus(cutoff="cantelli", random_state=0).fit(X[:300]), X[:300])
    assert "would give about 20 flags with this cut-off, and here are" in some["noise"]  # though they are few
    assert flags_of_noise(quick().fit(X), 1000) == round(1000 * np.exp(-1 - np.sqrt(3)))
    assert flags_of_noise(quick(cutoff=Conformal(0.2, held_out=0.4)).fit(X), 1000) is None


def test_what_to_look_at_first_is_flagged(report, quick):
    """Numbers are those of the data, also large ones."""
    X = np.random.default_rng(0).normal(size=(300, 4))
    X[7, 2] = 21964
    found = report(quick(cutoff=TopK(2)).fit(X), X)
    rows = found["table"]["rows"]
    assert len(found["first"]) == 2
    assert all(rows[place]["flagged"] for place, _ in found["first"])
    assert 21964 in [value for _, value, *_ in rows[0]["reasons"]]
    none = report(quick(cutoff=TopK(1)).fit(X), X[20:])
    assert [place for place, _ in none["first"]] == [0]


def test_what_a_row_has_is_said_before_what_it_lacks():
    def said(contribution):
        reasons = (
            Reason(
                column=3,
                feature="'CASINO'",
                value=1.0,
                contribution=contribution,
                share=0.0,
                mean=0.0,
                spans=(Span(0, 6, contribution),),
            ),
        )
        why = RowExplanation(
            row=0, score=20.0, percentile=99.0, reasons=reasons, rest=2.0, nearest=(), lacks=Lacks(15.0, 900, ())
        )
        return of_kind(SimpleNamespace(reasons_of=lambda _: why, table=[0]), 0, 3, str)

    assert said(3.0) == " and 2 rows like it: 'CASINO'"
    assert said(0.1) == " and 2 rows like it: lacks what similar rows have: 900 features"


def test_rows_far_down_are_of_kinds_without_reasons(quick):
    """Of documents that the table does not show, nothing is read but what groups need."""
    texts = [f"GET /page/{i % 7}/index.html 200" for i in range(700)] + ["POST /wget evil.sh"] * 4
    table = as_table(texts, How())
    detector = quick().fit(table.X)
    rows = np.argsort(-detector.outlier_scores_, kind="stable").tolist()
    full, some = (explained(detector, table, rows, detector.outlier_scores_, 3, in_full=n) for n in (None, 2))
    assert some[1].reasons == full[1].reasons != ()
    assert some[2].reasons == ()
    assert some[2].lacks.contribution + some[2].rest == pytest.approx(some[2].score)
    assert [group.rows for group in some.groups()] == [group.rows for group in full.groups()]
    again = some.completed({2: full[2]})
    assert (again[2].reasons, again[2].row, again[3].reasons) == (full[2].reasons, 2, ())


def test_axes_are_named_by_the_features_that_go_with_them(report, quick):
    rng = np.random.default_rng(0)
    X = rng.random((300, 12)) * 0.01
    X[:150, 3] += 1
    X[150:, 7] += 1
    found = report(quick().fit(X), X, names=[f"word {j}" for j in range(12)])
    assert {"word 3", "word 7"} & set(found["map"]["axes"][0])
