"""`ramodo experiments` from end to end, on sets of a few rows."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest

from ramodo.paper.datasets import LabeledData
from ramodo.paper.experiments import page, paper, scalability, sets
from ramodo.paper.experiments.runner import EXPERIMENTS

PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # tests in the background are started with Ctrl-C ignored
from ramodo.cli import main
main()
"""


def kept(folder):
    """Cells in the order in which they were finished, each with its row number: a cell computed again has another."""
    with sqlite3.connect(folder / "results.sqlite") as database:
        return dict(database.execute("select cell, rowid from cells order by rowid"))


def table_rows(text):
    return {line.split(" | ")[0].strip("| "): line for line in text.splitlines() if line.startswith("|")}


def test_table_1(experiments):
    done = experiments("table-auc-runtime", "--runs", 2, "--sets", "R8,LC", "--threads", 2)
    assert done.code == 0, done.err
    text = (done.folder / "table-auc-runtime.md").read_text()
    rows = table_rows(text.split("Seconds of detection")[0])
    assert ".8602" in rows["R8"]
    assert ".9080" in rows["R8"]
    assert "not here" in rows["Webspam"]
    assert ".8781" in rows["Webspam"]
    assert "1879.68" in table_rows(text)["Webspam"]
    assert "p = 0.0156 over its eight" in text
    assert "{" not in text
    data = json.loads((done.folder / "table-auc-runtime.json").read_text())
    found = {(c["set"], c["seed"]): c for c in data["cells"] if c["measure"] == "auc"}
    assert found["R8", 0]["auc"] > 0.9
    timed = next(c for c in data["cells"] if c["measure"] == "detection" and c["set"] == "R8")
    assert timed["representation, ours"] > 0
    assert (data["runs"], data["seeds"], data["threads"]) == (2, [0, 1], 2)
    assert b"<svg" in (done.folder / "table-auc-runtime.svg").read_bytes()


def test_the_other_tables_share_what_is_computed(experiments, monkeypatch):
    """One after another in one folder; REPEN's runs are computed by the first that needs them."""
    monkeypatch.setattr(scalability, "ROWS", (100, 200))
    monkeypatch.setattr(scalability, "FEATURES", (100, 200))
    monkeypatch.setattr(paper, "SCALED_FEATURES_AT", 100)
    first = experiments("table-competitors", "--runs", 2, "--threads", 1)
    assert first.code == 0, first.err
    text = (first.folder / "table-competitors.md").read_text()
    rows = table_rows(text)
    assert "◦ / .8764" in rows["R8"]  # 80 rows are fewer than HLLE's 250 neighbours
    assert "– / •" in rows["Webspam"]
    assert "- HLLE on R8 (◦): n_samples must be above n_neighbors=250, got 80" in text
    assert "`◦` the data break a condition of the method" in text
    assert "/ 0.0234" in rows["p-value"]
    before = kept(first.folder)

    for name in ("dimensions", "labels", "scalability"):
        done = experiments(name, "--runs", 2, "--sets", "LC,News20", "--threads", 1)
        assert done.code == 0, done.err
        for suffix in (".md", ".json", ".svg"):
            assert (done.folder / f"{name}{suffix}").stat().st_size > 0
    after = kept(first.folder)
    assert {cell: after[cell] for cell in before} == before
    assert sum('"REPEN", {"n_components": 20}, 0' in cell for cell in after) == 3  # one for each set
    labels = (first.folder / "labels.md").read_text()
    assert "| News20 | 10 |" in labels
    assert "| News20 | 20 |" not in labels  # the pool has 12 rows
    assert "/ 39.22" in labels
    assert ".7201" in labels
    scaled = table_rows((first.folder / "scalability.md").read_text())
    assert scaled["200"].split(" | ")[3].strip() == "◦"


