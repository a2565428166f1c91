"""What a reader sees, on a screen in the dark, on a phone, on paper, or does not see and hears."""

import base64
import re

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest

from ramodo import RAMODO
from support.report_pages import sort_by

pytest.importorskip("selenium", reason="the package selenium is not installed: no test of reports in a browser")
from selenium.webdriver.common.keys import Keys


def luminance(colour):
    channels = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def colours(page):
    """Ink and paper of the page, as the browser computed them, and the ink of a figure's text."""
    return page.script(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor,"
        " getComputedStyle(document.querySelector('#histogram .xtick text')).fill]"
    )


def test_colours_follow_the_system_and_the_button(page, reports):
    page.open(reports.plain, dark=True)
    ink, paper, figure = colours(page)
    assert luminance(paper) < 0.05
    assert min(contrast(ink, paper), contrast(figure, paper)) > 4.5
    button = page.element("#theme")
    assert button.text == "Light colours"
    button.click()
    page.wait("document.documentElement.dataset.theme === 'light'")
    ink, paper, figure = colours(page)
    assert luminance(paper) > 0.8
    assert min(contrast(ink, paper), contrast(figure, paper)) > 4.5
    assert button.text == "Dark colours"
    page.open(reports.plain)
    assert luminance(colours(page)[1]) > 0.8
    page.prefer(dark=True)
    page.wait("document.getElementById('theme').textContent === 'Light colours'")
    assert luminance(colours(page)[1]) < 0.05


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_texts_stand_out_from_what_is_behind_them(page, reports, dark):
    """4.5 for text, 3 for marks, as WCAG asks."""
    page.open(reports.plain, dark=dark)
    names = ("ink", "quiet", "accent", "outlier", "lowers", "known", "panel", "paper", "warn", "good")
    found = {}
    for name in names:
        page.script("(document.body.style.outlineColor = `var(--${arguments[0]})`)", name)
        found[name] = page.script("getComputedStyle(document.body).outlineColor")
    for name in ("ink", "quiet", "accent", "outlier"):
        assert contrast(found[name], found["panel"]) >= 4.5, name
        assert contrast(found[name], found["paper"]) >= 4.5, name
    for name in ("warn", "good"):
        assert contrast(found["ink"], found[name]) >= 4.5, name
    for name in ("lowers", "known"):
        assert contrast(found[name], found["panel"]) >= 3, name


