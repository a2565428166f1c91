"""The labelling page on loopback, and what tests need to call it."""

import re
from contextlib import contextmanager

import httpx

from ramodo.triage.pages import app_of
from ramodo.web import Access, Place
from support.loopback import serving

_OPENED = []


@contextmanager
def page_of(session):
    """A real server of a session: its place and its access."""
    place, listening = Place.asked("127.0.0.1", 0).opened()
    access = Access(once=True)
    with serving(app_of(session, place, access), listening):
        try:
            yield place, access
        finally:
            while _OPENED:
                _OPENED.pop().client.close()


class Browser:
    """A client that has visited the link, and sends what the page's script would send."""

    def __init__(self, place, access):
        self.client = httpx.Client(base_url=place.address, follow_redirects=True, headers={"accept": "text/html"})
        _OPENED.append(self)
        first = self.client.get(access.link(place))
        assert first.status_code == 200, first.text
        self.html = first.text
        self.csrf = re.search('name="csrf" content="(.+?)"', first.text)[1]

    def get(self, path, **options):
        return self.client.get(path, **options)

    def post(self, path, body=None, **options):
        headers = {"x-csrf-token": self.csrf, "accept": "application/json", **options.pop("headers", {})}
        return self.client.post(path, json={} if body is None else body, headers=headers, **options)

    @property
    def row(self):
        """The row that the page shows."""
        return int(re.search('data-row="([0-9]*)"', self.get("/").text)[1])
