"""What a reader sees and does, in a real browser."""

import re

import pytest
from report_pages import EVIL, hover, payload_of, report_of_lacks, sort_by

pytest.importorskip("selenium", reason="the package selenium is not installed: no test of reports in a browser")
from selenium.webdriver.common.keys import Keys

from ramodo import Consensus
from ramodo.terminal.escaping import escape_controls


def test_the_page_works_from_disk_and_asks_for_nothing(page, reports):
    page.open(reports.plain)
    assert page.log() == []
    assert page.requests() == [reports.plain.as_uri()]
    assert page.script("performance.getEntriesByType('resource').length") == 0
    assert page.driver.title == "Some mail"
    assert page.texts("h1") == ["Some mail"]
    assert page.script("document.querySelectorAll('.main-svg').length") >= 10


def test_each_section_has_a_heading_a_link_and_content(page, reports):
    page.open(reports.plain)
    links = page.script("[...document.querySelectorAll('nav a')].map((a) => a.getAttribute('href'))")
    sections = page.script("[...document.querySelectorAll('main > section:not([hidden])')].map((s) => '#' + s.id)")
    assert links == sections
    assert "#labels" in links
    for section in sections:
        assert len(page.element(section).text) > 40
        assert page.element(section).is_displayed()


def test_a_table_is_sorted_both_ways_by_keyboard(page, reports):
    page.open(reports.plain)
    rows = payload_of(reports.plain)["table"]["rows"]
    assert len(rows) > 25
    assert page.ids() == [row["id"] for row in rows][:25]
    assert page.script("document.querySelectorAll('#rows th[aria-sort]').length") == 1
    page.element("#more").send_keys(Keys.ENTER)
    assert sort_by(page, "score") == "descending"
    assert page.ids() == [row["id"] for row in rows]
    assert sort_by(page, "score") == "ascending"
    assert page.ids() == [row["id"] for row in rows][::-1]
    assert sort_by(page, "id") == "ascending"
    by_number = sorted((row["id"] for row in rows), key=lambda id: int(id.removeprefix("mail-")))
    assert page.ids() == by_number
    assert sort_by(page, "id") == "descending"
    assert page.ids() == by_number[::-1]
    assert page.script("document.querySelectorAll('#rows th[aria-sort]').length") == 1


def test_search_filters_and_says_so(page, reports):
    page.open(reports.plain)
    rows, box, status = payload_of(reports.plain)["table"]["rows"], page.element("#search"), page.element("#matches")
    assert status.get_attribute("aria-live") == "polite"
    assert status.text == f"{len(rows)} rows; the first 25 are shown"
    wanted = rows[7]["id"]
    box.send_keys(wanted.upper())
    assert page.ids() == [wanted]
    assert status.text == f"1 of {len(rows)} rows match"
    box.clear()
    box.send_keys("no such thing")
    assert page.ids() == []
    assert status.text == f"0 of {len(rows)} rows match"
    box.clear()
    name = payload_of(reports.plain)["names"][rows[3]["reasons"][0][0]]
    box.send_keys(name)
    assert rows[3]["id"] in page.ids() or "are shown" in status.text


def test_reasons_unfold_with_what_is_typical_and_the_nearest_rows(page, reports):
    page.open(reports.plain)
    content = payload_of(reports.plain)
    row = content["table"]["rows"][0]
    button = page.element("#rows tbody tr button")
    assert button.text.split("\n") == ["All reasons", f"of {row['id']}"]  # the second line is for screen readers
    assert button.get_attribute("aria-expanded") == "false"
    button.send_keys(Keys.ENTER)
    assert button.get_attribute("aria-expanded") == "true"
    text = page.element(f"#{button.get_attribute('aria-controls')}").text
    for name, *_ in row["reasons"]:
        assert content["names"][name] in text
    assert "all other features" in text
    assert re.search(r"in \d.* % of reference rows, mean|in no reference row", text)
    assert f"Nearest reference rows: {', '.join(row['nearest'])}" in text
    button.send_keys(Keys.ENTER)
    assert page.script("document.querySelectorAll('.details').length") == 0


def test_views_are_named_in_the_row_and_all_of_them_where_it_unfolds(page, data, tmp_path):
    X, _ = data
    page.open(Consensus(random_state=0).fit(X).report(X, tmp_path / "report.html"))
    content = payload_of(tmp_path / "report.html")
    views = [content["views"][view] for view, _ in content["table"]["rows"][0]["views"]]
    shown = page.texts("#rows td.reasons .views")[0]
    assert shown.startswith(f"By: {views[0]} ")
    assert f", {views[1]} " in shown
    page.element("#rows tbody tr button").send_keys(Keys.ENTER)
    assert all(view in page.element(".details .views").text for view in views)


def test_one_distance_names_no_views(page, reports):
    page.open(reports.plain)
    assert page.texts(".views") == []


