"""Headers that keep a browser from doing anything with our answers except showing them."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}
"""The content-security-policy: our own files only, no inline scripts or styles, no framing."""

HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",  # for browsers that do not know frame-ancestors
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class SafeHeaders:
    """Adds the headers to every answer, except those that the application sets itself.

    policy : directives that override those of `POLICY`
    """

    def __init__(self, app: ASGIApp, policy: Mapping[str, str] | None = None) -> None:
        self.app = app
        directives = {**POLICY, **(policy or {})}
        inline = [name for name in ("default-src", "script-src") if "'unsafe-" in directives[name]]
        if inline:
            raise ValueError(
                f"{inline[0]} must not allow inline scripts, got {directives[inline[0]]}. Put them in files."
            )
        said = "; ".join(f"{name} {sources}" for name, sources in directives.items())
        self.headers = {"content-security-policy": said, **HEADERS}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, with_headers if scope["type"] == "http" else send)
