"""Put the layers of a server together."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from .access import Access, LetIn
from .bodies import MAX_BODY, BodyLimit
from .errors import CleanErrors, on_http_error
from .headers import SafeHeaders
from .hosts import KnownHosts
from .place import Place


def application(
    routes: Sequence[BaseRoute],
    place: Place,
    access: Access,
    *,
    open_paths: Collection[str] = (),
    max_body: int = MAX_BODY,
    policy: Mapping[str, str] | None = None,
    lifespan: Any = None,
) -> Starlette:
    """Return an application that serves starlette routes behind all layers.

    open_paths : paths that need no token
    max_body : maximum bytes of a request's body
    policy : directives that override those of our content-security-policy
    lifespan : starlette's lifespan handler, for what starts and ends with the server
    """
    layers = [
        Middleware(SafeHeaders, policy=policy),
        Middleware(CleanErrors),
        Middleware(KnownHosts, place=place),
        Middleware(BodyLimit, max_bytes=max_body),
        Middleware(LetIn, access=access, place=place, open_paths=open_paths),
    ]
    handlers = {HTTPException: on_http_error}
    return Starlette(routes=list(routes), middleware=layers, exception_handlers=handlers, lifespan=lifespan)
