"""Bodies beyond a limit are refused before they are read."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .errors import answer

MAX_BODY = 64 << 20
"""Bytes of a body, unless told otherwise."""


class BodyLimit:
    """Answers 413 to bodies of more than `max_bytes`: by the length they declare, or once that much has come."""

    def __init__(self, app: ASGIApp, max_bytes: int = MAX_BODY) -> None:
        self.app, self.max_bytes = app, max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        declared = Headers(scope=scope).get("content-length", "0")
        if not declared.isdigit() or int(declared) > self.max_bytes:
            said = f"The body has {declared} bytes; allowed: at most {self.max_bytes}. Send fewer rows at a time."
            await answer(scope, receive, send, 413, said, {"connection": "close"})
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

        await self.app(scope, limited, send)
