"""Where a server listens: on this machine alone, unless its user asks for more."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass, field, replace
from typing import Self

from ..options import OptionError

LOCAL_NAMES = ("localhost",)
"""Names, besides addresses, by which a browser on this machine may call a server on it."""


@dataclass(frozen=True)
class Place:
    """A host, a port, and the names by which clients may call it.

    port : 0 for one that is free; `opened` knows which
    names : further values of the Host header, for servers behind a name
    """

    host: str = "127.0.0.1"
    port: int = 0
    names: tuple[str, ...] = field(default=())

    @classmethod
    def asked(cls, host: str, port: int, *, allow_remote: bool = False, names: tuple[str, ...] = ()) -> Self:
        """The place that a user asks for; raises `OptionError` for one that others reach, if that was not allowed."""
        place = cls(host, port, tuple(name.lower() for name in names))
        if not 0 <= port <= 65535:
            raise OptionError(f"--port {port} was given; allowed: 0 (any free port) to 65535.")
        if place.is_remote and not allow_remote:
            raise OptionError(
                f"--host {host} was given, which other machines can reach; allowed: 127.0.0.1, or --allow-remote as "
                "well, if that is meant."
            )
        return place

    @property
    def is_remote(self) -> bool:
        """Whether other machines can reach it."""
        return not _is_loopback(self.host)

    @property
    def address(self) -> str:
        """For a browser on this machine."""
        host = self.host
        if _is_any(host):
            host = "::1" if ":" in host else "127.0.0.1"
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    @property
    def meaning(self) -> str:
        """What `--allow-remote` means, to be printed; nothing for a place on this machine."""
        if not self.is_remote:
            return ""
        return (
            f"Listening on {self.host}: every machine that reaches this one can talk to this server, and whoever has "
            "the token can use it. Token, data and answers travel unencrypted: outside a network that you trust, put "
            "a proxy with TLS in front."
        )

    def allows(self, host: str) -> bool:
        """Whether a Host header names this server.

        DNS rebinding, by which a page elsewhere gets at a server here, comes with the name of that page's server. So
        names must be known; addresses are fine, here only those of this machine.
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
        """A listening socket, and the place with the port that it got."""
        try:
            family = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)[0][0]
            listening = socket.create_server((self.host, self.port), family=family, backlog=2048)
        except OSError as error:
            reason = error.strerror or str(error)
            raise OptionError(
                f"--host {self.host} --port {self.port} was given, and cannot be listened on: {reason}; allowed: an "
                "address of this machine and a port that nobody else uses. --port 0 takes any free one."
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
    """The name or address of a Host header, in lower case; None if it is neither."""
    if host.startswith("["):
        name, bracket, rest = host[1:].partition("]")
        return name.lower() if bracket and (not rest or (rest[1:].isdigit() and rest[0] == ":")) else None
    name, colon, port = host.partition(":")
    return name.lower() if name and (not colon or port.isdigit()) else None
