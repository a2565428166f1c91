"""Categories that no training row had are the first reasons of their rows, everywhere that reasons are given."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from ramodo import Consensus, load
from ramodo.serving import SavedModel


@pytest.fixture(scope="module")
def visits():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "country": rng.choice(["NZ", "FR", "DE"], 300),
            "device": rng.choice(["d", "e"], 300),
            "size": rng.choice(["7.2", "8", "n/a"], 300),
            "tags": [[("a", "b", "c")[i % 3]] for i in range(300)],
            "volt": rng.normal(0, 1, 300),
        }
    )


@pytest.fixture(scope="module")
def model(visits, tmp_path_factory):
    path = tmp_path_factory.mktemp("unseen") / "visits.ramodo"
    Consensus(random_state=0).fit(visits).save(path)
    return path


@pytest.fixture(scope="module")
def strange(visits):
    rows = visits.head(2).copy()
    rows["country"] = ["QQ", "NZ"]
    rows["tags"] = [["z", "a"], ["a"]]
    return rows


def test_an_unseen_category_is_the_first_reason_and_the_sum_stays_the_score(model, strange):
    first, second = load(model).explain(strange)
    said = {(reason.in_words(), reason.typical()) for reason in first.reasons[:2]}
    assert said == {("country = QQ", "never seen in training"), ("tags = z", "never seen in training")}
    parts = sum(reason.contribution for reason in first.reasons) + sum(amount for _, amount in first.others())
    assert parts == pytest.approx(first.score)
    assert not any(reason.shown for reason in second.reasons)


def test_what_an_unseen_category_adds_is_no_longer_lacked(model, strange):
    first = load(model).explain(strange)[0]
    assert not any(re.match("country=", reason.feature) for reason in first.lacks.strongest)


def test_an_unseen_category_takes_the_place_of_another_reason(model, strange):
    assert [len(row.reasons) for row in load(model).explain(strange, top=3)] == [3, 3]


def test_requests_and_tables_name_an_unseen_category(model, strange):
    saved = SavedModel(model)
    row = {"country": "QQ", "device": "d", "size": 7.2, "tags": ["a"], "volt": 0.1}
    first = saved.score_rows([row], reasons=2)[0]["reasons"][0]
    assert (first["feature"], first["shown"], first["usual"]) == ("country", "QQ", "never seen in training")
    names = {reason["feature"] for reason in saved.score(strange, reasons=3).to_pylist()[0]["reasons"]}
    assert {"country", "tags"} <= names


def test_a_report_names_an_unseen_category(model, strange, tmp_path):
    page = load(model).report(strange, tmp_path / "strange.html").read_text()
    assert "never seen in training" in page


def test_a_number_is_the_category_that_is_written_so(model, visits):
    rows = visits.head(3).copy()
    rows["size"] = "7.2"
    detector = load(model)
    np.testing.assert_array_equal(detector.outlier_score(rows.assign(size=7.2)), detector.outlier_score(rows))


def test_a_missing_column_is_named_as_the_data_have_it(model, visits):
    with pytest.raises(ValueError, match="lacks 1, such as 'device'"):
        load(model).outlier_score(visits.drop(columns="device"))


def test_a_number_in_single_precision_is_written_as_it_was_given():
    X = np.random.default_rng(0).normal(5, 1, (60, 4)).astype(np.float32)
    detector = Consensus(random_state=0).fit(X)
    X[0] = (7.2, 16_777_216, 0.1, -1.5)
    found = detector.explain(X[:1]).to_dict()[0]["reasons"]
    assert {reason["value"] for reason in found} == {7.2, 16_777_216, 0.1, -1.5}
    assert "7.2," in json.dumps(found)
