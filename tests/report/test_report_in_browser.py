"""What a reader sees and does, in a real browser."""

import re

import pytest

from support.report_pages import EVIL, hover, payload_of, report_of_lacks, sort_by

pytest.importorskip("selenium", reason="the package selenium is not installed: no test of reports in a browser")
from selenium.webdriver.common.keys import Keys

from ramodo import Consensus
from ramodo.model.provenance import Provenance
from ramodo.terminal.escaping import escape_controls


def every_row(page):
    """Not only the highest of each kind."""
    page.script("document.getElementById('every').click()")


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
    every_row(page)
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
    every_row(page)
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
    button = page.element("#rows tbody tr .why-button")
    assert button.text.split("\n") == ["All reasons", f"of {row['id']}"]  # the second line is for screen readers
    assert button.get_attribute("aria-expanded") == "false"
    button.send_keys(Keys.ENTER)
    assert button.get_attribute("aria-expanded") == "true"
    text = page.element(f"#{button.get_attribute('aria-controls')}").text
    for name, *_ in row["reasons"]:
        assert content["names"][name] in text
    assert "all other features" in text
    assert re.search(r"in \d.* % of reference rows, typically|in no reference row", text)
    assert f"Nearest reference rows: {', '.join(row['nearest'])}" in text
    button.send_keys(Keys.ENTER)
    assert page.script("document.querySelectorAll('.details').length") == 0


def test_views_are_named_where_a_row_unfolds(page, data, tmp_path):
    X, _ = data
    page.open(Consensus(random_state=0).fit(X).report(X, tmp_path / "report.html"))
    content = payload_of(tmp_path / "report.html")
    views = [content["views"][view] for view, _ in content["table"]["rows"][0]["views"]]
    page.element("#rows tbody tr .why-button").send_keys(Keys.ENTER)
    assert all(view in page.element(".details .views").text for view in views)


def test_one_distance_names_no_views(page, reports):
    page.open(reports.plain)
    assert page.texts(".views") == []


def test_a_command_is_shown_where_there_was_one(page, fitted, data, tmp_path):
    page.open(fitted.report(data[0], tmp_path / "plain.html"))
    assert not page.element("#typed").is_displayed()
    fitted.provenance_ = Provenance(command="ramodo detect '<b>my</b> mail.svm'")
    page.open(fitted.report(data[0], tmp_path / "typed.html"))
    assert page.element("#command").text == "ramodo detect '<b>my</b> mail.svm'"


def test_a_group_narrows_the_table(page, reports):
    page.open(reports.plain)
    content = payload_of(reports.plain)
    assert content["groups"]
    button = page.element(".group-cards button")
    button.send_keys(Keys.ENTER)
    ids = [content["table"]["rows"][place]["id"] for place in content["groups"][0]["rows"]]
    assert page.ids() == ids[:25]
    assert page.element("#matches").text.startswith(f"{len(ids)} of ")
    page.element("#ungroup").click()
    assert len(page.ids()) == min(25, len(content["kinds"]))
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
    assert "may be a strong reason for none" in page.element("#drivers").text
    assert "in single quotes" in page.element("#notation").text
    text = hover(page, 0)
    assert "lacks 'the'" in text
    assert "zq = 2" in text
    page.element("#rows tbody tr .why-button").send_keys(Keys.ENTER)
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
    page.element("#rows tbody tr .why-button").send_keys(Keys.ENTER)
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
    n_rows = len(content["table"]["rows"])
    assert 500 <= n_rows <= 530
    assert len(content["map"]["x"]) <= 5000
    assert "4,000 drawn at random" in page.element("#map figcaption").text
    assert page.texts("#rows td.percentile")[0] == "99.999"
    every_row(page)
    page.element("#more").click()
    assert len(page.ids()) == n_rows
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


def test_rows_of_a_kind_are_one_entry_that_opens(page, reports):
    page.open(reports.plain)
    content = payload_of(reports.plain)
    ids = [row["id"] for row in content["table"]["rows"]]
    kinds = content["kinds"]
    assert sum(len(places) for _, places in kinds) == len(ids)
    assert page.ids() == [ids[places[0]] for _, places in kinds][:25]
    number, (n, places) = next((i, kind) for i, kind in enumerate(kinds) if kind[0] > 1)
    button = page.element("#rows .like-button")
    assert button.text.startswith(f"{n} rows like this")
    button.send_keys(Keys.ENTER)
    assert page.ids()[number : number + len(places)] == [ids[place] for place in places]
    page.element("#rows .like-button").send_keys(Keys.ENTER)
    assert page.ids()[number] == ids[places[0]]
    assert len(page.ids()) == min(25, len(kinds))


def test_the_first_screen_says_how_many_and_what_to_look_at(page, reports):
    page.open(reports.plain)
    content = payload_of(reports.plain)
    assert page.texts("#headline") == [content["headline"]]
    assert re.match(r"\d+ of 300 rows are flagged", content["headline"])
    first = page.texts("#first li a")
    assert first == [content["table"]["rows"][places[0]]["id"] for _, places in content["kinds"][:3]]
    page.element("#first li a").click()
    assert page.ids()[0] == first[0]


def test_reasons_are_marked_in_the_document(page, tmp_path):
    from ramodo.explain.naming import explained
    from ramodo.formats import How
    from ramodo.formats.text import as_table
    from ramodo.report import write_report

    texts = [f"GET /page/{i % 7}/index.html HTTP/1.1 200" for i in range(80)] + ["GET /<b>\U0001f600 wget evil.sh</b>"]
    table = as_table(texts, How())
    detector = Consensus(random_state=0).fit(table.X)

    def explain(rows):
        return explained(detector, table, rows, detector.outlier_scores_, 10, enough=True)

    page.open(write_report(detector, table.X, tmp_path / "log.html", texts=texts, explain=explain))
    rows = payload_of(tmp_path / "log.html")["table"]["rows"]
    assert rows[0]["text"] == texts[-1]
    marked = page.script(
        "[...document.querySelector('#rows .document').querySelectorAll('mark')].map((e) => e.textContent)"
    )
    assert marked == [texts[-1][begin:end] for begin, end, _ in rows[0]["marks"]]
    assert "wget" in " ".join(marked)
    assert page.element("#rows .document").get_property("textContent") == texts[-1]
    shape = "document.querySelector('#rows .document > td').clientWidth / document.getElementById('rows').clientWidth"
    assert page.script(shape) > 0.95
