"""The addresses of `ramodo serve`.

POST /score?reasons=3   rows in, scores out: JSON, or an Arrow IPC stream by its content type
GET  /model             what rows the model takes, and its threshold
GET  /metrics           for Prometheus
GET  /healthz           whether the server is up; the only one that needs no token
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from functools import partial

import anyio.to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .. import __version__
from ..data.validation import DataError
from ..formats import FormatError
from ..options import OptionError
from ..terminal.escaping import escape_controls
from .metrics import CONTENT_TYPE, Metrics
from .requests import ARROW, JSON, Answer, answer_of
from .saved_model import SavedModel

OPEN_PATHS = ("/healthz",)
PATHS = ("/score", "/model", "/metrics", "/healthz")

REFUSED = (FormatError, DataError, OptionError, MemoryError)
"""Scoring errors that the client can fix; all others are the server's fault."""

_TYPES = (JSON, ARROW)
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_LONG = 1 << 16
"""Requests of at least this many bytes use all threads, one at a time; shorter ones are scored side by side."""


class Service:
    """Scores rows with a model, and counts requests.

    quick : the model for short requests, which use one thread each
    long : the same model for long requests, which use all threads, one at a time
    """

    def __init__(self, quick: SavedModel, long: SavedModel, n_threads: int) -> None:
        self._quick, self._long = quick, long
        self._n_threads = n_threads
        self.metrics = Metrics()

    def routes(self) -> list[Route]:
        """Return the routes. anyio's limiters belong to the running event loop, so they are created on first use."""
        lanes: dict[bool, anyio.CapacityLimiter] = {}

        async def score(request: Request) -> Response:
            reasons, media_type = _reasons(request), _media_type(request)
            body = await request.body()
            is_long = len(body) >= _LONG
            if is_long not in lanes:
                lanes[is_long] = anyio.CapacityLimiter(1 if is_long else self._n_threads)
            model = self._long if is_long else self._quick
            started = time.perf_counter()
            found = await _answered(partial(answer_of, model, body, media_type, reasons), lanes[is_long])
            self.metrics.scored(found.rows, found.flagged, time.perf_counter() - started)
            return Response(found.body, media_type=found.media_type)

        handlers: list[tuple[str, Callable[[Request], Awaitable[Response]], str]] = [
            ("/score", score, "POST"),
            ("/model", self._describe, "GET"),
            ("/metrics", self._metrics_page, "GET"),
            ("/healthz", _health, "GET"),
        ]
        known = [Route(path, handler, methods=[method]) for path, handler, method in handlers]
        return [*known, Route("/{path:path}", _unknown, methods=_METHODS)]

    async def _describe(self, request: Request) -> Response:
        model = self._quick
        said = {"ramodo": __version__, "fingerprint": model.fingerprint, "threshold": model.threshold}
        return JSONResponse({**said, **model.reading.described()})

    async def _metrics_page(self, request: Request) -> Response:
        return Response(self.metrics.page(), headers={"content-type": CONTENT_TYPE})


async def _answered(scoring: Callable[[], Answer], lane: anyio.CapacityLimiter) -> Answer:
    """Score in a thread, so that the server can answer other requests meanwhile."""
    try:
        return await anyio.to_thread.run_sync(scoring, limiter=lane)
    except MemoryError:
        raise HTTPException(413, "Not enough memory for these rows. Send fewer at a time.") from None
    except REFUSED as error:
        row = getattr(error, "row", None)  # a FormatError about one row has it
        detail = {"message": str(error)} | ({} if row is None else {"row": row})
        raise HTTPException(422, detail) from None  # type: ignore[arg-type]


async def _unknown(request: Request) -> Response:
    path = escape_controls(request.url.path[:60])
    status = 405 if request.url.path in PATHS else 404
    allowed = f"POST /score, GET {', '.join(PATHS[1:])}"
    raise HTTPException(status, f"The address must be one of {allowed}, got {request.method} {path}.")


async def _health(request: Request) -> Response:
    return JSONResponse({"status": "ok"})


def _reasons(request: Request) -> int:
    given = request.query_params.get("reasons", "0")
    if not (given.isascii() and given.isdigit() and int(given[:5]) <= 1000 and len(given) < 5):
        raise HTTPException(422, f"reasons must be an integer from 0 to 1000, got {given[:20]}.")
    return int(given)


def _media_type(request: Request) -> str:
    given = request.headers.get("content-type", JSON).partition(";")[0].strip().lower()
    if given not in _TYPES:
        raise HTTPException(415, f"Content-Type must be {' or '.join(_TYPES)}, got {given[:60]}.")
    return given


class Counted:
    """Counts every answer, including those of other layers. Unknown paths are counted together."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                path = scope["path"]
                self.metrics.answered(path if path in PATHS else "other", message["status"])
            await send(message)

        await self.app(scope, receive, watched)
