"""The whole loop in a real browser, by keys, against a real server."""

import numpy as np
import pytest
from in_page import after, press, row_of
from served import page_of

from support.report_pages import Page


@pytest.fixture
def at(driver):
    """Opens a link; nothing may be left on the console at the end."""
    page = Page(driver)

    def open_(link):
        driver.get_log("browser")
        size = {"width": 1120, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        page.prefer(dark=False)
        driver.get(link)
        page.wait("document.documentElement.dataset.ready === 'yes'")
        return page

    yield open_
    assert page.log() == []


def test_label_undo_refit_and_find_everything_again(session_of, planted, at):
    from selenium.webdriver.common.keys import Keys

    session = session_of(refit_every=0)
    with page_of(session) as (place, access):
        page = at(access.link(place))
        assert "token" not in page.driver.current_url
        first = row_of(page)
        second = after(page, "o")
        assert session.labels()[first] == 1
        page.wait("document.getElementById('said').textContent.includes('is labelled outlier')")
        assert after(page, "z") == first
        assert session.labels()[first] == 0
        row = after(page, "o")
        assert row == second
        for _ in range(12):
            row = after(page, "o" if planted.truth[row] == 1 else "i")
        assert after(page, Keys.ARROW_LEFT) != row
        assert after(page, Keys.ARROW_RIGHT) == row
        before, shown = session._ranked.scores, row_of(page)
        press(page, "r")
        page.wait("document.querySelector('.learning').dataset.version === '1'")
        assert not np.array_equal(session._ranked.scores, before)
        assert row_of(page) == shown  # the analyst's place
        press(page, "?")
        page.wait("document.getElementById('keys').open")
        press(page, Keys.ESCAPE)
        press(page, "/")
        press(page, f"17{Keys.ENTER}")
        page.wait("document.querySelector('#found button')")
        assert page.script("document.querySelector('#found button').textContent") == "17"
        exported = page.driver.execute_async_script(
            "const done = arguments[0]; fetch('/export/labels.csv').then((found) => found.text()).then(done)"
        )
        assert len(exported.splitlines()) == 1 + 13
    labels = session.labels()
    session.close()
    again = session_of(refit_every=0)
    with page_of(again) as (place, access):
        page = at(access.link(place))
        assert row_of(page) == shown
        assert page.script("document.querySelector('.learning').dataset.version") == "1"
    np.testing.assert_array_equal(again.labels(), labels)


def test_a_kind_is_labelled_after_seeing_three(session_of, at):
    session = session_of(refit_every=0)
    session.group()
    with page_of(session) as (place, access):
        page = at(access.link(place))
        page = at(f"{place.address}/kinds")
        page.element(".group-cards a").click()
        page.wait("document.querySelectorAll('.beside.three article').length >= 2")
        n = len(session.kinds()[0].rows)
        page.element("[data-all='1']").click()
        page.wait("location.pathname === '/kinds' && document.documentElement.dataset.ready === 'yes'")
        assert (session.labels() == 1).sum() == n
        press(page, "z")
        page.wait("document.getElementById('said').textContent.startsWith('Undone')")
    assert not session.labels().any()


def test_known_labels_are_imported_and_a_model_can_be_gone_back_to(session_of, at, tmp_path):
    session = session_of(refit_every=0)
    known = tmp_path / "known.csv"
    known.write_text("id,label\n3,1\n4,-1\n")
    with page_of(session) as (place, access):
        at(access.link(place))
        page = at(f"{place.address}/files")
        page.element("#file").send_keys(str(known))
        page.element("#import button").click()
        page.wait("document.getElementById('problems').textContent.includes('2 labels were imported')")
        assert session.labels()[[3, 4]].tolist() == [1, -1]
        session.refit(wait=True)
        page = at(f"{place.address}/changes")
        page.element("[data-back='0']").click()
        page.wait("document.body.textContent.includes('(repeats 0)')")
    assert session.version == 2
    np.testing.assert_array_equal(session._ranked.scores, session._detector.outlier_scores_)


@pytest.mark.parametrize("width", [390, 1120])
def test_pages_fit_their_width(session_of, planted, at, width):
    session = session_of(refit_every=0)
    for row in range(12):
        session.label(row, planted.truth[row], advance=False)
    session.label(next(i for i, t in enumerate(planted.truth) if t == 1), 1, advance=False)
    session.refit(wait=True)
    with page_of(session) as (place, access):
        page = at(access.link(place))
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        for path in ("/", "/kinds", "/changes", "/summary", "/files"):
            page.driver.get(place.address + path)
            assert page.script("document.documentElement.scrollWidth") <= width, path


def test_a_server_that_is_gone_is_said(session_of, driver):
    session = session_of(refit_every=0)
    page = Page(driver)
    with page_of(session) as (place, access):
        driver.get(access.link(place))
    press(page, "o")
    page.wait("!document.getElementById('trouble').hidden")
    assert "does not answer" in page.script("document.getElementById('trouble').textContent")
    driver.get_log("browser")
