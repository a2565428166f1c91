"""Several analysts on one PostgreSQL database: Debian's, started here on loopback in a temporary folder."""

import os
import pwd
import shutil
import socket
import subprocess
import threading
from pathlib import Path

import pytest
from in_page import after, row_of
from served import Browser, page_of

from support.report_pages import Page


def _programs():
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


def _user():
    """PostgreSQL refuses to run as root."""
    if os.getuid() != 0:
        return {}
    try:
        return {"user": pwd.getpwnam("postgres").pw_uid, "group": pwd.getpwnam("postgres").pw_gid}
    except KeyError:
        return {"user": 65534, "group": 65534}


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    programs = _programs()
    if programs is None:
        pytest.skip("no PostgreSQL: install Debian's postgresql to test stores for a team")
    pytest.importorskip("psycopg")
    import tempfile

    folder = Path(tempfile.mkdtemp(prefix="ramodo-pg-"))
    user = _user()
    if user:
        os.chown(folder, user["user"], user["group"])
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder, **user}
    made = subprocess.run([programs / "initdb", "-D", folder / "data", "-A", "trust", "-U", "ann", "-N"], **quiet)
    if made.returncode:
        shutil.rmtree(folder)
        pytest.skip("PostgreSQL is there, but makes no database here")
    options = f"-c listen_addresses=127.0.0.1 -p {port} -c unix_socket_directories={folder} -c fsync=on"
    control = [programs / "pg_ctl", "-D", folder / "data"]
    subprocess.run([*control, "-w", "-o", options, "-l", folder / "log", "start"], check=True, **quiet)
    yield f"postgresql://ann@127.0.0.1:{port}/postgres"
    subprocess.run([*control, "-m", "immediate", "stop"], check=True, **quiet)
    shutil.rmtree(folder)


@pytest.fixture
def empty(database):
    """The database without the tables of an earlier test."""
    yield database
    from sqlalchemy import create_engine

    from ramodo.triage import tables

    engine = create_engine(database.replace("postgresql:", "postgresql+psycopg:"))
    tables.metadata.drop_all(engine)
    engine.dispose()


def test_two_servers_never_hand_out_the_same_row(session_of, empty):
    servers = [session_of(store=empty, refit_every=0, who=who) for who in ("ann", "bob")]
    seen = {session.who: [] for session in servers}

    def work(session):
        row = session.next()
        for _ in range(40):
            seen[session.who].append(row)
            row = session.label(row, 1)

    threads = [threading.Thread(target=work, args=(session,)) for session in servers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(seen["ann"]) | set(seen["bob"])) == 80
    for session in servers:
        session.next()
        assert session.counts["outliers"] == 80


def test_two_browsers_label_at_once(session_of, empty):
    session = session_of(store=empty, refit_every=0, who="ann")
    with page_of(session) as (place, access):
        browsers = [Browser(place, access), Browser(place, access)]
        for _ in range(5):
            rows = [browser.row for browser in browsers]
            assert len(set(rows)) == 2
            for browser, row in zip(browsers, rows, strict=True):
                assert browser.post("/label", {"row": row, "label": 1}).status_code == 200
    session.close()
    again = session_of(store=empty, refit_every=0)
    assert again.counts["outliers"] == 10
    assert {entry.who for entry in again._opinions.entries} == {"ann", "ann 2"}


def test_two_windows_label_by_keys_at_once(session_of, empty, driver):
    """One browser, two analysts: cookies of 127.0.0.1 and of localhost are apart."""
    session = session_of(store=empty, refit_every=0, who="ann")
    with page_of(session) as (place, access):
        pages = []
        for address in (place.address, place.address.replace("127.0.0.1", "localhost")):
            driver.switch_to.new_window("tab")
            driver.get(access.link(place).replace(place.address, address))
            pages.append(driver.current_window_handle)
        shown = {}
        for _ in range(3):
            for page in pages:
                driver.switch_to.window(page)
                shown.setdefault(page, []).append(labelled_by_key(Page(driver)))
        for page in pages:
            driver.switch_to.window(page)
            driver.close()
        driver.switch_to.window(driver.window_handles[0])
    assert len({row for rows in shown.values() for row in rows}) == 6
    session.close()
    again = session_of(store=empty, refit_every=0)
    assert again.counts["outliers"] == 6
    assert {entry.who for entry in again._opinions.entries} == {"ann", "ann 2"}


def labelled_by_key(page):
    page.wait("document.documentElement.dataset.ready === 'yes'")
    row = row_of(page)
    after(page, "o")
    return row