def test_a_command_is_shown_where_there_was_one(page, fitted, data, tmp_path):
    page.open(fitted.report(data[0], tmp_path / "plain.html"))
    assert not page.element("#typed").is_displayed()
    fitted.source_ = {"command": "ramodo detect '<b>my</b> mail.svm'"}
    page.open(fitted.report(data[0], tmp_path / "typed.html"))
    assert page.element("#command").text == "ramodo detect '<b>my</b> mail.svm'"


def test_a_group_narrows_the_table(page, reports):
    page.open(reports.plain)
    content = payload_of(reports.plain)
    assert content["groups"]
    button = page.element(".group-cards button")
    button.send_keys(Keys.ENTER)
    members = [content["table"]["rows"][place]["id"] for place in content["groups"][0]["rows"]]
    assert page.ids() == members[:25]
    assert page.element("#matches").text.startswith(f"{len(members)} of ")
    page.element("#ungroup").click()
    assert len(page.ids()) == 25
    assert not page.element("#ungroup").is_displayed()


def test_a_point_of_the_map_tells_its_id_score_and_reasons(page, reports):
    page.open(reports.plain)
    content = payload_of(reports.plain)
    row = content["table"]["rows"][0]
    text = hover(page, 0)
    assert row["id"] in text
    assert f"score {row['score']:.4g}" in text
    for name, *_ in row["reasons"][:3]:
        assert content["names"][name] in text


def test_what_rows_lack_is_said_wherever_it_is_a_reason(page, fitted, data, tmp_path):
    page.open(report_of_lacks(fitted, data[0], tmp_path / "report.html"))
    for place in ("#rows td.reasons", "#drivers", ".group-cards"):
        names = page.texts(f"{place} .reason-name")
        assert names[:2] == ["lacks 'the'", "zq"], place
    assert page.texts("#rows td.reasons .reason-value")[:2] == ["", "= 2"]
    for place in ("#drivers", ".group-cards"):
        assert page.texts(f"{place} .count") == ["strong in 20 of 20", "strong in 20 of 20", "strong in none"]
    assert "can be among those of none" in page.element("#drivers").text
    assert "in single quotes" in page.element("#notation").text
    text = hover(page, 0)
    assert "lacks 'the'" in text
    assert "zq = 2" in text
    page.element("#rows tbody tr button").send_keys(Keys.ENTER)
    assert page.texts(".details th[scope=row]") == ["lacks 'the'", "zq", "all other features"]
    page.element("#search").send_keys("lacks 'the'")
    assert len(page.ids()) == 20


def test_what_looks_like_html_stays_text(page, reports):
    page.open(reports.evil)
    first = payload_of(reports.evil)["table"]["rows"][0]
    assert EVIL[:40] in first["id"]
    shown = page.script("document.querySelector('#rows tbody th').textContent")
    assert shown == first["id"]
    assert first["text"] in page.element("#rows tbody td.text").get_property("textContent")
    assert page.element("h1").get_property("textContent") == escape_controls(EVIL)
    assert page.driver.title.startswith("<b>a</b><script>window.hit=1</script>")
    page.element("#rows tbody tr button").send_keys(Keys.ENTER)
    assert "<b>a</b><script>window.hit=1</script><img" in page.element(".details").text
    assert hover(page, 0).count("<b>a</b><script>window.hit=1</script>") == 6  # its id and five reasons
    page.element(".group-cards button").send_keys(Keys.ENTER)
    page.element("#search").send_keys("<b>a</b><script>")
    assert page.script("typeof window.hit") == "undefined"
    assert page.script("document.querySelectorAll('main img, main script, main b, svg a, svg image').length") == 0
    assert page.requests() == [reports.evil.as_uri()]


def test_200_000_rows_stay_small_and_quick_to_use(page, large, capsys):
    assert large.stat().st_size < 6_000_000
    page.open(large)
    content = payload_of(large)
    assert sum(content["histogram"]["counts"]) == 200_000
    assert len(content["table"]["rows"]) == 500
    assert len(content["map"]["x"]) <= 5000
    assert "4,000 drawn at random" in page.element("#map figcaption").text
    assert page.texts("#rows td.percentile")[0] == "99.999"
    page.element("#more").click()
    assert len(page.ids()) == 500
    seconds = page.script(
        """(() => { const before = performance.now();
        document.querySelector("#rows th[data-key=id] button").click(); document.body.offsetHeight;
        return (performance.now() - before) / 1000; })()"""
    )
    assert page.ids() == sorted(row["id"] for row in content["table"]["rows"])
    page.element("#search").send_keys(content["table"]["rows"][123]["id"][:6])
    assert content["table"]["rows"][123]["id"] in page.ids()
    assert content["table"]["rows"][0]["id"][:6] in hover(page, 0)
    assert page.script("document.querySelectorAll('*').length") < 60_000
    with capsys.disabled():
        print(f"\n500 rows of a report on 200,000 sorted and laid out in {seconds:.2f} s")
