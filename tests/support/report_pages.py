"""What tests of the report share: its data, and a page in the browser."""

import json
import re

import numpy as np

from ramodo.explain.explanation import Explanation, Reason, RowExplanation, Strongest
from ramodo.report import write_report

EVIL = '<b>a</b><script>window.hit=1</script><img src=x onerror="window.hit=2"></script>&lt;b&gt;\u2028\'"&amp;'


def payload_of(path):
    """The data in a report."""
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])


def report_of_lacks(detector, X, path):
    """A report whose rows are high because they have “zq” and do not have 'the'; 'he ' is no row's own reason."""
    names = {3: "'the'", 4: "zq", 5: "'he '"}
    beyond = Strongest(np.array([3, 4, 5]), np.array([1.5, 1.0, 0.1]), np.array([0.0, 2.0, 0.0]))

    def explain(rows):
        reasons = (
            Reason(column=3, feature=names[3], value=0.0, contribution=1.5, share=0.9, mean=2.0),
            Reason(column=4, feature=names[4], value=2.0, contribution=1.0, share=0.0, mean=0.0),
        )
        made = [
            RowExplanation(row=i, score=3.0, percentile=99.0, reasons=reasons, rest=0.5, nearest=())
            for i in range(len(rows))
        ]
        totals = [(3, 1.5 * len(made)), (4, 1.0 * len(made)), (5, 0.1 * len(made))]
        return Explanation(made, totals, [beyond] * len(made), names.__getitem__)

    return write_report(detector, X, path, texts=["zq"] * X.shape[0], explain=explain)


class Page:
    """A page in the browser, as a reader has it."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, path, *, width=1200, dark=False, media=""):
        self.driver.get_log("browser")
        self.driver.get_log("performance")
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.prefer(dark, media)
        self.driver.get(path.as_uri())
        self.wait("document.documentElement.dataset.ready === 'yes'")
        return self

    def prefer(self, dark, media=""):
        wishes = {"prefers-color-scheme": "dark" if dark else "light", "prefers-reduced-motion": "reduce"}
        features = [{"name": name, "value": value} for name, value in wishes.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})

    def script(self, text, *arguments):
        return self.driver.execute_script(f"return {text}", *arguments)

    def wait(self, condition):
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.driver, 60, 0.05).until(lambda _: self.script(condition))

    def element(self, selector):
        return self.driver.find_element("css selector", selector)

    def texts(self, selector):
        return self.script("[...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector)

    def ids(self):
        """Of the rows that the table shows."""
        return self.texts("#rows tbody > tr:not(.details) > th.id")

    def log(self):
        """What the console holds."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Addresses that were asked for, but for those inside the page, and by the browser's own pages."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        sent = [m["params"] for m in messages if m["method"] == "Network.requestWillBeSent"]
        found = [one["request"]["url"] for one in sent if not one["documentURL"].startswith("chrome:")]
        return [url for url in found if not url.startswith("data:")]


def sort_by(page, key):
    """By keyboard: the header's button has the focus, and Enter is pressed."""
    from selenium.webdriver.common.keys import Keys

    page.script(f"document.querySelector('#rows th[data-key={key}] button').focus()")
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    return page.script(f"document.querySelector('#rows th[data-key={key}]').getAttribute('aria-sort')")


def hover(page, place):
    """The mouse over the point of the row at this place of the table; what appears there."""
    from selenium.webdriver.common.action_chains import ActionChains

    page.element("#points").location_once_scrolled_into_view  # noqa: B018 - it scrolls
    spot = page.script(
        """(() => {
        const all = JSON.parse(document.getElementById("data").textContent).map;
        const i = all.places.indexOf(arguments[0]);
        const chart = document.getElementById("points"), box = chart.getBoundingClientRect();
        const { xaxis, yaxis } = chart._fullLayout;
        return [box.x + xaxis._offset + xaxis.l2p(all.x[i]), box.y + yaxis._offset + yaxis.l2p(all.y[i])];
        }).apply(null, arguments)""",
        place,
    )
    action = ActionChains(page.driver)
    for step in (3, 0):
        action.w3c_actions.pointer_action.move_to_location(round(spot[0]) + step, round(spot[1]))
    action.perform()
    page.wait("document.querySelector('#points .hoverlayer .hovertext')")
    return page.script(
        "[...document.querySelectorAll('#points .hoverlayer .hovertext text')].map((e) => e.textContent).join(' ')"
    )
