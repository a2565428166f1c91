"""Turns errors into answers: JSON for programs, a page for browsers, never a traceback."""

from __future__ import annotations

import html
import logging
import secrets
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..terminal.escaping import escape_controls

log = logging.getLogger("ramodo.web")

PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<link rel="icon" href="data:,"></head>
<body><h1>{title}</h1><p>{message}</p></body></html>
"""


class CleanErrors:
    """Answers 500 if the application fails, with a reference to the log entry that has the details."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except HTTPException as error:
            if started:
                raise
            await _response_of_error(scope, error)(scope, receive, send)
        except Exception:
            reference = secrets.token_hex(4)
            path = escape_controls(scope["path"])  # without the query, which may contain a token
            log.exception("%s %s failed, reference %s", scope["method"], path, reference)
            if started:
                raise  # too late to answer: the server cuts the connection
            message = f"The server failed; this is not your fault. Its log has the details under reference {reference}."
            await answer(scope, receive, send, 500, message)


async def answer(
    scope: Scope, receive: Receive, send: Send, status: int, message: str, headers: Mapping[str, str] | None = None
) -> None:
    """Send an error from a middleware."""
    await response_of(scope, status, {"message": message}, headers)(scope, receive, send)


async def on_http_error(request: Request, error: Exception) -> Response:
    """Handle `HTTPException` for starlette, whether it or we raised it."""
    assert isinstance(error, HTTPException)
    return _response_of_error(request.scope, error)


def _response_of_error(scope: Scope, error: HTTPException) -> Response:
    said: Any = error.detail
    detail = dict(said) if isinstance(said, Mapping) else {"message": _sentence(str(said))}
    return response_of(scope, error.status_code, detail, error.headers)


def response_of(
    scope: Scope, status: int, detail: Mapping[str, Any], headers: Mapping[str, str] | None = None
) -> Response:
    """Return `{"error": detail}` with the status, or a page with the message for a browser that asks for one."""
    if "text/html" in Headers(scope=scope).get("accept", ""):
        title = f"{status} {HTTPStatus(status).phrase}"
        page = PAGE.format(title=html.escape(title), message=html.escape(str(detail["message"])))
        return HTMLResponse(page, status, headers)
    return JSONResponse({"error": {"status": status, **detail}}, status, headers)


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
