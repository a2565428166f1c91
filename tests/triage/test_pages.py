"""The labelling page against a real server: what it does, and what it refuses."""

import csv
import gzip
import io
import logging
import re
import threading
from itertools import takewhile

import numpy as np
import pytest
from served import Browser, page_of

from ramodo import Consensus
from ramodo.formats import Table
from ramodo.triage import Kind, TriageSession

EVIL = '<script>window.hit=1</script><img src=x onerror="window.hit=2">"\'&'


@pytest.fixture
def opened(session_of):
    session = session_of(refit_every=0, who="ann")
    with page_of(session) as (place, access):
        yield session, place, access


@pytest.fixture
def browser(opened):
    return Browser(opened[1], opened[2])


def test_a_label_is_stored_and_the_next_row_is_shown(opened, browser):
    session, first = opened[0], browser.row
    found = browser.post("/label", {"row": first, "label": 1})
    assert found.status_code == 200
    assert session.labels()[first] == 1
    assert f"{first} is labelled outlier. Next: {browser.row}." in found.json()["said"]
    assert browser.row != first
    assert browser.post("/undo").json()["said"].startswith("Undone: 1 label.")
    assert browser.row == first
    assert session.labels()[first] == 0


def test_moves_keep_the_place(browser):
    first = browser.row
    browser.post("/move", {"step": 1})
    second = browser.row
    assert second != first
    browser.post("/move", {"step": -1})
    assert browser.row == first
    browser.post("/move", {"step": 1})
    assert browser.row == second


def test_every_page_is_there(opened, browser):
    session = opened[0]
    for row in range(12):
        session.label(row, 1 if row % 2 else -1, "ann", advance=False)
    session.refit(wait=True)
    session.group()
    for path in ("/", "/kinds", "/changes", "/summary", "/files", "/?row=3", "/live"):
        assert browser.get(path).status_code == 200, path
    kind = session.kinds()[0]
    assert browser.get(f"/kinds/{kind.version}/{kind.number}").status_code == 200
    body = {"version": kind.version, "number": kind.number, "label": 1}
    assert browser.post("/kinds/label", body).json() == {"reload": "/kinds"}
    assert (session.labels()[list(kind.rows)] == 1).all()
    assert browser.post("/back", {"version": 0}).status_code == 200
    np.testing.assert_array_equal(session._ranked.scores, session._detector.outlier_scores_)
    assert "17" in browser.post("/search", {"text": "17"}).json()["found"]
    assert browser.post("/queue", {"queue": "variety"}).status_code == 200
    assert browser.post("/refit").status_code == 200


def test_exports_and_imports(opened, browser):
    session = opened[0]
    session.label(3, 1, "ann", advance=False)
    session.refit(wait=True)
    lines = list(csv.DictReader(io.StringIO(browser.get("/export/labels.csv").text)))
    assert [(line["id"], line["label"], line["who"]) for line in lines] == [("3", "1", "ann")]
    assert len(browser.get("/export/ranking.csv").text.splitlines()) == 401
    assert browser.get("/export/model.ramodo").content
    report = browser.get("/export/report.html").text
    assert "1 rows were labelled: 1 outlier." in report
    sent = browser.client.post(
        "/import", content=b"id,label\n5,-1\n", headers={"x-csrf-token": browser.csrf, "accept": "application/json"}
    )
    assert sent.json() == {"said": "1 labels were imported."}
    assert session.labels()[5] == -1
    packed = gzip.compress(b"id,label\n5,-1\n")
    refused = browser.client.post("/import", content=packed, headers={"x-csrf-token": browser.csrf})
    assert refused.status_code == 415
    assert "Unpack it first" in refused.text
    refused = browser.client.post("/import", content=b"id,label\nx,1\n", headers={"x-csrf-token": browser.csrf})
    assert refused.status_code == 422


def test_two_browsers_get_different_rows_and_names(opened, browser):
    _, place, access = opened
    other = Browser(place, access)
    assert other.row != browser.row
    assert 'data-name="ann 2"' in other.html
    assert other.post("/name", {"name": "bob"}).status_code == 200
    other.post("/label", {"row": other.row, "label": 1})
    assert [entry.who for entry in opened[0]._opinions.entries] == ["bob"]


