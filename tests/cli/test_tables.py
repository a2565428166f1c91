"""Tables, records, logs and folders as users have them: planted outliers are found, and models read others alike."""

import codecs
import gzip
import json

import numpy as np
import pytest

from ramodo.datasets import make_access_log
from ramodo.model.file.saving import load


def scores_in(out):
    return np.array([float(line.rsplit(",", 3)[1]) for line in out.splitlines()[1:]])


def places(out, *rows):
    """At which place of the ranking these rows are, from 0."""
    order = np.argsort(-scores_in(out), kind="stable").tolist()
    return [order.index(row) for row in rows]


@pytest.fixture
def orders(tmp_path):
    """A table of numbers on different scales, of dates and of two columns of text; rows 100 to 103 are odd."""
    rng = np.random.default_rng(0)
    words = ["lamp", "chair", "table", "sofa", "shelf", "mirror"]
    rows = []
    for i in range(200):
        hour, day = 9 + i % 8, 1 + i % 28
        rows.append(
            {
                "bytes": f"{rng.lognormal(13, 1):.0f}",
                "seconds": f"{rng.normal(0.02, 0.002):.4f}",
                "time": f"2024-01-{day:02d}T{hour:02d}:{i % 60:02d}:00",
                "subject": f"order {words[i % 6]}",
                "body": f"please send one {words[i % 6]} and two {words[(i + 2) % 6]} to me",
            }
        )
    rows[100]["seconds"] = "0.06"  # far out, and a thousandth of what other columns vary by
    rows[101]["subject"] = "urgent wire transfer of funds"
    rows[102]["body"] = "verify your account password immediately at this link"
    rows[103]["time"] = "2024-01-15T03:12:00"
    return rows


@pytest.fixture
def table(orders, tmp_path):
    path = tmp_path / "orders.csv"
    lines = [",".join(orders[0]), *(",".join(row.values()) for row in orders)]
    path.write_text("\n".join(lines) + "\n")
    return path


TEXT = ["--text", "subject", "--text", "body"]


def test_odd_rows_of_each_kind_are_found(ok, table, tmp_path):
    """In numbers and in either text, side by side."""
    out = ok("detect", table, *TEXT, "-o", "-", "-q", "-m", tmp_path / "model")
    assert max(places(out, 100, 101, 102)) <= 4
    assert ok("score", tmp_path / "model", table) == out
    unscaled = ok("detect", table, "--scale", "none", "--ignore", "subject", "--ignore", "body", "-o", "-", "-q")
    assert places(unscaled, 100)[0] > 20  # drowned by bytes and seconds since 1970


@pytest.mark.parametrize("more", [[], ["--vocabulary"], ["--no-idf"], ["--bits", "31"]], ids=str)
def test_a_model_of_several_texts_reads_others_alike(ok, table, orders, tmp_path, more):
    out = ok("detect", table, *TEXT, *more, "-o", "-", "-q", "-m", tmp_path / "model")
    assert ok("score", tmp_path / "model", table) == out
    columns = list(reversed(orders[0]))
    few = "\n".join(["new," + ",".join(columns), *("," + ",".join(row[c] for c in columns) for row in orders[100:102])])
    (tmp_path / "few.csv").write_text(few + "\n")
    assert scores_in(ok("score", tmp_path / "model", tmp_path / "few.csv")) == pytest.approx(scores_in(out)[100:102])


