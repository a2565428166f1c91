"""`ramodo drift`, and what `ramodo score` says about rows that differ from the training rows."""

import json
import random

import pytest

from ramodo.cli import DRIFTED

WORDS = "'duration' is about 1,000 times larger than in training"


def _write(path, seed, unit=1):
    draw = random.Random(seed)
    rows = [
        f"{draw.choice(['NZ', 'FR'])},{unit * draw.lognormvariate(3, 1):.3f},{draw.randint(1, 5)}" for _ in range(1000)
    ]
    path.write_text("\n".join(["country,duration,pages", *rows]) + "\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drift")
    _write(folder / "known.csv", 0)
    _write(folder / "alike.csv", 1)
    _write(folder / "changed.csv", 2, 1000)
    return folder


@pytest.fixture
def model(ok, folder):
    if not (folder / "m.ramodo").exists():
        ok("fit", folder / "known.csv", "-m", folder / "m.ramodo", "-q")
    return folder / "m.ramodo"


def test_it_names_what_moved(run, ok, folder, model):
    said = ok("drift", model, folder / "changed.csv")
    assert WORDS in said
    assert "nothing beyond chance" in ok("drift", model, folder / "alike.csv", "--fail-on-drift")
    assert run("drift", model, folder / "changed.csv", "--fail-on-drift").code == DRIFTED


def test_scores_come_with_a_warning_and_a_code(run, folder, model, tmp_path):
    done = run("score", model, folder / "changed.csv", "-o", tmp_path / "s.csv", "--json", "--fail-on-drift")
    assert done.code == DRIFTED
    assert f"warning: these rows differ from the training rows: {WORDS}" in done.err
    assert len((tmp_path / "s.csv").read_text().splitlines()) == 1001
    said = json.loads(done.out)
    assert said["moved"][0]["kind"] == "rescaled"
    assert (said["n_rows"], said["drift"], said["flagged"] > said["expected"]) == (1000, True, True)


def test_ordinary_rows_come_without(run, folder, model, tmp_path):
    done = run("score", model, folder / "alike.csv", "-o", tmp_path / "s.csv", "--json", "--fail-on-drift")
    assert done.code == 0
    assert "warning" not in done.err
    assert json.loads(done.out)["moved"] == []


def test_a_stream_warns_while_it_runs_and_fails_at_its_end(run, folder, model):
    done = run("score", model, "-", "--fail-on-drift", stdin=(folder / "changed.csv").read_bytes())
    assert done.code == DRIFTED
    assert done.out.count("\n") == 1001
    assert WORDS in done.err


def test_a_report_says_it(ok, folder, model, tmp_path):
    ok("report", model, folder / "changed.csv", "-o", tmp_path / "r.html")
    assert "is about 1,000 times larger than in training" in (tmp_path / "r.html").read_text()


def test_what_moved_in_text_is_named(ok, tmp_path):
    draw = random.Random(0)
    words = ["red", "green", "blue", "black", "white", "grey"]
    for name, more in (("old.txt", []), ("new.txt", ["timeout"])):
        lines = [" ".join([*draw.choices(words, k=5), *more]) for _ in range(300)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    ok("fit", tmp_path / "old.txt", "-m", tmp_path / "m.ramodo", "-q")
    said = ok("drift", tmp_path / "m.ramodo", tmp_path / "new.txt")
    assert "'timeout' is in 100 % of the rows, in training in none" in said


def test_few_rows_are_not_compared(run, ok, folder, model, tmp_path):
    (tmp_path / "few.csv").write_text("\n".join((folder / "changed.csv").read_text().splitlines()[:6]) + "\n")
    assert "too few to compare" in ok("drift", model, tmp_path / "few.csv", "--fail-on-drift")
    assert json.loads(ok("drift", model, tmp_path / "few.csv", "--json"))["drift"] is None


def test_a_page_shows_what_moved(ok, run, folder, model, tmp_path):
    rows = (folder / "changed.csv").read_text().replace("NZ", "<b>x</b>")
    (tmp_path / "changed.csv").write_text(rows)
    ok("drift", model, tmp_path / "changed.csv", "-o", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "&#x27;duration&#x27; is about 1,000 times larger than in training" in page
    assert page.count("<polyline") == 2  # of the duration, here and in training
    assert page.count("<rect") >= 2
    assert "<b>" not in page
    assert "<script" not in page
    ok("drift", model, folder / "alike.csv", "-o", tmp_path / "page.html")
    assert "Nothing moved beyond chance." in (tmp_path / "page.html").read_text()
    assert run("drift", model, folder / "alike.csv", "-o", tmp_path / "page.txt").code == 2