# ---- security, a test for each ----------------------------------------------------------------------------------


def test_a_token_opens_one_browser(opened, browser):
    _, place, access = opened
    used = access.link(place)
    Browser(place, access)
    import httpx

    assert httpx.get(used).status_code == 401
    assert httpx.get(place.address).status_code == 401


def test_cookies_are_out_of_reach_for_scripts_and_other_sites(opened):
    _, place, access = opened
    import httpx

    first = httpx.get(access.link(place))
    second = httpx.get(place.address, cookies=first.cookies)
    for cookie in (*first.headers.get_list("set-cookie"), *second.headers.get_list("set-cookie")):
        assert "HttpOnly" in cookie
        assert "samesite=strict" in cookie.lower()


@pytest.mark.parametrize(
    "path",
    ["/label", "/undo", "/move", "/go", "/queue", "/refit", "/back", "/search", "/kinds/label", "/name", "/import"],
)
def test_each_change_needs_the_csrf_token(browser, opened, path):
    for token in ("", "0" * 64):
        refused = browser.client.post(path, json={"row": 1, "label": 1}, headers={"x-csrf-token": token})
        assert refused.status_code == 403
    foreign = browser.post(path, {"row": 1, "label": 1}, headers={"origin": "http://evil.example"})
    assert foreign.status_code == 403
    assert opened[0]._opinions.entries == []


def test_get_changes_nothing(browser, opened):
    for path in ("/label", "/undo", "/refit", "/import"):
        assert browser.get(path).status_code in (404, 405)
    assert opened[0]._opinions.entries == []


def test_pages_have_a_strict_policy_and_no_inline_script_or_style(browser):
    for path in ("/", "/kinds", "/changes", "/summary", "/files"):
        found = browser.get(path)
        policy = found.headers["content-security-policy"]
        assert "unsafe" not in policy
        assert re.findall(r"<script(?! src=)", found.text) == []
        assert re.findall(r"<style|\sstyle=|\son\w+=", found.text) == []


def test_other_hosts_are_refused(browser, opened):
    for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example"):
        assert browser.get("/", headers={"host": host}).status_code == 400


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_everything_from_data_is_escaped(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.random((60, 8))
    names = [f"{EVIL}{j}" for j in range(8)]
    detector = Consensus(random_state=0).fit(X)
    detector.feature_names_in_ = np.array(names, dtype=object)
    for texts in (None, [f"{EVIL} text {i}" for i in range(60)]):
        table = Table(X, ids=[f"{EVIL}{i}" for i in range(60)], texts=texts)
        session = TriageSession(detector, table, store=str(tmp_path / f"{texts is None}.db"), who=EVIL, title=EVIL)
        with session, page_of(session) as (place, access):
            browser = Browser(place, access)
            for row in range(8):
                found = browser.post("/label", {"row": row, "label": 1 - 2 * (row % 2)})
                assert "<script>window" not in found.json()["card"]
            session.refit(wait=True)
            for path in ("/", "/kinds", "/changes", "/summary", "/files"):
                page = browser.get(path).text
                assert "<script>window" not in page
                assert "<img" not in page
            assert "<img" not in browser.post("/search", {"text": "script"}).json()["found"]


@pytest.mark.parametrize("name", ["..%2f..%2fetc%2fpasswd", "%2fetc%2fpasswd", "labels.db", "%2e%2e", "pages.py"])
@pytest.mark.parametrize("at", ["/static/", "/export/"])
def test_paths_do_not_reach_the_file_system(browser, at, name):
    assert browser.get(at + name).status_code == 404


def test_large_uploads_are_refused(browser):
    refused = browser.client.post("/import", content=b"x" * (8 << 20) + b"x", headers={"x-csrf-token": browser.csrf})
    assert refused.status_code == 413


def test_no_secret_is_logged(opened, caplog, capfd):
    _, place, access = opened
    with caplog.at_level(logging.DEBUG):
        used = access.token
        browser = Browser(place, access)
        browser.get("/nowhere")
        browser.post("/label", {"row": "x"})
    cookies = list(browser.client.cookies.values())
    ours = "".join(r.getMessage() for r in caplog.records if not r.name.startswith(("httpx", "httpcore")))
    ours += "".join(capfd.readouterr())
    assert len(cookies) == 2
    assert [secret for secret in (used, access.token, browser.csrf, *cookies) if secret in ours] == []


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/label", {"row": 1.5, "label": 1}),
        ("/label", {"row": 400, "label": 1}),
        ("/label", {"row": True, "label": 1}),
        ("/label", {"row": 1, "label": 7}),
        ("/label", [1]),
        ("/queue", {"queue": "../x"}),
        ("/back", {"version": 99}),
        ("/name", {"name": "a\nb"}),
        ("/kinds/label", {"version": 9, "number": 9, "label": 1}),
    ],
)
def test_bad_requests_say_what_is_allowed(browser, opened, path, body):
    found = browser.post(path, body)
    assert found.status_code == 422
    assert found.json()["error"]["message"]
    assert opened[0]._opinions.entries == []


