"""What every web server of ours shares: where it listens, who is let in, and what it never gives away.

    place = Place.asked("127.0.0.1", 8000)          # another host needs allow_remote=True; print(place.meaning)
    place, listening = place.opened()               # with the port it got; OptionError where that is taken
    access = Access()                               # a random token; Access(token_of_file(path)) for one of the user's
    app = application(routes, place, access)        # starlette routes inside all of the layers below
    run(app, listening, started=lambda: print(access.link(place)))

A request passes these layers, each of which is an ASGI middleware that also works alone:

    SafeHeaders   content-security-policy without inline script, nosniff, no frames, no referrer, no caching
    CleanErrors   what goes wrong is JSON, or a page for browsers, and never a traceback; that goes to the log
    KnownHosts    the Host header must name this server: other names are DNS rebinding
    BodyLimit     longer bodies get 413, before they are read
    LetIn         the token, see below

**Programs** send `Authorization: Bearer TOKEN` with each request. **Browsers** visit `access.link(place)` once, which
has the token in its query: they get a cookie (HttpOnly, SameSite=Strict) and are sent to the same address without the
token. With `Access(once=True)` a token opens one browser only; the next one is given to `renewed`. What a browser
changes (any method but GET and HEAD) must also carry the header `X-CSRF-Token`, whose value a page gets by
`csrf_of(request)`, to be put into a `<meta name="csrf">` for its scripts. Paths in `application(..., open_paths=[...])`
need no token.

In a handler, `raise HTTPException(status, "what was given, what is allowed")` (starlette's) answers with that text; its
`detail` may also be a dict with `message` and more for programs.

Nothing here logs queries, headers or bodies. Pages have no inline scripts or styles: serve them as files of their own,
from the same server.
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
