"""A small web server for files, with Range and If-Range, that can be told to misbehave."""

import hashlib
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CONTENT = bytes(range(256)) * 40
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class FileServer:
    """Serves `files` by name; what it was asked for is in `requests`.

    cut_after : bytes after which it hangs up, once for each item, in order
    said_length : what it says as Content-Length, true or not
    unasked : answers with this status and a Content-Range, whether a range was asked for or not
    range_ends : a range ends there, before the file does, once for each item
    never_ends : sends chunks until the other side has had enough
    """

    def __init__(self):
        self.files, self.requests, self.cut_after = {}, [], []
        self.knows_range = self.has_versions = self.keeps_if_range = True
        self.weak_tags = self.says_no_length = self.is_chunked = False
        self.wrong_range, self.stalls, self.status, self.redirect = None, 0.0, [], None
        self.said_length, self.unasked, self.never_ends, self.range_ends = None, None, False, None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def ranges(self):
        """What was asked for in each request: the first byte, or None for all."""
        return [headers.get("Range") for _, headers in self.requests]

    def _handler(self):
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                self.close_connection = True
                owner.requests.append((self.path, dict(self.headers)))
                owner._answer(self, self.path.rsplit("/", 1)[-1])

        return Handler

    def _answer(self, handler, name):
        if self.status:
            return self._plain(handler, self.status.pop(0))
        if self.redirect:
            return self._plain(handler, 302, Location=f"{self.redirect}/{name}")
        if name not in self.files:
            return self._plain(handler, 404)
        content, tag = self.files[name], f'"{hashlib.sha256(self.files[name]).hexdigest()[:16]}"'
        begin = self._begin(handler.headers, tag)
        if begin is not None and begin >= len(content):
            return self._plain(handler, 416, **{"Content-Range": f"bytes */{len(content)}"})
        if begin is not None and self.range_ends:
            content = content[: self.range_ends.pop(0)]
        handler.send_response(self.unasked or (200 if begin is None else 206))
        if begin is not None or self.unasked:
            whole = len(self.files[name])
            given = self.wrong_range or f"bytes {begin or 0}-{len(content) - 1}/{whole}"
            handler.send_header("Content-Range", given)
        if self.has_versions:
            handler.send_header("ETag", f"W/{tag}" if self.weak_tags else tag)
            handler.send_header("Last-Modified", "Mon, 01 Jan 2024 00:00:00 GMT")
        self._send(handler, content[begin or 0 :])

    def _begin(self, headers, tag):
        asked = re.fullmatch(r"bytes=(\d+)-", headers.get("Range", ""))
        if asked is None or not self.knows_range:
            return None
        if self.keeps_if_range and headers.get("If-Range") not in (tag, "Mon, 01 Jan 2024 00:00:00 GMT"):
            return None
        return int(asked[1])

    def _send(self, handler, body):
        if self.never_ends:
            return self._send_for_ever(handler)
        if self.is_chunked:
            handler.send_header("Transfer-Encoding", "chunked")
        elif not self.says_no_length:
            handler.send_header("Content-Length", self.said_length or str(len(body)))
        handler.send_header("Connection", "close")
        handler.end_headers()
        cut = self.cut_after.pop(0) if self.cut_after else None
        if self.is_chunked:
            pieces = [body[i : i + 700] for i in range(0, len(body), 700)]
            body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in [*pieces, b""])
        handler.wfile.write(body[:cut])
        handler.wfile.flush()
        if cut is not None and self.stalls:
            time.sleep(self.stalls)

    def _send_for_ever(self, handler):
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        try:
            while True:
                handler.wfile.write(b"400\r\n" + bytes(1024) + b"\r\n")
        except OSError:  # who asked has gone
            pass

    @staticmethod
    def _plain(handler, status, **headers):
        handler.send_response(status)
        for name, value in {"Content-Length": "0", "Connection": "close", **headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