# ---- faults -----------------------------------------------------------------------------------------------------


def test_a_locked_store_is_said_and_the_page_goes_on(session_of, tmp_path, monkeypatch):
    import sqlite3

    monkeypatch.setattr("ramodo.triage.store_file.PATIENCE", 0.05)
    session = session_of(refit_every=0)
    with page_of(session) as (place, access):
        browser = Browser(place, access)
        row = browser.row
        other = sqlite3.connect(tmp_path / "labels.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        found = browser.post("/label", {"row": row, "label": 1}, timeout=30)
        assert found.status_code == 503
        assert "was not stored" in found.json()["error"]["message"]
        other.execute("ROLLBACK")
        other.close()
        assert browser.post("/label", {"row": row, "label": 1}).status_code == 200
    assert session.labels()[row] == 1


def test_a_full_disk_is_said_and_the_page_goes_on(opened, browser):
    session, row = opened[0], browser.row
    with session._store._engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count=1")  # what SQLite says of a full disk
    session.label_kind(Kind(0, 0, tuple(range(12)), (), ()), -1)  # what fits into the last page
    answers = (browser.post("/label", {"row": row, "label": 1}) for _ in range(60))
    stored = len(list(takewhile(lambda found: found.status_code == 200, answers)))
    found = browser.post("/label", {"row": row, "label": 1})
    assert found.status_code == 503
    assert "full" in found.json()["error"]["message"]
    assert "was not stored" in found.json()["error"]["message"]
    assert browser.get("/").status_code == 200
    assert len(session._opinions.entries) == 12 + stored


def test_a_vanished_data_file_is_said_and_labels_go_on(session_of, tmp_path):
    data = tmp_path / "rows.svm"
    data.write_text("1 1:1\n")
    with page_of(session_of(refit_every=0, path=str(data))) as (place, access):
        browser = Browser(place, access)
        data.unlink()
        assert "rows.svm is gone" in browser.get("/").text
        found = browser.post("/label", {"row": browser.row, "label": 1})
        assert found.status_code == 200
        assert "is gone" in found.json()["problems"]


def test_a_failed_refit_is_on_the_page(opened, browser, monkeypatch):
    session = opened[0]
    browser.post("/label", {"row": browser.row, "label": 1})

    def fail(*_):
        raise ValueError("it went wrong")

    with monkeypatch.context() as patched:
        patched.setattr(type(session._detector), "relabeled", fail)
        browser.post("/refit")
        session.wait(30)
    assert "it went wrong" in browser.get("/").text
    assert "it went wrong" in browser.get("/live").json()["problems"]
    assert sum(session.counts.values()) == 1


def test_labels_come_in_while_a_refit_runs(opened, browser, monkeypatch):
    session, going = opened[0], threading.Event()
    whole = type(session._detector).relabeled

    def slow(self, *arguments):
        going.wait(30)
        return whole(self, *arguments)

    monkeypatch.setattr(type(session._detector), "relabeled", slow)
    browser.post("/label", {"row": browser.row, "label": 1})
    browser.post("/refit")
    assert session.status.working
    row = browser.row
    assert browser.post("/label", {"row": row, "label": -1}).status_code == 200
    assert session.status.working
    kept = browser.row
    going.set()
    assert session.wait(60)
    assert session.version == 1
    assert browser.row == kept  # the analyst's place
