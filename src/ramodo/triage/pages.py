"""The labelling page: each handler calls the session and renders a page or a part of one."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Callable
from http import HTTPStatus
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from ..data.validation import DataError
from ..formats import FormatError
from ..formats.compression import is_packed
from ..options import OptionError
from ..web import Access, Place, application, csrf_of
from ..web.errors import on_http_error
from .queues import QUEUES
from .session import NAMES, TriageSession
from .store_file import StoreError

MAX_BODY = 8 << 20
"""How many bytes a file of labels from a browser may have."""

EXPORTS = {
    "labels.csv": "a line for each labelled row; ramodo detect --labels reads it",
    "history.csv": "every label and undo, with time, analyst and model",
    "ranking.csv": "all rows as the current model ranks them, with labels",
    "model.ramodo": "the current model, for ramodo score",
    "report.html": "a report that also lists the labels",
}

_STATIC = {
    "page.css": ("ramodo.report", "text/css"),
    "triage.css": ("ramodo.triage", "text/css"),
    "triage.js": ("ramodo.triage", "text/javascript"),
}
"""Files that a browser may load, with their packages; no other name reaches the file system."""

_HEAD = 64
"""How many bytes tell whether a file is compressed."""

_SHORT = 60
_MOST_KINDS = 20


class Pages:
    """The handlers of one session."""

    def __init__(self, session: TriageSession, place: Place) -> None:
        self.session, self._cookie = session, f"ramodo-browser-{place.port}"
        self._browsers: dict[str, str] = {}
        self._pages = Environment(loader=PackageLoader("ramodo.triage"), autoescape=True, trim_blocks=True)

    def routes(self) -> list[Route]:
        """Return the addresses of all pages and actions."""
        changes: dict[str, Callable[[Any, str], dict[str, Any]]] = {
            "/label": self._label,
            "/move": self._move,
            "/go": self._go,
            "/undo": self._undo,
            "/queue": self._queue,
            "/refit": self._refit,
            "/back": self._back,
            "/search": self._search,
            "/kinds/label": self._label_kind,
        }
        return [
            Route("/", self._page(self._queue_page)),
            Route("/kinds", self._page(self._kinds_page)),
            Route("/kinds/{version:int}/{number:int}", self._page(self._kind_page)),
            Route("/changes", self._page(self._changes_page)),
            Route("/summary", self._page(self._summary_page)),
            Route("/files", self._page(self._files_page)),
            Route("/live", self._live),
            Route("/export/{name}", self._export),
            Route("/static/{name}", self._static),
            Route("/import", self._import, methods=["POST"]),
            Route("/name", self._name, methods=["POST"]),
            *[Route(path, self._change(does), methods=["POST"]) for path, does in changes.items()],
        ]

    # ---- who ------------------------------------------------------------------------------------------------------

    def _who(self, request: Request) -> str:
        """Return the analyst at a browser: the first is the session's, others are numbered until they give a name."""
        browser = request.cookies.get(self._cookie, "")
        return self._browsers.get(browser, self.session.who)

    def _known(self, request: Request) -> tuple[str, str]:
        """Return the browser's cookie and its analyst's name, both made up for a new browser."""
        browser = request.cookies.get(self._cookie, "")
        if browser not in self._browsers:
            browser, n = secrets.token_urlsafe(16), len(self._browsers)
            self._browsers[browser] = self.session.who if n == 0 else f"{self.session.who} {n + 1}"
        return browser, self._browsers[browser]

    async def _name(self, request: Request) -> Response:
        given = await _body(request)
        name, browser = str(given.get("name", "")), request.cookies.get(self._cookie, "")
        with _refused():
            self.session.analyst(name)
        if browser in self._browsers:
            self._browsers[browser] = name.strip()
        return JSONResponse({"reload": "/", "said": f"You are {name.strip()}."})

    # ---- pages ----------------------------------------------------------------------------------------------------

    def _page(self, content: Callable[[Request, str], tuple[str, dict[str, Any]]]) -> Callable[[Request], Response]:
        def handle(request: Request) -> Response:
            browser, who = self._known(request)
            with _refused():
                name, values = content(request, who)
                values |= {"who": who, "csrf": csrf_of(request), "here": request.url.path}
                response = HTMLResponse(self._rendered(name, **values))
            response.set_cookie(self._cookie, browser, httponly=True, samesite="strict", path="/")
            return response

        return handle

    async def refusal(self, request: Request, error: Exception) -> Response:
        """Return the error of a request; a browser gets a page that leads back."""
        assert isinstance(error, HTTPException)
        if "text/html" not in request.headers.get("accept", ""):
            return await on_http_error(request, error)
        said = "There is no such page." if error.detail == HTTPStatus.NOT_FOUND.phrase else error.detail
        values = {"who": self._who(request), "csrf": csrf_of(request), "here": "", "said": said}
        return HTMLResponse(self._rendered("error.html", **values), error.status_code)

    def _rendered(self, template: str, **values: Any) -> str:
        common = {"session": self.session, "names": NAMES, "id_of": self.session.id_of}
        return self._pages.get_template(template).render(**common, **values)

    def _card(self, row: int | None, who: str) -> dict[str, Any]:
        """What the template of a card needs."""
        analyst = self.session.analyst(who)
        card = None if row is None else self.session.card(row)
        return {"card": card, "queue": QUEUES[analyst.queue]}

    def _queue_page(self, request: Request, who: str) -> tuple[str, dict[str, Any]]:
        asked = request.query_params.get("row", "")
        analyst = self.session.analyst(who)
        if asked.isdigit():
            row: int | None = self.session.go_to(int(asked), who)
        else:
            row = self.session.next(who) if analyst.row is None else analyst.row
        return "queue.html", {**self._card(row, who), "queues": QUEUES.values()}

    def _kinds_page(self, request: Request, who: str) -> tuple[str, dict[str, Any]]:
        return "kinds.html", {"kinds": self.session.kinds()[:_MOST_KINDS], "kind": None}

    def _kind_page(self, request: Request, who: str) -> tuple[str, dict[str, Any]]:
        kind = self.session.kind(request.path_params["version"], request.path_params["number"])
        cards = [self.session.card(row) for row in kind.shown]
        return "kinds.html", {"kind": kind, "cards": cards, "largest": _largest(d.contribution for d in kind.drivers)}

    def _changes_page(self, request: Request, who: str) -> tuple[str, dict[str, Any]]:
        found = self.session.changes()
        largest = 0.0 if found is None else _largest(one.change for one in (*found.gained, *found.lost))
        return "changes.html", {"changes": found, "versions": self.session.versions(), "largest": largest}

    def _summary_page(self, request: Request, who: str) -> tuple[str, dict[str, Any]]:
        summary = self.session.summary()
        return "summary.html", {"summary": summary, "most": max((one.n_labels for one in summary.over_time), default=0)}

    def _files_page(self, request: Request, who: str) -> tuple[str, dict[str, Any]]:
        return "files.html", {"exports": EXPORTS}

    # ---- changes --------------------------------------------------------------------------------------------------

    def _change(self, does: Callable[[Any, str], dict[str, Any]]) -> Callable[[Request], Any]:
        async def handle(request: Request) -> Response:
            given, who = await _body(request), self._who(request)

            def answer() -> dict[str, Any]:
                with _refused():
                    return does(given, who)

            return JSONResponse(await run_in_threadpool(answer))

        return handle

    def _shown(self, row: int | None, who: str, said: str) -> dict[str, Any]:
        card = self._rendered("card.html", **self._card(row, who))
        coming = "" if row is None else f" Next: {self._short(row)}."
        return {
            "card": card,
            "live": self._rendered("live.html"),
            "problems": self._rendered("problems.html"),
            "said": said + coming,
        }

    def _short(self, row: int) -> str:
        id = self.session.id_of(row)
        return id if len(id) <= _SHORT else f"{id[: _SHORT - 1]}…"

    def _label(self, given: Any, who: str) -> dict[str, Any]:
        row, label = _number(given, "row"), _number(given, "label")
        following = self.session.label(row, label, who)
        return self._shown(following, who, f"{self._short(row)} is labelled {NAMES[label]}.")

    def _move(self, given: Any, who: str) -> dict[str, Any]:
        return self._shown(self.session.move(1 if _number(given, "step") > 0 else -1, who), who, "")

    def _go(self, given: Any, who: str) -> dict[str, Any]:
        return self._shown(self.session.go_to(_number(given, "row"), who), who, "")

    def _undo(self, given: Any, who: str) -> dict[str, Any]:
        rows = self.session.undo(who)
        said = f"Undone: {len(rows)} label{'s' * (len(rows) > 1)}." if rows else "There is nothing to undo."
        return self._shown(self.session.analyst(who).row, who, said)

    def _queue(self, given: Any, who: str) -> dict[str, Any]:
        self.session.choose(str(given.get("queue", "")), who)
        return self._shown(self.session.next(who), who, QUEUES[self.session.analyst(who).queue].purpose)

    def _refit(self, given: Any, who: str) -> dict[str, Any]:
        self.session.refit()
        return {"live": self._rendered("live.html"), "said": "Learning from the labels."}

    def _back(self, given: Any, who: str) -> dict[str, Any]:
        self.session.go_back(_number(given, "version"))
        self.session.wait(30)
        return {"reload": "/changes", "said": f"Going back to model {given['version']}."}

    def _search(self, given: Any, who: str) -> dict[str, Any]:
        rows = self.session.search(str(given.get("text", ""))[:200])
        found = self._rendered("found.html", rows=[(row, self._short(row), self.session.text_of(row)) for row in rows])
        return {"found": found, "said": f"{len(rows)} rows found."}

    def _label_kind(self, given: Any, who: str) -> dict[str, Any]:
        kind = self.session.kind(_number(given, "version"), _number(given, "number"))
        self.session.label_kind(kind, _number(given, "label"), who)
        return {"reload": "/kinds"}

    # ---- files ----------------------------------------------------------------------------------------------------

    def _live(self, request: Request) -> Response:
        with _refused():
            return JSONResponse({"live": self._rendered("live.html"), "problems": self._rendered("problems.html")})

    def _static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _STATIC:
            raise HTTPException(404, "There is no such file.")
        package, kind = _STATIC[name]
        folder = resources.files(package)
        file = folder / name if package == "ramodo.report" else folder / "static" / name
        return Response(file.read_bytes(), media_type=kind)

    def _export(self, request: Request) -> Response:
        name = request.path_params["name"]
        session = self.session
        writers = {
            "labels.csv": session.export_labels,
            "history.csv": session.export_history,
            "ranking.csv": session.export_ranking,
            "model.ramodo": session.export_model,
            "report.html": session.export_report,
        }
        if name not in writers:
            raise HTTPException(404, f"the file must be one of {', '.join(EXPORTS)}, got {name[:50]!r}.")
        folder = tempfile.TemporaryDirectory()
        with _refused():
            writers[name](Path(folder.name) / name)
        return _Removed(folder, name)

    async def _import(self, request: Request) -> Response:
        body = await request.body()
        if is_packed(body[:_HEAD]):  # a body is limited, and what comes out of it is not
            raise HTTPException(415, "The labels must be a plain table, got a compressed file. Unpack it first.")

        def answer() -> int:
            with tempfile.TemporaryDirectory() as folder, _refused():
                path = Path(folder) / "labels.csv"
                path.write_bytes(body)
                return self.session.import_labels(str(path), self._who(request))

        n = await run_in_threadpool(answer)
        return JSONResponse({"said": f"{n} labels were imported."})


