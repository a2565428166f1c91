"""What both web servers share: where they listen, who gets in, and what they never reveal.

    place = Place.asked("127.0.0.1", 8000)          # another host needs allow_remote=True; print(place.meaning)
    place, listening = place.opened()               # with the actual port; OptionError if it is taken
    access = Access()                               # a random token; Access(token_of_file(path)) for the user's own
    app = application(routes, place, access)        # starlette routes behind all the layers below
    run(app, listening, started=lambda: print(access.link(place)))

A request passes these layers. Each is an ASGI middleware that also works alone:

    SafeHeaders   content-security-policy without inline script, nosniff, no frames, no referrer, no caching
    CleanErrors   errors are JSON, or a page for browsers, never a traceback; that goes to the log
    KnownHosts    the Host header must name this server: another name suggests DNS rebinding
    BodyLimit     bodies that are too long get 413 before they are read
    LetIn         the token, see below

**Programs** send `Authorization: Bearer TOKEN` with each request. **Browsers** visit `access.link(place)` once, which
has the token in its query. They get a cookie (HttpOnly, SameSite=Strict) and are redirected to the same address without
the token. With `Access(once=True)` a token works for one browser only, and `renewed` is called with the next token.
Requests from a browser that change something (any method but GET and HEAD) must also carry the header `X-CSRF-Token`. A
page gets its value from `csrf_of(request)` and passes it to its scripts in `<meta name="csrf">`. Paths in
`application(..., open_paths=[...])` need no token.

In a handler, raise starlette's `HTTPException(status, "what must hold, what was given")` to answer with that text. Its
`detail` may also be a dict with `message` and further entries for programs.

Nothing here logs queries, headers or bodies. Pages have no inline scripts or styles: serve those as separate files from
the same server.
"""

from __future__ import annotations

from .access import Access, LetIn, csrf_of, token_of_file
from .application import application
from .bodies import BodyLimit
from .errors import CleanErrors
from .headers import POLICY, SafeHeaders
from .hosts import KnownHosts
from .place import Place
from .running import run

__all__ = [
    "Access",
    "BodyLimit",
    "CleanErrors",
    "KnownHosts",
    "LetIn",
    "POLICY",
    "Place",
    "SafeHeaders",
    "application",
    "csrf_of",
    "run",
    "token_of_file",
]
