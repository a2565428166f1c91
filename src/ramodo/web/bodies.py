"""Bodies beyond a limit are refused before they are read."""

from __future__ import annotations

import anyio
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .errors import answer

MAX_BODY = 64 << 20
"""Bytes of a body, unless told otherwise."""

_DISCARDED, _PATIENCE = 4 << 20, 2.0
"""Bytes and seconds of a refused body that are thrown away: most clients read no answer until they have sent it."""


class BodyLimit:
    """Answers 413 to bodies of more than `max_bytes`: by the length they declare, or once that much has come."""

    def __init__(self, app: ASGIApp, max_bytes: int = MAX_BODY) -> None:
        self.app, self.max_bytes = app, max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        declared = headers.get("content-length", "0")
        if not declared.isdigit() or int(declared) > self.max_bytes:
            said = f"The body has {declared} bytes; allowed: at most {self.max_bytes}. Send fewer rows at a time."
            waits = "expect" in headers  # for our word, before it sends anything
            patient = send if waits else _patient(receive, send)
            await answer(scope, receive, patient, 413, said, {"connection": "close"})
            return
        read = 0

        async def limited() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self.max_bytes:
                said = f"The body has more than {self.max_bytes} bytes, which is the limit. Send fewer rows at a time."
                raise HTTPException(413, said, {"connection": "close"})
            return message

        async def answering(message: Message) -> None:
            await (_patient(receive, send) if read > self.max_bytes else send)(message)

        await self.app(scope, limited, answering)


def _patient(receive: Receive, send: Send) -> Send:
    """Sends an answer, and ends it only after the client has sent some more: a reset would take the answer with it."""

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
