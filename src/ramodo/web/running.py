"""Runs an application until it is told to stop."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

GRACE = 10
"""Seconds that requests have to end, once the server is told to stop."""


def run(app: ASGIApp, listening: socket.socket, started: Callable[[], None] | None = None) -> None:
    """Serve until Ctrl-C or SIGTERM: then no new connections are taken, and open requests are answered.

    listening : from `Place.opened`
    started : called when requests are answered
    """
    server = server_of(app, started)
    with _stopping(server):
        server.run(sockets=[listening])


def server_of(app: ASGIApp, started: Callable[[], None] | None = None) -> uvicorn.Server:
    """uvicorn's server, with no access log, which would have tokens in it, and no trust in headers of proxies."""
    config = uvicorn.Config(
        app,
        log_config=None,
        log_level="warning",
        access_log=False,
        ws="none",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE,
    )
    return _Server(config, started)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, started: Callable[[], None] | None) -> None:
        super().__init__(config)
        self._told = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and self._told is not None:
            await asyncio.to_thread(self._told)  # which may open a browser


@contextmanager
def _stopping(server: uvicorn.Server) -> Iterator[None]:
    """Signals stop the server, which is how it ends; uvicorn would raise them again once it has stopped."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        server.should_exit = True

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
