"""A small server behind all layers, with a route of each kind."""

from contextlib import contextmanager

import httpx
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse
from starlette.routing import Route

from ramodo.web import Access, Place, application, csrf_of
from support.loopback import serving


async def _page(request):
    return HTMLResponse(f'<meta name="csrf" content="{csrf_of(request)}">')


async def _change(request):
    return JSONResponse({"got": len(await request.body())})


async def _fail(request):
    raise RuntimeError("a secret of the inside")


async def _refuse(request):
    raise HTTPException(422, {"message": "Row 3 was given.", "row": 3})


async def _health(request):
    return PlainTextResponse("ok", headers={"cache-control": "max-age=1"})


ROUTES = [
    Route("/", _page),
    Route("/change", _change, methods=["POST"]),
    Route("/fail", _fail),
    Route("/refuse", _refuse),
    Route("/healthz", _health),
]


@contextmanager
def small_server(host="127.0.0.1", **options):
    """A server with one route of each kind: its client, its access and its place."""
    asked = {name: options.pop(name) for name in ("names", "allow_remote") if name in options}
    access = options.pop("access", None) or Access()
    place, listening = Place.asked(host, 0, **asked).opened()
    app = application(ROUTES, place, access, open_paths=["/healthz"], **options)
    with serving(app, listening), httpx.Client(base_url=place.address) as client:
        yield client, access, place
