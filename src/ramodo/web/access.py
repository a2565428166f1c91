"""Lets in programs that send the token, and browsers with a cookie that they got for it."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Callable, Collection
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection, Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from ..options import OptionError
from .errors import answer
from .place import Place

SHORTEST = 16
"""Minimum length of a token that a user chooses."""

_HARMLESS = ("GET", "HEAD")
_CSRF = "ramodo.csrf"


class Access:
    """A token, and the cookies handed out for it.

    token : by default a random one
    once : a token lets in one browser, and no programs; then it is replaced
    renewed : called with each replacement
    """

    def __init__(
        self, token: str | None = None, *, once: bool = False, renewed: Callable[[str], None] | None = None
    ) -> None:
        self.token = token or secrets.token_urlsafe(32)
        self.once, self._renewed = once, renewed
        self._key = secrets.token_bytes(32)  # cookies end with the process

    def link(self, place: Place, path: str = "/") -> str:
        """Return the address that a browser must visit first."""
        return f"{place.address}{path}?{urlencode({'token': self.token})}"

    def is_token(self, given: str) -> bool:
        """Compare with the token in constant time."""
        return hmac.compare_digest(given.encode(), self.token.encode())

    def exchanged(self, given: str) -> str | None:
        """Return a cookie for the token; None for any other text."""
        if not self.is_token(given):
            return None
        if self.once:
            self.token = secrets.token_urlsafe(32)
            if self._renewed is not None:
                self._renewed(self.token)
        name = secrets.token_urlsafe(16)
        return f"{name}.{self._sealed('cookie', name)}"

    def is_cookie(self, given: str) -> bool:
        """Return whether we issued this cookie; compares in constant time."""
        name, _, seal = given.partition(".")
        return hmac.compare_digest(seal.encode(), self._sealed("cookie", name).encode())

    def csrf(self, cookie: str) -> str:
        """Return the value that a page must send with each change; only scripts that can read our pages know it."""
        return self._sealed("csrf", cookie)

    def _sealed(self, purpose: str, text: str) -> str:
        return hmac.new(self._key, f"{purpose}:{text}".encode(), hashlib.sha256).hexdigest()


class LetIn:
    """Passes on requests that have the token or a cookie; changes made with a cookie also need the CSRF token.

    open_paths : paths that need no token or cookie
    """

    def __init__(self, app: ASGIApp, access: Access, place: Place, open_paths: Collection[str] = ()) -> None:
        self.app, self.access, self.open_paths = app, access, frozenset(open_paths)
        self.cookie = f"ramodo-{place.port}"  # browsers send a host's cookies to all of its ports

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in self.open_paths:
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        given = request.query_params.get("token")
        if given is not None and request.method == "GET":  # what only looks at a link, with HEAD, uses no token up
            await self._exchange(given, request, receive, send)
        elif self._has_token(request):
            await self.app(scope, receive, send)
        elif self._has_cookie(request):
            await self._with_cookie(request, receive, send)
        else:
            said = (
                "This server needs a token. Browsers: open the address with the token that the server printed. "
                "Programs: send the header Authorization: Bearer TOKEN."
            )
            await answer(scope, receive, send, 401, said, {"www-authenticate": "Bearer"})

    async def _exchange(self, given: str, request: Request, receive: Receive, send: Send) -> None:
        cookie = self.access.exchanged(given)
        if cookie is None and not self._has_cookie(request):  # a used link may be opened again
            said = "This is not the server's token, or it has been used. Open the address that the server printed last."
            await answer(request.scope, receive, send, 401, said, {"www-authenticate": "Bearer"})
            return
        response = RedirectResponse(_without_token(request.scope), 303)
        if cookie is not None:
            response.set_cookie(self.cookie, cookie, httponly=True, samesite="strict", path="/")
        await response(request.scope, receive, send)

    def _has_token(self, request: Request) -> bool:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        return not self.access.once and scheme.lower() == "bearer" and self.access.is_token(token.strip())

    def _has_cookie(self, request: Request) -> bool:
        return self.access.is_cookie(request.cookies.get(self.cookie, ""))

    async def _with_cookie(self, request: Request, receive: Receive, send: Send) -> None:
        csrf = self.access.csrf(request.cookies[self.cookie])
        if request.method not in _HARMLESS:
            given = request.headers.get("x-csrf-token", "")
            if not (hmac.compare_digest(given.encode(), csrf.encode()) and _is_own_page(request.headers)):
                said = "This change did not come from one of the server's own pages. Reload the page and try again."
                await answer(request.scope, receive, send, 403, said)
                return
        await self.app({**request.scope, _CSRF: csrf}, receive, send)


def csrf_of(request: HTTPConnection) -> str:
    """Return the value that this browser must send in the header X-CSRF-Token with each change."""
    return str(request.scope.get(_CSRF, ""))


def token_of_file(path: str) -> str:
    """Return the token in a file. If there is no file, create it with a random token, readable by its owner only."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        with open(path, encoding="utf-8", errors="replace") as file:
            token = file.read(4096).strip()
        if len(token) < SHORTEST or not all("!" <= character <= "~" for character in token):
            raise OptionError(
                f"--token-file must hold one word of at least {SHORTEST} visible ASCII characters, got "
                f"{len(token)} characters in {path}. Give a path that does not exist to have a token made."
            ) from None
        return token
    token = secrets.token_urlsafe(32)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(f"{token}\n")
    return token


def _without_token(scope: Scope) -> str:
    """Return the path and the rest of the query. Leading slashes become one: two would name another server."""
    path = quote("/" + scope["path"].lstrip("/"))
    kept = [(name, value) for name, value in parse_qsl(scope["query_string"].decode("latin-1")) if name != "token"]
    return f"{path}?{urlencode(kept)}" if kept else path


def _is_own_page(headers: Headers) -> bool:
    """Return whether the Origin header, which browsers send with changes, names this server."""
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc == headers.get("host")