def test_peers_that_cannot_run_are_marked(experiments, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # where no environment for DeepOD was made
    done = experiments("peers", "--sets", "LC", "--runs", 1, "--threads", 1)
    assert done.code == 0, done.err
    rows = table_rows((done.folder / "peers.md").read_text().split("Seconds of fit")[0])
    assert "∅" in rows["DeepOD REPEN"]
    for name in ("Sp", "IsolationForest", "LOF", "OneClassSVM"):
        assert float(rows[name].split(" | ")[3]) > 0.5, name
    assert "--install" in (done.folder / "peers.json").read_text()


def test_all_on_one_page(experiments, tmp_path, monkeypatch):
    """Each experiment is one of the others' tests; here two stand for all."""
    chosen = {name: EXPERIMENTS[name] for name in ("table-auc-runtime", "dimensions")}
    monkeypatch.setattr("ramodo.paper.experiments.runner.EXPERIMENTS", chosen)
    whole = tmp_path / "docs" / "experiments.md"
    whole.parent.mkdir()
    done = experiments("all", "--runs", 1, "--sets", "LC", "--threads", 1, "--page", whole, output="docs/experiments")
    assert done.code == 0, done.err
    text = whole.read_text()
    assert "](experiments/dimensions.svg)" in text
    assert text.index("## Table 1") < text.index("## Figure 3")
    assert "with seed 0 " in text
    assert "{" not in text
    assert f"{os.cpu_count()} cores" in text


def test_a_run_that_was_stopped_goes_on(tiny, tmp_path):
    line = [sys.executable, "-c", PROGRAM, "experiments", "dimensions", "--sets", "R8", "--runs", "3", "--threads", "1"]
    line += ["--output", str(tmp_path / "out")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    stopped = subprocess.Popen(line, env=environment, stderr=subprocess.PIPE)
    try:
        while stopped.poll() is None:
            time.sleep(0.05)
            if (tmp_path / "out" / "results.sqlite").is_file() and _count(tmp_path / "out") >= 5:
                break
        stopped.send_signal(signal.SIGINT)
        assert stopped.wait(120) == 130
    finally:
        stopped.kill()
        stopped.communicate()
    before = kept(tmp_path / "out")
    assert 5 <= len(before) < 33
    assert not (tmp_path / "out" / "dimensions.md").exists()
    subprocess.run(line, env=environment, check=True, capture_output=True)
    after = kept(tmp_path / "out")
    assert len(after) == 33
    assert {cell: after[cell] for cell in before} == before


def _count(folder):
    try:
        return len(kept(folder))
    except sqlite3.OperationalError:  # its table is being made
        return 0


def test_changed_data_have_another_fingerprint(tiny):
    data = sets.load("News20")
    assert sets.fingerprint(data) == sets.fingerprint(sets.load("News20"))
    assert isinstance(sets.load("LC").X, np.ndarray)
    changed = [
        LabeledData(2 * data.X, data.y, data.pool),
        LabeledData(data.X, 1 - data.y, data.pool),
        LabeledData(data.X, data.y, None),
        LabeledData(data.X, data.y, data.pool[1:]),
    ]
    assert len({sets.fingerprint(each) for each in [data, *changed]}) == 5


def test_a_set_from_its_public_source_is_used_where_no_file_is_ready_made(tiny, monkeypatch):
    """Where it is on this machine; the network is not asked."""
    asked = []

    def load_dataset(name, offline):
        asked.append((name, offline))
        if name != "AD":
            raise FileNotFoundError(name)
        return sets.load_prepared("R8")

    monkeypatch.setattr(sets, "load_dataset", load_dataset)
    assert [s.paper for s in sets.here()] == ["AD", "LC", "R8", "News20"]
    assert set(asked) == {(name, True) for name in ("AD", "p53", "OT", "URL", "Webspam")}
    assert sets.load("AD_dedup").X.shape == sets.load("R8").X.shape
    assert sets.described(sets.here("AD")[0]) == "AD: from its public source"
    assert sets.described(sets.here("R8")[0]) == "R8: the paper's"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["table-3"], 2, "the experiment must be table-auc-runtime, "),
        (["all", "--sets", "R8,R9"], 2, "each of --sets must be AD, LC, "),
        (["all", "--runs", "0"], 2, "--runs must be at least 1, got 0"),
        (["all", "--threads", "0"], 2, "--threads must be an integer from 1 to 4,096"),
        (["dimensions", "--sets", "Webspam"], 3, "None of the sets Webspam"),
    ],
)
def test_what_cannot_be_run_is_said(experiments, arguments, code, said):
    done = experiments(*arguments)
    assert done.code == code
    assert said in done.err


def test_without_matplotlib_nothing_is_begun(experiments, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = experiments("dimensions")
    assert done.code == 3
    assert "pip install typer rich matplotlib" in done.err
    assert not done.folder.exists()


def test_a_file_that_holds_no_results_is_refused(experiments, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "results.sqlite").write_text("no database " * 100)
    done = experiments("dimensions", "--sets", "LC")
    assert done.code == 3
    assert "is not a file of results" in done.err


def test_paragraphs_about_numbers_that_are_not_there_are_left_out():
    assert page.notes("labels", {}) == [page.notes("labels", {"News20": {}})[-1]]  # the last one has no numbers
    some = page.notes("dimensions", {"LC": {"range": ".123"}})
    assert len(some) == 1
    assert "moves by .123" in some[0]


def test_without_a_pool_there_are_no_labels(experiments):
    done = experiments("labels", "--sets", "LC")
    assert done.code == 0, done.err
    assert "None of the sets that were asked for has a pool" in (done.folder / "labels.md").read_text()