def test_reasons_are_in_the_units_of_the_user(ok, table, orders, tmp_path):
    ok("fit", table, *TEXT, "-m", tmp_path / "model")
    (row,) = json.loads(ok("explain", tmp_path / "model", table, "--row", 100, "--top", 100_000, "--json"))
    assert row["score"] == pytest.approx(load(tmp_path / "model").outlier_scores_[100])
    added = sum(reason["contribution"] for reason in row["reasons"])
    assert added + row["lacks"]["contribution"] + row["rest"] == pytest.approx(row["score"])
    reasons = {reason["feature"]: reason for reason in row["reasons"]}
    assert reasons["seconds"]["value"] == pytest.approx(0.06)
    assert reasons["seconds"]["mean"] == pytest.approx(0.02, rel=0.1)
    assert reasons["bytes"]["value"] == pytest.approx(float(orders[100]["bytes"]), rel=1e-5)
    (row,) = json.loads(ok("explain", tmp_path / "model", table, "--row", 101, "--top", 100_000, "--json"))
    reasons = {reason["feature"]: reason for reason in row["reasons"]}
    runs = {name: reason for name, reason in reasons.items() if name.startswith("subject: ")}
    assert any("wire" in name for name in runs)
    assert not any(name.startswith("body: ") and "wire" in name for name in reasons)
    documents = " | ".join((orders[101]["subject"], orders[101]["body"]))
    assert all(f"'{documents[a:b]}'" in name for name, reason in runs.items() for a, b, _ in reason["spans"])


def test_reasons_of_dense_tables_too(ok, table, tmp_path):
    arguments = ["--ignore", "subject", "--ignore", "body", "--ignore", "time"]
    ok("fit", table, *arguments, "-m", tmp_path / "model")
    (row,) = json.loads(ok("explain", tmp_path / "model", table, "--row", 100, "--json"))
    reason = row["reasons"][0]
    assert (reason["feature"], reason["value"], reason["share"]) == ("seconds", pytest.approx(0.06), 1)
    assert reason["mean"] == pytest.approx(0.02, rel=0.1)


@pytest.mark.parametrize("how", ["auto", "standard", "robust", "log", "none"])
def test_scales_are_kept_in_the_model(ok, table, tmp_path, how):
    arguments = ["--ignore", "subject", "--ignore", "body", "--scale", how]
    out = ok("detect", table, *arguments, "-o", "-", "-q", "-m", tmp_path / "model")
    assert ok("score", tmp_path / "model", table) == out
    lines = table.read_text().splitlines()
    (tmp_path / "one.csv").write_text("\n".join([lines[0], lines[101]]) + "\n")
    assert scores_in(ok("score", tmp_path / "model", tmp_path / "one.csv")) == pytest.approx(scores_in(out)[100:101])


def test_scales_of_a_matrix(ok, run, tmp_path, files):
    X = np.random.default_rng(0).normal(0, 1, (100, 4)) * [1e6, 1, 1, 1]
    X[7, 1] = 9
    np.save(tmp_path / "data.npy", X)
    assert places(ok("detect", tmp_path / "data.npy", "-o", "-", "-q"), 7)[0] > 0
    out = ok("detect", tmp_path / "data.npy", "--scale", "auto", "-o", "-", "-q", "-m", tmp_path / "model")
    assert places(out, 7) == [0]
    assert ok("score", tmp_path / "model", tmp_path / "data.npy") == out
    done = run("detect", files.log, "--scale", "log")
    assert done.code == 2
    assert "--scale must be none, since " in done.err
    assert run("detect", files.visits, "--scale", "most").code == 2


def test_records(ok, orders, table, tmp_path):
    """The same rows as a table and as JSON Lines, whole and as they come; keys may be absent from all new lines."""
    numbers = ("bytes", "seconds")
    lines = [json.dumps({k: float(v) if k in numbers else v for k, v in row.items()}) for row in orders]
    (tmp_path / "orders.jsonl").write_text("\n".join(lines) + "\n")
    out = ok("detect", tmp_path / "orders.jsonl", *TEXT, "-o", "-", "-q", "-m", tmp_path / "model")
    assert out == ok("detect", table, *TEXT, "-o", "-", "-q")
    assert ok("score", tmp_path / "model", "-", stdin="\n".join(lines).encode()) == out
    ok("fit", tmp_path / "orders.jsonl", "--missing", "mean", "-m", tmp_path / "model")
    few = json.dumps({"subject": "order lamp", "body": "other", "bytes": 5})
    assert len(scores_in(ok("score", tmp_path / "model", "-", stdin=few.encode()))) == 1


