"""A real browser, and reports to look at in it."""

from types import SimpleNamespace

import pytest

from ramodo import REPEN
from ramodo.datasets import make_ultrahigh
from support.browser import driver  # noqa: F401 - a fixture
from support.examples import with_outliers
from support.report_pages import EVIL, Page


@pytest.fixture
def page(driver):  # noqa: F811 - the fixture
    """A page that left nothing on the console by the end of the test."""
    page = Page(driver)
    yield page
    assert page.log() == []


@pytest.fixture(scope="session")
def reports(tmp_path_factory):
    """plain.html on labelled rows with names, evil.html on rows whose every text is an attack."""
    folder = tmp_path_factory.mktemp("reports")
    X, y = with_outliers(n_rows=300, n_outliers=40)
    detector = REPEN(n_components=6, n_epochs=3, n_subsamples=10, cutoff=0.12, random_state=0).fit(X)
    ids, names = [f"mail-{i}" for i in range(300)], [f"word{j}" for j in range(40)]
    texts = [f"text of mail {i}" for i in range(300)]
    detector.report(X, folder / "plain.html", y=y, ids=ids, names=names, texts=texts, title="Some mail")
    evil = [EVIL + str(i) for i in range(300)]
    detector.report(X, folder / "evil.html", ids=evil, names=evil[:40], texts=evil, title=EVIL)
    return SimpleNamespace(detector=detector, X=X, y=y, plain=folder / "plain.html", evil=folder / "evil.html")


@pytest.fixture(scope="session")
def large(tmp_path_factory):
    """A report on 200,000 rows of whose ids and documents each is as long as a page."""
    path = tmp_path_factory.mktemp("large") / "large.html"
    X, _ = make_ultrahigh(200_000, 20_000, row_length=8, outlier_fraction=0.02, marks_per_outlier=6, random_state=0)
    detector = REPEN(n_epochs=3, random_state=0).fit(X)

    class Long:
        """A page for each row, without the memory."""

        def __len__(self):
            return 200_000

        def __getitem__(self, row):
            return f"{row:06d} " + "<& \u2028é" * 500

    detector.report(X, path, ids=Long(), texts=Long(), names=lambda column: f"{column} " + "<" * 3000)
    return path
