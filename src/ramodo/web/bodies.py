"""Refuses bodies over a limit before reading them."""

from __future__ import annotations

import anyio
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .errors import answer

MAX_BODY = 64 << 20
"""Default maximum bytes of a body."""

_DISCARDED, _PATIENCE = 4 << 20, 2.0
"""How much of a refused body to discard, in bytes and seconds: most clients send it all before reading the answer."""


class BodyLimit:
    """Answers 413 to bodies of more than `max_bytes`, by their declared length or once that many bytes have arrived."""

    def __init__(self, app: ASGIApp, max_bytes: int = MAX_BODY) -> None:
        self.app, self.max_bytes = app, max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        declared = headers.get("content-length", "0")
        if not declared.isdigit() or int(declared) > self.max_bytes:
            said = f"The body must have at most {self.max_bytes} bytes, got {declared}. Send fewer rows at a time."
            waits = "expect" in headers  # for our answer before it sends the body
            patient = send if waits else _patient(receive, send)
            await answer(scope, receive, patient, 413, said, {"connection": "close"})
            return
        read = 0

        async def limited() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self.max_bytes:
                said = f"The body must have at most {self.max_bytes} bytes, got more. Send fewer rows at a time."
                raise HTTPException(413, said, {"connection": "close"})
            return message

        async def answering(message: Message) -> None:
            await (_patient(receive, send) if read > self.max_bytes else send)(message)

        await self.app(scope, limited, answering)


def _patient(receive: Receive, send: Send) -> Send:
    """Send an answer, but read more from the client before ending it: a reset would discard the answer."""

    async def sending(message: Message) -> None:
        if message["type"] != "http.response.body" or message.get("more_body"):
            await send(message)
            return
        await send({**message, "more_body": True})
        with anyio.move_on_after(_PATIENCE):
            await _discard(receive)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    return sending


async def _discard(receive: Receive) -> None:
    read = 0
    while read < _DISCARDED:
        message = await receive()
        read += len(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body"):
            return
