"""Hosts, headers, limits and errors, against a real server."""

import logging
import socket
from contextlib import closing

import httpx
import pytest
from small_server import small_server

from ramodo.web import SafeHeaders

LIMIT = 1000


@pytest.fixture(scope="module")
def server():
    with small_server(max_body=LIMIT) as (client, access, place):
        client.headers["authorization"] = f"Bearer {access.token}"
        yield client, access, place


@pytest.fixture
def client(server):
    return server[0]


def raw(place, request):
    """What the server answers to these bytes."""
    with closing(socket.create_connection((place.host, place.port), timeout=10)) as connection:
        connection.sendall(request)
        found = b""
        while piece := connection.recv(65536):
            found += piece
        return found.decode()


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "10.0.0.1"])
def test_other_hosts_are_refused_even_with_the_token(client, host):
    found = client.get("/", headers={"host": host})
    assert found.status_code == 400
    assert "does not name this server" in found.json()["error"]["message"]


def test_no_host_and_two_hosts_are_refused(server):
    *_, place = server
    assert raw(place, b"GET / HTTP/1.0\r\n\r\n").startswith("HTTP/1.1 400")
    twice = f"GET / HTTP/1.1\r\nHost: {place.host}\r\nHost: {place.host}\r\nConnection: close\r\n\r\n"
    assert raw(place, twice.encode()).startswith("HTTP/1.1 400")


def test_a_name_that_was_told_is_a_host():
    with small_server("0.0.0.0", allow_remote=True, names=("scorer",)) as (client, access, _):
        headers = {"authorization": f"Bearer {access.token}"}
        assert client.get("/", headers={**headers, "host": "scorer:80"}).status_code == 200
        found = client.get("/", headers={**headers, "host": "other:80"})
        assert found.status_code == 400
        assert "--name other" in found.json()["error"]["message"]


def test_websockets_are_refused(server):
    *_, place = server
    asked = (
        "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    assert "101" not in raw(place, asked.encode()).splitlines()[0]


@pytest.mark.parametrize("path", ["/", "/healthz", "/fail", "/nowhere", "/refuse"])
def test_all_answers_have_the_headers(client, path):
    found = client.get(path).headers
    policy = found["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert found["x-content-type-options"] == "nosniff"
    assert found["x-frame-options"] == "DENY"
    assert found["referrer-policy"] == "no-referrer"
    assert found["cache-control"] == ("max-age=1" if path == "/healthz" else "no-store")
    assert "server" not in found


def test_refusals_of_other_layers_have_the_headers(server):
    *_, place = server
    found = httpx.get(place.address)
    assert found.status_code == 401
    assert found.headers["x-content-type-options"] == "nosniff"


def test_a_policy_may_be_changed_but_not_to_inline_scripts():
    with small_server(policy={"worker-src": "'self'"}) as (client, *_):
        assert "worker-src 'self'" in client.get("/healthz").headers["content-security-policy"]
    with pytest.raises(ValueError, match="must not allow inline scripts"):
        SafeHeaders(None, {"script-src": "'self' 'unsafe-inline'"})


def test_bodies_up_to_the_limit(client):
    assert client.post("/change", content=b"x" * LIMIT).json() == {"got": LIMIT}
    found = client.post("/change", content=b"x" * (LIMIT + 1))
    assert found.status_code == 413
    assert "at most 1000" in found.json()["error"]["message"]


def test_a_body_without_length_is_cut_at_the_limit(client):
    assert client.post("/change", content=iter([b"x" * 400] * 2)).json() == {"got": 800}
    found = client.post("/change", content=iter([b"x" * 400] * 3))
    assert found.status_code == 413
    assert "at most 1000 bytes, got more" in found.json()["error"]["message"]


def test_a_declared_length_is_refused_before_the_body_comes(server):
    _, access, place = server
    asked = (
        f"POST /change HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {access.token}\r\n"
        f"Content-Length: {10**12}\r\n\r\n"
    )
    assert raw(place, asked.encode()).startswith("HTTP/1.1 413")


def test_a_client_that_sends_all_before_it_reads_gets_the_answer(client):
    """Closed at once, its connection would be reset, and the answer lost."""
    for _ in range(5):
        assert client.post("/change", content=b"x" * 3_000_000).status_code == 413
        assert client.post("/change", content=iter([b"x" * 300_000] * 10)).status_code == 413


def test_a_client_that_waits_for_our_word_is_not_asked_for_its_body(server):
    _, access, place = server
    asked = (
        f"POST /change HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {access.token}\r\n"
        f"Content-Length: {LIMIT + 1}\r\nExpect: 100-continue\r\n\r\n"
    )
    assert raw(place, asked.encode()).startswith("HTTP/1.1 413")


def test_failures_say_nothing_of_the_inside(client, caplog):
    with caplog.at_level(logging.ERROR, "ramodo.web"):
        found = client.get("/fail")
    assert found.status_code == 500
    assert "secret" not in found.text
    assert "Traceback" not in found.text
    reference = found.json()["error"]["message"].rsplit(" ", 1)[1].rstrip(".")
    assert reference in caplog.text
    assert "RuntimeError: a secret of the inside" in caplog.text


def test_errors_are_json_for_programs(client):
    assert client.get("/refuse").json() == {"error": {"status": 422, "message": "Row 3 was given.", "row": 3}}
    assert client.get("/nowhere").json() == {"error": {"status": 404, "message": "Not Found."}}
    assert client.get("/change").json()["error"]["status"] == 405


def test_errors_are_pages_for_browsers(client):
    found = client.get("/<script>", headers={"accept": "text/html,*/*"})
    assert found.status_code == 404
    assert found.headers["content-type"] == "text/html; charset=utf-8"
    assert "<h1>404 Not Found</h1>" in found.text
    page = client.get("/", headers={"accept": "text/html", "host": "<script>alert(1)</script>"})
    assert "<script>" not in page.text


def test_no_secret_in_logs(server, caplog, capfd):
    client, access, place = server
    with caplog.at_level(logging.DEBUG):
        client.get("/")
        client.get("/fail?token=wrong-" + access.token)
        client.get("/fail?password=hidden")
        httpx.get(access.link(place))
        raw(place, b"NONSENSE " + access.token.encode() + b"\r\n\r\n")
    logged = "\n".join(
        record.getMessage() for record in caplog.records if not record.name.startswith(("http", "hpack"))
    )
    said = logged + "".join(capfd.readouterr())
    assert "GET /fail failed" in said
    assert access.token not in said
    assert "hidden" not in said
