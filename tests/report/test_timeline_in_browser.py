"""The timeline of a log in a browser: zoomed by keys, by buttons and by mouse."""

import re
from datetime import datetime

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from ramodo import Consensus
from ramodo.formats import read
from ramodo.report import write_table_report
from support.burst_log import SCANNER, burst_log


@pytest.fixture(scope="module")
def log_report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("timeline")
    lines, _ = burst_log(600, 40, at=300)
    (folder / "access.log").write_text("\n".join(lines) + "\n")
    table = read(str(folder / "access.log"))
    detector = Consensus(copies="root", cutoff=0.05, random_state=0).fit(table, groups=table.sessions.of_line)
    return write_table_report(detector, table, folder / "access.html")


def test_keys_buttons_and_the_mouse_zoom(page, log_report):
    page.open(log_report)
    driver = page.driver
    figure, span = (driver.find_element(By.ID, name) for name in ("over", "span"))
    said = [span.text]

    def changed(by):
        by()
        WebDriverWait(driver, 20).until(lambda _: span.text != said[-1])
        said.append(span.text)

    everything = said[0]
    assert everything.endswith(": 640 lines")
    for key in ("+", "+", Keys.ARROW_RIGHT, "-", "0"):
        changed(lambda key=key: figure.send_keys(key))
    assert said[-1] == everything
    changed(driver.find_element(By.CSS_SELECTOR, "[data-zoom=in]").click)
    changed(driver.find_element(By.CSS_SELECTOR, "[data-zoom=all]").click)
    assert said[-1] == everything
    begin, end = (datetime.fromisoformat(time) for time in re.findall(r"\d{4}-\S+ [\d:]{8}", everything))
    wanted = {"xaxis.range[0]": str(begin + (end - begin) / 4), "xaxis.range[1]": str(begin + (end - begin) / 2)}
    changed(lambda: driver.execute_script("Plotly.relayout('over', arguments[0])", wanted))
    assert abs(datetime.fromisoformat(said[-1][:19]) - (begin + (end - begin) / 4)) < (end - begin) / 50
    assert f"40 lines of {SCANNER}" in driver.find_element(By.ID, "over-time").text


def test_a_report_of_other_rows_has_no_timeline(page, reports):
    page.open(reports.plain)
    assert not page.driver.find_element(By.ID, "timeline").is_displayed()
