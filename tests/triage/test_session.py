"""The loop of labels: what is stored, what is shown next, what is learned, and what a restart finds."""

import csv
import stat
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from ramodo import load
from ramodo.options import OptionError
from ramodo.triage.queues import QUEUES
from ramodo.triage.store import Store
from ramodo.triage.store_file import StoreError, back_up


def label_rows(session, truth, n, who=None):
    row = session.next(who)
    seen = []
    for _ in range(n):
        seen.append(row)
        row = session.label(row, truth[row], who)
    return seen


def test_rows_come_by_score_and_labels_are_kept(session_of, planted):
    session = session_of(refit_every=0)
    seen = label_rows(session, planted.truth, 7)
    highest = np.argsort(-planted.detector.outlier_scores_, kind="stable")[:7]
    assert seen == highest.tolist()
    assert session.labels()[seen].tolist() == [planted.truth[row] for row in seen]
    assert sum(session.counts.values()) == 7


def test_a_restart_finds_labels_models_and_the_next_row(session_of, planted):
    first = session_of(refit_every=5)
    label_rows(first, planted.truth, 12)
    assert first.wait(60)
    version, following, ranking = first.version, first.analyst().row, first._ranked.scores
    first.close()
    again = session_of(refit_every=5)
    assert again.version == version >= 1
    assert sum(again.counts.values()) == 12
    assert again.next() == following
    np.testing.assert_array_equal(again._ranked.scores, ranking)


def test_undo_is_a_new_entry_and_the_row_is_shown_again(session_of, planted):
    session = session_of(refit_every=0)
    seen = label_rows(session, planted.truth, 3)
    assert session.undo() == [seen[2]]
    assert session.analyst().row == seen[2]
    assert session.labels()[seen[2]] == 0
    assert len(session._opinions.entries) == 4  # nothing was taken away
    assert session.undo() == [seen[1]]
    assert session.undo() == [seen[0]]
    assert session.undo() == []


def test_a_kind_is_labelled_and_undone_together(session_of, planted):
    session = session_of(refit_every=0)
    session.group()
    kind = session.kinds()[0]
    assert len(kind.rows) > 1
    assert len(kind.shown) <= 3
    assert session.label_kind(kind, 1) == len(kind.rows)
    assert (session.labels()[list(kind.rows)] == 1).all()
    assert sorted(session.undo()) == sorted(kind.rows)
    assert not session.labels().any()


def test_labels_change_the_ranking_and_the_changes_are_told(session_of, planted):
    session = session_of(refit_every=0)
    label_rows(session, planted.truth, 20)
    before = session._ranked.ranking.order
    session.refit(wait=True)
    assert session.version == 1
    assert session.pending == 0
    changes = session.changes()
    now = session._ranked.ranking.order
    assert changes.overlap == len(set(now[:100]) & set(before[:100]))
    assert changes.gained
    assert all(one.after < one.before for one in changes.rose)
    truth = np.array(planted.truth)
    found = [(truth[order[:40]] == 1).sum() for order in (before, now)]
    assert found[1] > found[0]


def test_going_back_ranks_as_then_and_keeps_the_labels(session_of, planted):
    session = session_of(refit_every=0)
    label_rows(session, planted.truth, 10)
    session.refit(wait=True)
    first = session._ranked.scores
    label_rows(session, planted.truth, 10)
    session.refit(wait=True)
    assert not np.array_equal(session._ranked.scores, first)
    session.go_back(1)
    assert session.wait(60)
    np.testing.assert_array_equal(session._ranked.scores, first)
    assert sum(session.counts.values()) == 20
    assert [one.back_to for one in session.versions()] == [None, None, 1]
    with pytest.raises(OptionError, match="from 0 to 3, got 9"):
        session.go_back(9)


def test_a_refit_that_fails_says_so_and_labels_stay(session_of, planted, monkeypatch):
    session = session_of(refit_every=0)
    label_rows(session, planted.truth, 5)

    def fail(*_):
        raise MemoryError("no room for it")

    monkeypatch.setattr(type(planted.detector), "relabeled", fail)
    session.refit(wait=True)
    assert "no room for it" in session.problems()[0]
    assert session.version == 0
    monkeypatch.undo()
    session.refit(wait=True)
    assert session.problems() == []
    assert session.version == 1


def test_a_data_file_that_is_gone_is_noticed(session_of, tmp_path):
    data = tmp_path / "data.svm"
    data.write_text("1 1:1\n")
    session = session_of(path=str(data))
    assert session.problems() == []
    data.unlink()
    assert "is gone" in session.problems()[0]


