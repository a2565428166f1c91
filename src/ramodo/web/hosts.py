"""Refuses requests whose Host header does not name this server, and websockets."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from .errors import answer
from .place import Place


class KnownHosts:
    """Refuses requests for another host: a page whose name was rebound to this machine sends such (DNS rebinding)."""

    def __init__(self, app: ASGIApp, place: Place) -> None:
        self.app, self.place = app, place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] == "http":
            hosts = Headers(scope=scope).getlist("host")
            if len(hosts) != 1 or not self.place.allows(hosts[0]):
                said = "The Host header does not name this server. Use the address that it printed"
                known = (
                    f", or start it with --name {hosts[0].partition(':')[0]}" if self.place.is_remote and hosts else ""
                )
                await answer(scope, receive, send, 400, f"{said}{known}.")
                return
        await self.app(scope, receive, send)
