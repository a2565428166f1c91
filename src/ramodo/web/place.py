"""Where a server listens: on this machine only, unless the user allows more."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass, field, replace
from typing import Self

from ..options import OptionError

LOCAL_NAMES = ("localhost",)
"""Names by which a browser on this machine may call a server on it."""


@dataclass(frozen=True)
class Place:
    """A host, a port, and the names by which clients may call it.

    port : 0 for any free port; `opened` returns which
    names : further host names by which clients may call the server
    """

    host: str = "127.0.0.1"
    port: int = 0
    names: tuple[str, ...] = field(default=())

    @classmethod
    def asked(cls, host: str, port: int, *, allow_remote: bool = False, names: tuple[str, ...] = ()) -> Self:
        """Return the place that a user asked for; raise `OptionError` if others can reach it without `allow_remote`."""
        place = cls(host, port, tuple(name.lower() for name in names))
        if not 0 <= port <= 65535:
            raise OptionError(f"--port must be from 0 (any free port) to 65535, got {port}.")
        if place.is_remote and not allow_remote:
            raise OptionError(
                f"--host must be an address of this machine only, such as 127.0.0.1, got {host}, which other machines "
                "can reach. If you want that, add --allow-remote."
            )
        return place

    @property
    def is_remote(self) -> bool:
        """Whether other machines can reach it."""
        return not _is_loopback(self.host)

    @property
    def address(self) -> str:
        """The server's URL for a browser on this machine."""
        host = self.host
        if _is_any(host):
            host = "::1" if ":" in host else "127.0.0.1"
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    @property
    def meaning(self) -> str:
        """A warning to print about what `--allow-remote` means; empty for a place on this machine."""
        if not self.is_remote:
            return ""
        return (
            f"Listening on {self.host}: every machine that can reach this one can talk to this server, and anyone "
            "with the token can use it. Token, data and answers travel unencrypted: outside a network that you trust, "
            "put a proxy with TLS in front."
        )

    def allows(self, host: str) -> bool:
        """Return whether a Host header names this server.

        In DNS rebinding, a page from elsewhere reaches this server under the name of the page's own server. So names
        must be known. Addresses are fine; without remote access, only those of this machine.
        """
        name = _without_port(host)
        if name is None:
            return False
        if name in (*LOCAL_NAMES, self.host.lower(), *self.names):
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return self.is_remote or address.is_loopback

    def opened(self) -> tuple[Self, socket.socket]:
        """Return the place with its actual port, and a listening socket."""
        try:
            family = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)[0][0]
            listening = socket.create_server((self.host, self.port), family=family, backlog=2048)
        except OSError as error:
            reason = error.strerror or str(error)
            raise OptionError(
                f"--host {self.host} --port {self.port} must be an address of this machine and a free port, got: "
                f"{reason}. --port 0 takes any free port."
            ) from None
        # Nagle's algorithm delays answers by 40 ms. asyncio turns it off only for sockets that name their protocol,
        # which create_server's do not; accepted connections inherit the option.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return replace(self, port=listening.getsockname()[1]), listening


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() in LOCAL_NAMES


def _is_any(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def _without_port(host: str) -> str | None:
    """Return the name or address in a Host header, in lower case; None if the header is malformed."""
    if host.startswith("["):
        name, bracket, rest = host[1:].partition("]")
        return name.lower() if bracket and (not rest or (rest[1:].isdigit() and rest[0] == ":")) else None
    name, colon, port = host.partition(":")
    return name.lower() if name and (not colon or port.isdigit()) else None