def test_two_analysts_get_different_rows_until_one_walks_away(session_of):
    session = session_of(lease_seconds=0.3)
    rows = [session.next("ann"), session.next("bob")]
    assert len(set(rows)) == 2
    other = session_of()  # another server on the same store
    assert other.next("cid") not in rows
    import time

    time.sleep(0.35)
    assert other.next("dan") == rows[0]


def test_agreement_and_disputed_rows(session_of, planted):
    session = session_of(refit_every=0)
    rows = label_rows(session, planted.truth, 6, "ann")
    session.choose("second", "bob")
    for _ in range(6):
        row = session.next("bob")
        assert row in rows
        session.label(row, -planted.truth[row] if row == rows[0] else planted.truth[row], "bob", advance=False)
    (found,) = session.summary().agreements
    assert (found.n_rows, found.disagree) == (6, (rows[0],))
    assert session.labels()[rows[0]] == 0  # evenly disputed
    assert session.next("bob") is None


def test_exports_are_read_back(session_of, planted, tmp_path):
    session = session_of(refit_every=0)
    rows = label_rows(session, planted.truth, 8)
    session.refit(wait=True)
    session.export_labels(tmp_path / "labels.csv")
    session.export_ranking(tmp_path / "ranking.csv")
    session.export_history(tmp_path / "history.csv")
    session.export_model(tmp_path / "model.ramodo")
    with open(tmp_path / "labels.csv") as file:
        labels = list(csv.DictReader(file))
    assert {line["id"]: line["label"] for line in labels} == {str(row): str(session.labels()[row]) for row in rows}
    assert {line["model"] for line in labels} == {"0"}
    assert all(line["at"] for line in labels)
    with open(tmp_path / "ranking.csv") as file:
        ranking = list(csv.DictReader(file))
    assert [int(line["id"]) for line in ranking] == session._ranked.ranking.order.tolist()
    np.testing.assert_allclose(load(tmp_path / "model.ramodo").outlier_score(planted.X), session._ranked.scores)
    other = session_of(store=str(tmp_path / "other.db"))
    assert other.import_labels(str(tmp_path / "labels.csv")) == 8
    assert other.labels()[rows].tolist() == session.labels()[rows].tolist()


def test_exported_labels_show_documents(session_of, tmp_path):
    session = session_of(texts=[f"=line {row},\n\x07" for row in range(400)], refit_every=0)
    session.label(3, 1)
    session.export_labels(tmp_path / "labels.csv")
    with open(tmp_path / "labels.csv", newline="") as file:
        (line,) = csv.DictReader(file)
    assert line["text"].lstrip("'").startswith("=line 3,")
    assert line["text"][0] == "'"
    assert session_of(store=str(tmp_path / "other.db")).import_labels(str(tmp_path / "labels.csv")) == 1


def test_ids_are_guarded_for_spreadsheets_and_read_back(session_of, planted, tmp_path):
    ids = [f"=row{i}" for i in range(400)]
    first = session_of(ids=ids, refit_every=0, who="@ann")
    first.label(3, 1)
    for name, write in (("labels", first.export_labels), ("history", first.export_history)):
        write(tmp_path / f"{name}.csv")
        assert {"'=row3", "'@ann"} <= set((tmp_path / f"{name}.csv").read_text().replace("\n", ",").split(","))
    first.export_ranking(tmp_path / "ranking.csv")
    assert "\n=row" not in (tmp_path / "ranking.csv").read_text()
    again = session_of(ids=ids, store=str(tmp_path / "other.db"))
    assert again.import_labels(str(tmp_path / "labels.csv")) == 1
    assert again.labels()[3] == 1


