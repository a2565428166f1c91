"""Where servers listen, and which Host headers they accept."""

import socket

import pytest

from ramodo.options import OptionError
from ramodo.web import Place


@pytest.mark.parametrize("host", ["127.0.0.1", "127.3.2.1", "::1", "localhost"])
def test_this_machine_needs_no_permission(host):
    place = Place.asked(host, 0)
    assert not place.is_remote
    assert place.meaning == ""


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org"])
def test_other_machines_are_let_in_only_where_that_is_meant(host):
    with pytest.raises(OptionError, match=r"which other machines can reach\. If you want that, add --allow-remote"):
        Place.asked(host, 0)
    assert "travel unencrypted" in Place.asked(host, 0, allow_remote=True).meaning


@pytest.mark.parametrize("port", [-1, 65536])
def test_ports_are_checked(port):
    with pytest.raises(OptionError, match="--port must be from 0"):
        Place.asked("127.0.0.1", port)


def test_it_listens_where_it_says():
    place, listening = Place.asked("127.0.0.1", 0).opened()
    with listening:
        assert listening.getsockname() == ("127.0.0.1", place.port)
        assert place.address == f"http://127.0.0.1:{place.port}"
        with pytest.raises(
            OptionError, match=f"--port {place.port} must be an address of this machine and a free port, got: "
        ):
            place.opened()
    with pytest.raises(OptionError, match="must be an address of this machine"):
        Place("no.such.name.invalid", 0).opened()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_answers_are_sent_at_once(host):
    """With Nagle's algorithm the second answer on a connection waits 40 ms for the client to acknowledge the first."""
    place, listening = Place.asked(host, 0).opened()
    with listening, socket.create_connection((host, place.port)), listening.accept()[0] as accepted:
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
def test_addresses_for_browsers():
    assert Place("::1", 80).address == "http://[::1]:80"
    assert Place("0.0.0.0", 80).address == "http://127.0.0.1:80"
    assert Place("::", 80).address == "http://[::1]:80"


@pytest.mark.parametrize(
    ("header", "local", "remote"),
    [
        ("127.0.0.1:8000", True, True),
        ("127.0.0.1", True, True),
        ("localhost:8000", True, True),
        ("LOCALHOST", True, True),
        ("[::1]:8000", True, True),
        ("10.0.0.7:8000", False, True),  # an address is no name that could be bound to us
        ("evil.example:8000", False, False),
        ("127.0.0.1.evil.example", False, False),
        ("localhost.evil.example", False, False),
        ("scorer:8000", False, True),  # as it was told
        ("", False, False),
        ("[::1", False, False),
        ("[::1]evil:1", False, False),
        ("127.0.0.1:80@evil.example", False, False),
    ],
)
def test_host_headers(header, local, remote):
    assert Place("127.0.0.1", 8000).allows(header) == local
    assert Place.asked("0.0.0.0", 8000, allow_remote=True, names=("Scorer",)).allows(header) == remote