def test_a_table_without_names_is_told(run, ok, tmp_path):
    lines = [f"{i % 7},{i * i % 11}.5" for i in range(60)]
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    done = run("detect", tmp_path / "data.csv", "-m", tmp_path / "model", "-o", "-")
    assert "begins with numbers instead of names" in done.err
    (tmp_path / "one.csv").write_text(lines[5] + "\n")
    found = ok("score", tmp_path / "model", tmp_path / "one.csv")
    assert scores_in(found)[0] == pytest.approx(scores_in(done.out)[5])
    quiet = run("detect", tmp_path / "data.csv", "--no-header", "-o", "-")
    assert "begins with numbers" not in quiet.err
    assert quiet.out == done.out
    assert run("detect", tmp_path / "data.csv", "--delimiter", "::").code == 2


def test_marks_and_packings_do_not_change_scores(ok, table, files):
    expected = ok("detect", table, *TEXT, "-o", "-", "-q")
    for content in (codecs.BOM_UTF8 + table.read_bytes(), table.read_text().encode("utf-16")):
        assert ok("detect", "-", "--format", "csv", *TEXT, "-o", "-", "-q", stdin=gzip.compress(content)) == expected
    log = files.log.read_bytes()
    expected = ok("score", files.log_model, files.log)
    for content in (codecs.BOM_UTF8 + log, log.decode().encode("utf-16"), gzip.compress(log)):
        assert ok("score", files.log_model, "-", stdin=content) == expected


def test_a_log_of_requests(ok, tmp_path):
    log = make_access_log(600, 4, random_state=0)
    (tmp_path / "access.log").write_text("\n".join(log.lines) + "\n")
    out = ok("detect", tmp_path / "access.log", "--format", "accesslog", "-o", "-", "-q", "-m", tmp_path / "model")
    assert sorted(places(out, *np.flatnonzero(log.y)))[2] <= 10
    assert ok("score", tmp_path / "model", tmp_path / "access.log") == out  # as the model's own, by its suffix
    assert ok("score", tmp_path / "model", "-", stdin=(tmp_path / "access.log").read_bytes()) == out


def test_a_folder_of_mails(ok, tmp_path):
    mails = tmp_path / "mails"
    mails.mkdir()
    for i in range(60):
        (mails / f"{i:02d}.txt").write_text(f"Dear all,\nthe meeting on day {i % 5} is in room {i % 3}.\n")
    (mails / "42.txt").write_text("Win a prize now!\nClick http://prize.example/claim\n")
    out = ok("detect", mails, "-o", "-", "-q", "-m", tmp_path / "model")
    assert max(out.splitlines()[1:], key=lambda line: float(line.split(",")[1])).startswith("42.txt,")
    assert ok("score", tmp_path / "model", mails) == out


def test_keys_that_records_lack_are_ordinary(ok, run, tmp_path):
    """A table of other formats has a value everywhere, or an option says what its gaps become."""
    rows = [{"kind": "ab"[i % 2], "size": i % 5} | ({"user": "cd"[i % 2]} if i % 3 else {}) for i in range(60)]
    path = tmp_path / "events.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    by_default = ok("detect", path, "-o", "-", "-q")
    assert by_default == ok("detect", path, "--missing", "indicator", "-o", "-", "-q")
    assert by_default != ok("detect", path, "--missing", "zero", "-o", "-", "-q")
    assert run("detect", path, "--missing", "error", "-q").code == 3
    (tmp_path / "events.csv").write_text("kind,size\n" + "a,1\nb,2\n" * 30 + "a,\n")
    assert "say what to do with --missing" in run("detect", tmp_path / "events.csv", "-q").err
