"""Runs an application until a signal stops it."""

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
"""Seconds that open requests have to finish once the server is stopping."""


def run(app: ASGIApp, listening: socket.socket, started: Callable[[], None] | None = None) -> None:
    """Serve until Ctrl-C or SIGTERM, then refuse new connections and answer open requests.

    listening : from `Place.opened`
    started : called once the server answers requests
    """
    server = server_of(app, started)
    with _stopping(server):
        server.run(sockets=[listening])


def server_of(app: ASGIApp, started: Callable[[], None] | None = None) -> uvicorn.Server:
    """Return uvicorn's server, without an access log, which would contain tokens, or trust in proxy headers."""
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
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and self._started is not None:
            await asyncio.to_thread(self._started)  # which may open a browser


@contextmanager
def _stopping(server: uvicorn.Server) -> Iterator[None]:
    """Let signals stop the server; uvicorn would raise them again after stopping."""
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