class _Removed(FileResponse):
    """A file that is deleted once it has been sent."""

    def __init__(self, folder: tempfile.TemporaryDirectory[str], name: str) -> None:
        super().__init__(Path(folder.name) / name, filename=name, media_type="application/octet-stream")
        self._folder = folder

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._folder.cleanup()


class _refused:  # noqa: N801 - reads as what it does
    """Turns errors into answers that say what is wrong; labels stay as they were."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, StoreError):
            raise HTTPException(
                503, f"{error}. The label was not stored; earlier labels are safe. Try again."
            ) from None
        if isinstance(error, OptionError | FormatError | DataError):
            raise HTTPException(422, str(error)) from None
        if isinstance(error, OSError):
            raise HTTPException(503, f"{error.strerror or error}. Nothing was changed; labels are safe.") from None


async def _body(request: Request) -> dict[str, Any]:
    try:
        given = await request.json()
    except ValueError:
        given = None
    if not isinstance(given, dict):
        raise HTTPException(422, "The body must be a JSON object.")
    return given


def _number(given: dict[str, Any], name: str) -> int:
    value = given.get(name)
    if type(value) is not int:
        raise HTTPException(422, f"{name} must be an integer, got {str(value)[:50]!r}.")
    return value


def _largest(amounts: Any) -> float:
    return max((abs(amount) for amount in amounts), default=0.0)


def app_of(session: TriageSession, place: Place, access: Access) -> Starlette:
    """Return the web application of a session, with access control, limits and headers."""
    pages = Pages(session, place)
    found = application(pages.routes(), place, access, max_body=MAX_BODY)
    found.add_exception_handler(HTTPException, pages.refusal)
    return found