def test_a_phone_shows_all_in_its_width(page, reports):
    page.open(reports.plain, width=390)
    for button in page.driver.find_elements("css selector", "#rows tbody tr button")[:2]:
        button.send_keys(Keys.ENTER)
    page.script("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    assert page.script("document.documentElement.scrollWidth") <= 390
    rights = page.script(
        "[...document.querySelectorAll('main *:not(svg *)')].map((e) => e.getBoundingClientRect().right)"
    )
    assert max(rights) <= 390
    assert page.element("#rows th[data-key=score] button").is_displayed()
    assert sort_by(page, "score") == "descending"


def test_the_keyboard_reaches_the_report_first_and_everything_is_named(page, reports):
    page.open(reports.plain)
    page.element("body").send_keys(Keys.TAB)
    assert page.driver.switch_to.active_element.text == "Skip to the report"
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert page.script("document.activeElement.id") == "main"
    assert (
        page.script(
            "[...document.querySelectorAll('button')].filter((b) => !b.textContent.trim() && !b.ariaLabel).length"
        )
        == 0
    )
    for chart in filter(lambda one: one.is_displayed(), page.driver.find_elements("css selector", ".chart")):
        assert chart.get_attribute("role") in ("img", "group")
        assert len(chart.get_attribute("aria-label")) > 40
    assert page.script("document.getElementById('search').labels.length") == 1
    assert page.script("document.querySelectorAll('table').length") == page.script(
        "document.querySelectorAll('table > caption').length"
    )
    ids = page.script("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    ours = [id for id in ids if not re.match(r"(clip|legend|top|g[a-f0-9]|p[a-f0-9]{6}|[a-f0-9]{6})", id)]
    assert len(ours) == len(set(ours))


@pytest.mark.parametrize("screen", [390, 1800])
def test_figures_on_paper_are_as_wide_as_it_whatever_the_screen_is(page, reports, screen):
    widths = """["histogram", "points", "loss"].map((id) => [
        document.querySelector(`#${id} .main-svg`).getBoundingClientRect().width,
        document.getElementById(id).clientWidth])"""
    page.open(reports.plain, width=screen)
    page.script("dispatchEvent(new Event('beforeprint'))")
    drawn_for = (
        "[...document.querySelectorAll('.pair .main-svg, #points .main-svg')].map((e) => e.getAttribute('width'))"
    )
    assert set(page.script(drawn_for)) == {"345", "700"}
    size = {"width": 703, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    page.prefer(False, "print")
    for drawn, room in page.script(widths):
        assert 680 < drawn == pytest.approx(room, abs=1)
    heights = page.script("['histogram', 'points'].map((id) => document.getElementById(id).clientHeight)")
    assert heights == [pytest.approx(703 * 300 / 700, rel=0.03), pytest.approx(703 * 430 / 700, rel=0.03)]
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**size, "width": screen})
    page.prefer(False)
    page.script("dispatchEvent(new Event('afterprint'))")
    page.wait(f"{widths}.every(([drawn, room]) => Math.abs(drawn - room) < 1)")
    assert page.script("document.querySelectorAll('.main-svg[viewBox]').length") == 0


def test_a_document_has_the_width_of_the_page(page, fitted, data, tmp_path):
    texts = ["x" * 50_000, "", *["short"] * 118]
    order = np.argsort(-fitted.outlier_scores_)
    path = fitted.report(data[0], tmp_path / "long.html", texts=[texts[i] for i in np.argsort(order)])
    for width in (1200, 390):
        page.open(path, width=width)
        page.script("document.getElementById('every').click()")
        assert page.texts("#rows .document")[:3] == ["x" * 599 + "…", "(empty)", "short"]
        assert page.script("document.documentElement.scrollWidth") <= width


def test_ids_do_not_break(page, fitted, data, tmp_path):
    page.open(fitted.report(data[0], tmp_path / "ids.html", ids=[f"2026-03-02 host-{i}" for i in range(120)]))
    assert page.script("getComputedStyle(document.querySelector('#rows th.id')).whiteSpace") == "nowrap"
    heights = page.script("[...document.querySelectorAll('#rows th.id')].map((e) => e.scrollHeight <= e.clientHeight)")
    assert all(heights)


def test_documents_without_reasons_are_shown_too(page, data, tmp_path):
    detector = RAMODO(IsolationForest(random_state=0), random_state=0, n_epochs=2).fit(data[0])
    page.open(detector.report(data[0], tmp_path / "long.html", texts=["word " * 200] * 120))
    assert page.texts("#rows .document")[0].endswith("…")
    assert page.texts(".why-button") == []
    assert not page.element("#first").is_displayed()


def test_paper_has_light_colours_and_nothing_folded(page, reports):
    page.open(reports.plain, dark=True)
    page.script(
        """addEventListener("beforeprint", () => { window.seen = [document.documentElement.dataset.theme,
        document.querySelectorAll("details:not([open])").length]; })"""
    )
    printed = page.driver.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})
    assert base64.b64decode(printed["data"]).startswith(b"%PDF")
    assert page.script("window.seen") == ["light", 0]
    page.wait("!document.documentElement.dataset.theme")
    assert page.script("document.querySelectorAll('details[open]').length") == 0
    page.open(reports.plain, width=700, media="print")
    for hidden in ("nav", ".tools", "#theme", "#more"):
        assert not page.element(hidden).is_displayed(), hidden
    assert page.script("getComputedStyle(document.querySelector('#rows tbody tr')).display") == "table-row"
    assert page.script("document.documentElement.scrollWidth") <= 700