def test_labels_of_unknown_rows_are_refused_whole(session_of, tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("id,label\n1,1\n99999,1\n")
    session = session_of()
    with pytest.raises(ValueError, match="99999"):
        session.import_labels(str(path))
    assert sum(session.counts.values()) == 0


def test_a_store_of_other_data_is_refused(session_of, tmp_path):
    session_of()
    with pytest.raises(OptionError, match="labels of other data"):
        Store.open(str(tmp_path / "labels.db"), "other")


@pytest.mark.parametrize("place", ["mysql://x@y/z", "://", "postgresql//x"])
def test_other_stores_are_refused(place, planted):
    if "://" in place:
        with pytest.raises(OptionError, match="--store must be a file, or postgresql"):
            Store.open(place, "x")


def test_a_password_is_in_no_message():
    with pytest.raises(OSError, match="cannot be used") as error:
        Store.open("postgresql://ann:s3cret@127.0.0.1:1/none", "x")
    assert "s3cret" not in str(error.value)


def test_a_full_disk_and_a_locked_store_lose_no_label(session_of, planted, tmp_path, monkeypatch):
    import sqlite3

    monkeypatch.setattr("ramodo.triage.store_file.PATIENCE", 0.1)
    session = session_of(refit_every=0)
    rows = label_rows(session, planted.truth, 3)
    other = sqlite3.connect(tmp_path / "labels.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="locked"):
        session.label(rows[0], 1)
    other.execute("ROLLBACK")
    other.close()
    with session._store._engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count=1")  # what SQLite says of a full disk
    with pytest.raises(StoreError, match="full"):
        [session.label(row, 1, advance=False) for row in range(400)]
    stored = sum(session.counts.values())
    session.close()
    assert sum(session_of().counts.values()) == stored >= 3


@pytest.mark.parametrize("replaced", [False, True])
def test_a_store_that_is_deleted_or_replaced_is_noticed_and_its_labels_are_saved(
    session_of, planted, tmp_path, replaced
):
    path = tmp_path / "labels.db"
    session = session_of(refit_every=0)
    rows = label_rows(session, planted.truth, 3)
    if replaced:
        Store.open(str(tmp_path / "other.db"), "y").close()
        (tmp_path / "other.db").replace(path)
    else:
        path.unlink()
    with pytest.raises(StoreError, match=r"was deleted or replaced .* are in .*labels\.db\.rescued"):
        session.label(7, 1)
    session.close()
    (tmp_path / "labels.db.rescued").replace(path)
    for left in ("labels.db-wal", "labels.db-shm"):
        (tmp_path / left).unlink(missing_ok=True)
    assert session_of().labelled == set(rows)


def test_a_store_is_its_owners_and_copied_whole_while_it_is_in_use(session_of, planted, tmp_path):
    path, copy = tmp_path / "labels.db", tmp_path / "copy.db"
    session = session_of(refit_every=0)
    rows = label_rows(session, planted.truth, 3)
    back_up(str(path), str(copy))
    assert {stat.S_IMODE(file.stat().st_mode) for file in (path, copy)} == {0o600}
    with pytest.raises(OptionError, match="--backup must be a new file"):
        back_up(str(path), str(copy))
    with pytest.raises(OptionError, match="--store must be a file that exists"):
        back_up(str(tmp_path / "none.db"), str(tmp_path / "more.db"))
    session.close()
    copy.replace(path)
    assert session_of().labelled == set(rows)


def test_a_file_that_is_no_store_is_refused(tmp_path):
    (tmp_path / "text.db").write_text("id,label\n" * 200)
    with pytest.raises(StoreError, match="cannot be used: file is not a database"):
        Store.open(str(tmp_path / "text.db"), "x")
    with pytest.raises(StoreError, match="cannot be used: Is a directory"):
        Store.open(str(tmp_path), "x")


KILLED = """
import os, sys
from ramodo.triage.store import Said, Store
store = Store.open(sys.argv[1], "x")
row = 0
while True:
    store.add("ann", 0, [Said(row, 1, "score", "above")])
    sys.stdout.write(f"{row}\\n")
    sys.stdout.flush()
    row += 1
"""


def test_a_kill_loses_no_acknowledged_label(tmp_path):
    path = str(tmp_path / "labels.db")
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(KILLED), path], stdout=subprocess.PIPE) as process:
        acknowledged = [int(process.stdout.readline()) for _ in range(50)]
        process.kill()
        acknowledged += [int(line) for line in process.stdout.read().split(b"\n")[:-1]]
    store = Store.open(path, "x")
    assert {entry.row for entry in store.since(0)} >= set(acknowledged)
    store.close()


def test_bad_calls_are_refused(session_of):
    session = session_of()
    for call in (
        lambda: session.label(400, 1),
        lambda: session.label(-1, 1),
        lambda: session.label(0, 2),
        lambda: session.choose("random"),
        lambda: session.next(""),
        lambda: session.next("a\nb"),
        lambda: session.kind(0, 99),
        lambda: session_of(refit_every=-1),
    ):
        with pytest.raises(OptionError, match=r"must .*, got"):
            call()


def test_search_finds_ids_first(session_of):
    session = session_of()
    assert session.search("17")[0] == 17
    assert session.search("  ") == []
    assert len(session.search("1")) == 50


def test_each_queue_is_offered_and_ends_in_words(session_of):
    session = session_of()
    for queue in QUEUES.values():
        session.choose(queue.name)
        assert (session.next() is None) == (queue.name == "second")  # nobody else has labelled anything
        assert all((queue.title, queue.purpose, queue.at_end))
