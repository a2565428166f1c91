"""The addresses of `ramodo serve`.

POST /score?reasons=3   rows in, scores out: JSON, or an Arrow IPC stream by its content type
GET  /model             what rows the model takes, and its threshold
GET  /metrics           for Prometheus
GET  /drift             how the rows scored last differ from the training rows
POST /reload            opens the model's file again; the old model serves until the new one is open
GET  /healthz           whether the server is up; the only one that needs no token
"""

from __future__ import annotations

import threading
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
from ..model.saved import ModelFileError
from ..options import OptionError
from ..terminal.escaping import escape_controls
from .metrics import CONTENT_TYPE, Metrics
from .requests import ARROW, JSON, Answer, answer_of
from .saved_model import SavedModel

OPEN_PATHS = ("/healthz",)
PATHS = ("/score", "/reload", "/model", "/drift", "/metrics", "/healthz")

REFUSED = (FormatError, DataError, OptionError, MemoryError)
"""Scoring errors that the client can fix; all others are the server's fault."""

_TYPES = (JSON, ARROW)
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_LONG = 1 << 16
"""Requests of at least this many bytes use all threads, one at a time; shorter ones are scored side by side."""


class Service:
    """Scores rows with a model, and counts requests.

    path : of the model
    say : called with what a person who watches the server should know
    """

    def __init__(self, path: str, n_threads: int, say: Callable[[str], object] = str) -> None:
        self._path, self._n_threads, self._say = path, n_threads, say
        self._reloading = threading.Lock()
        self.metrics = Metrics()
        self._open()

    def _open(self, again: bool = False) -> None:
        """Use the model that is in the file now. Requests that are being answered keep theirs."""
        quick, long = SavedModel(self._path), SavedModel(self._path, n_jobs=self._n_threads)
        if quick.identity != long.identity:
            raise ModelFileError(f"{self._path} was replaced while it was opened; try again.")
        long.recent = quick.recent
        self._models = {False: quick, True: long}  # one for short requests, which use one thread each, and one for long
        self.metrics.uses(quick.identity, again)

    def reload(self) -> dict[str, str]:
        """Open the file again, and say which model it holds; the old model stays in use if that fails."""
        with self._reloading:
            self._open(again=True)
            self._say(f"model {self._models[False].identity['checksum']} is in use now")
            return self._models[False].identity

    def reload_on_signal(self) -> None:
        """The same in the background, as a signal asks for; a failure is said."""

        def reload() -> None:
            try:
                self.reload()
            except (ModelFileError, OSError, MemoryError) as error:
                self._say(f"the model was not replaced: {error}")

        threading.Thread(target=reload, daemon=True).start()

    def routes(self) -> list[Route]:
        """Return the routes. anyio's limiters belong to the running event loop, so they are created on first use."""
        lanes: dict[bool, anyio.CapacityLimiter] = {}

        async def score(request: Request) -> Response:
            reasons, media_type = _reasons(request), _media_type(request)
            body = await request.body()
            is_long = len(body) >= _LONG
            if is_long not in lanes:
                lanes[is_long] = anyio.CapacityLimiter(1 if is_long else self._n_threads)
            model = self._models[is_long]
            started = time.perf_counter()
            found = await _answered(partial(answer_of, model, body, media_type, reasons), lanes[is_long])
            self.metrics.scored(found.rows, found.flagged, time.perf_counter() - started)
            headers = {"ramodo-model": model.identity["checksum"]}
            return Response(found.body, media_type=found.media_type, headers=headers)

        handlers: list[tuple[str, Callable[[Request], Awaitable[Response]], str]] = [
            ("/score", score, "POST"),
            ("/reload", self._reload, "POST"),
            ("/model", self._describe, "GET"),
            ("/drift", self._drift, "GET"),
            ("/metrics", self._metrics_page, "GET"),
            ("/healthz", _health, "GET"),
        ]
        known = [Route(path, handler, methods=[method]) for path, handler, method in handlers]
        return [*known, Route("/{path:path}", _unknown, methods=_METHODS)]

    async def _describe(self, request: Request) -> Response:
        model = self._models[False]
        said = {"ramodo": __version__, "data_fingerprint": model.fingerprint, "threshold": model.threshold}
        return JSONResponse({"model": model.identity, **said, **model.reading.described()})

    async def _reload(self, request: Request) -> Response:
        try:
            return JSONResponse({"model": await anyio.to_thread.run_sync(self.reload)})
        except (ModelFileError, OSError, MemoryError) as error:
            raise HTTPException(409, f"The model was not replaced: {error}") from None

    async def _drift(self, request: Request) -> Response:
        model = self._models[False]
        found = await anyio.to_thread.run_sync(model.drift)
        said = {"drift": None} if found is None else {**found.to_dict(), "words": found.sentences()}
        return JSONResponse({"model": model.identity, **said})

    async def _metrics_page(self, request: Request) -> Response:
        self.metrics.compared(await anyio.to_thread.run_sync(self._models[False].drift))
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
    allowed = f"POST {', '.join(PATHS[:2])}, GET {', '.join(PATHS[2:])}"
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
