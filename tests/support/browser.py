"""Debian's browser, for tests of pages."""

import shutil

import pytest

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--window-size=1200,900",
)


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver", reason="the package selenium is not installed")
    from selenium.webdriver.chrome.service import Service

    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not chromedriver:
        pytest.skip("no browser: install Debian's chromium and chromium-driver to test reports in it")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('browser')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options=options, service=Service(chromedriver))
    started.get("about:blank")  # it starts with a page of its own, which asks for much
    yield started
    started.quit()
