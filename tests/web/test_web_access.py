"""Tokens, cookies and CSRF tokens, against a real server."""

import hmac
import os
import re
import stat

import httpx
import pytest
from small_server import small_server

from ramodo.options import OptionError
from ramodo.web import Access, token_of_file


@pytest.fixture(scope="module")
def server():
    with small_server() as (client, access, place):
        yield client, access, place


@pytest.fixture
def browser(server):
    """A browser that has visited the link."""
    _, access, place = server
    with httpx.Client(base_url=place.address, headers={"accept": "text/html"}, follow_redirects=True) as client:
        assert client.get(access.link(place)).status_code == 200
        yield client


def csrf(browser):
    return re.search('content="(.+)"', browser.get("/").text)[1]


def bearer(token):
    return {"authorization": f"Bearer {token}"}


def test_nobody_is_let_in_without_a_token(server):
    client, access, _ = server
    for headers in (
        {},
        bearer("x"),
        bearer(access.token[:-1]),
        bearer(access.token + "x"),
        {"authorization": "Basic x"},
    ):
        found = client.get("/", headers=headers)
        assert found.status_code == 401
        assert found.headers["www-authenticate"] == "Bearer"
        assert "Authorization: Bearer TOKEN" in found.json()["error"]["message"]
    assert client.post("/change").status_code == 401
    assert client.get("/", headers={"cookie": "ramodo-1=a.b"}).status_code == 401


def test_programs_come_with_the_token(server):
    client, access, _ = server
    assert client.get("/", headers=bearer(access.token)).status_code == 200
    assert client.post("/change", headers=bearer(access.token), content=b"abc").json() == {"got": 3}


def test_open_paths_need_no_token(server):
    client, *_ = server
    assert client.get("/healthz").text == "ok"
    assert client.get("/healthz/").status_code == 401


def test_a_browser_gets_a_cookie_and_an_address_without_the_token(server):
    client, access, place = server
    found = client.get("/?a=1&token=" + access.token + "&b=%26", follow_redirects=False)
    assert found.status_code == 303
    assert found.headers["location"] == "/?a=1&b=%26"
    cookie = found.headers["set-cookie"]
    assert cookie.startswith(f"ramodo-{place.port}=")
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert access.token not in cookie
    client.cookies.clear()


def test_the_way_back_stays_here(server):
    client, access, _ = server
    found = client.get(f"{client.base_url}//evil.example/a?token={access.token}", follow_redirects=False)
    assert found.headers["location"] == "/evil.example/a"
    client.cookies.clear()


def test_a_wrong_token_gets_no_cookie(server):
    client, *_ = server
    found = client.get("/?token=wrong")
    assert found.status_code == 401
    assert "set-cookie" not in found.headers


def test_a_cookie_opens_pages(browser):
    assert browser.get("/").status_code == 200


def test_a_changed_cookie_opens_nothing(server, browser):
    (name, value), _ = next(iter(browser.cookies.items())), None
    for changed in (value[:-1], "x" + value, value.partition(".")[0], value.partition(".")[2], "."):
        assert httpx.get(browser.base_url, headers={"cookie": f"{name}={changed}"}).status_code == 401


def test_cookies_are_of_one_process():
    cookie = Access("t" * 20).exchanged("t" * 20)
    assert not Access("t" * 20).is_cookie(cookie)


def test_changes_by_cookie_need_the_csrf_token(browser):
    assert browser.post("/change").status_code == 403
    assert browser.post("/change", headers={"x-csrf-token": "wrong"}).status_code == 403
    assert browser.post("/change", headers={"x-csrf-token": csrf(browser)}).status_code == 200


def test_a_csrf_token_is_of_one_cookie(server, browser):
    _, access, place = server
    with httpx.Client(base_url=place.address, follow_redirects=True) as other:
        other.get(access.link(place))
        assert csrf(other) != csrf(browser)
        assert other.post("/change", headers={"x-csrf-token": csrf(browser)}).status_code == 403


def test_changes_come_from_our_own_pages(server, browser):
    _, _, place = server
    right = {"x-csrf-token": csrf(browser)}
    assert browser.post("/change", headers={**right, "origin": place.address}).status_code == 200
    for origin in ("http://evil.example", f"http://localhost:{place.port}", "null"):
        assert browser.post("/change", headers={**right, "origin": origin}).status_code == 403


def test_a_token_for_one_browser():
    renewed = []
    with small_server(access=Access(once=True, renewed=renewed.append)) as (client, access, place):
        link = access.link(place)
        assert client.get("/", headers=bearer(access.token)).status_code == 401
        assert client.head(link).status_code == 401  # a look at the link uses nothing up
        assert client.get(link).status_code == 303
        assert client.get(link).status_code == 303  # the same browser, by its cookie
        client.cookies.clear()
        assert client.get(link).status_code == 401
        assert renewed == [access.token]
        assert client.get(access.link(place)).status_code == 303


def test_tokens_are_compared_in_constant_time(monkeypatch):
    compared = []
    real = hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", lambda *pair: compared.append(pair) or real(*pair))
    access = Access()
    assert access.is_token(access.token)
    assert not access.is_token("é")
    assert not access.is_cookie("a.b")
    assert len(compared) == 3


def test_random_tokens_differ():
    assert Access().token != Access().token
    assert len(Access().token) >= 43


def test_a_token_in_a_file(tmp_path):
    path = tmp_path / "token"
    made = token_of_file(str(path))
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert token_of_file(str(path)) == made == path.read_text().strip()
    path.write_text("a word of mine")
    with pytest.raises(OptionError, match="one word of at least 16 visible ASCII characters, got 14") as refused:
        token_of_file(str(path))
    assert "word of mine" not in str(refused.value)
