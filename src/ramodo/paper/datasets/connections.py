"""Connections for downloads: https, or http if a checksum can tell whether the bytes are the right ones.

Every redirect is held to the same rules before it is followed.
"""

from __future__ import annotations

import urllib.request
from typing import Any
from urllib.parse import urlsplit

from ... import __version__
from .checksums import DownloadError

TIMEOUT = 60.0
"""Seconds without a byte after which a connection counts as broken."""

_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


class RefusedError(Exception):
    """A server's answer is unacceptable, and asking again would not help."""


def open_address(address: str, begin: int, version: str, *, is_known: bool) -> Any:
    """Return the answer to a request for the bytes from `begin` to the end, of the same version.

    `is_known` says whether there is a checksum to compare the answer with.
    """
    if not address.startswith(("http://", "https://")):
        raise DownloadError(f"the address must begin with http:// or https://, got {address!r}.")
    _refuse_open_line(address, is_known)
    headers = {"User-Agent": f"ramodo/{__version__}", "Accept-Encoding": "identity"}
    if begin:
        headers |= {"Range": f"bytes={begin}-", "If-Range": version}
    opener = urllib.request.build_opener(_Redirects(is_known))
    return opener.open(urllib.request.Request(address, headers=headers), timeout=TIMEOUT)


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to http and https only, and never from an encrypted connection to an open one.

    urllib itself refuses schemes other than http, https and ftp.
    """

    def __init__(self, is_known: bool) -> None:
        self._is_known = is_known

    def redirect_request(
        self, request: urllib.request.Request, answer: Any, code: int, text: str, headers: Any, new: str
    ) -> urllib.request.Request | None:
        """Follow a redirect like urllib, if the address is allowed."""
        try:
            self._refuse(request.type, new)
        except RefusedError:
            answer.close()
            raise
        return super().redirect_request(request, answer, code, text, headers, new)

    def _refuse(self, given: str, new: str) -> None:
        scheme = urlsplit(new).scheme
        if scheme not in ("http", "https"):
            raise RefusedError(f"the server must lead to http:// or https://, got {new!r}")
        if given == "https" and scheme == "http":
            raise RefusedError(f"the server must lead to https://, got {new!r}, which is not encrypted")
        _refuse_open_line(new, self._is_known)


def _refuse_open_line(address: str, is_known: bool) -> None:
    """Anyone in between can alter what comes over http, which a checksum reveals; this machine itself is safe."""
    parts = urlsplit(address)
    if parts.scheme == "http" and not is_known and parts.hostname not in _THIS_MACHINE:
        raise RefusedError(
            f"the address must be https://, since no checksum of the file is known, got {address}, which is not "
            "encrypted"
        )
