"""Recognise packing and encoding by the first bytes of a file: gzip and others, a byte-order mark, UTF-16.

The content decides, since standard input has no suffix, and users should not have to know.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
from typing import IO, Any

from ..extras import pip_install
from .table import FormatError

COMPRESSED = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zst": None}

_PACKINGS = {
    ".gz": b"\x1f\x8b\x08",
    ".bz2": b"BZh",
    ".xz": b"\xfd7zXZ\x00",
    ".zst": b"\x28\xb5\x2f\xfd",
}
"""First bytes of each packing; in bz2, a block with the digits of pi follows."""

_PI, _BZ2_HEAD = b"1AY&SY", 10

_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
"""Byte-order marks. That of UTF-32 begins with that of UTF-16, so it comes first."""

MOST_GROWTH, ALWAYS_ALLOWED = 1000, 1 << 28
"""Maximum factor by which a packed file may grow, and the size that any may reach; more would fill the memory."""

_LONGEST = max(_BZ2_HEAD, *map(len, _PACKINGS.values()), *map(len, _MARKS))


def is_plain(head: bytes) -> bool:
    """Return whether these first bytes are plain text: neither packed nor with a byte-order mark."""
    return _packing(head) is None and _mark(head) is None


def is_packed(head: bytes) -> bool:
    """Return whether these first bytes are those of a compressed file."""
    return _packing(head) is not None


def as_text(path: str, stream: Any, suffix: str = "") -> IO[bytes]:
    """Return the bytes unpacked, as UTF-8 without a mark; `suffix` names a packing that the bytes do not show."""
    head = _first_bytes(stream)
    packing = _packing(head) or (suffix if suffix in COMPRESSED else None)
    given = _Resumed(head, stream)
    whole: Any = given.buffered(1 << 20 if packing is None else 1 << 16)
    if packing is not None:
        opener: Any = COMPRESSED[packing]
        whole = opener(whole) if opener is not None else _open_zstandard(path, whole)
        head = _first_bytes(whole)
        whole = _Unpacked(head, whole, path, given).buffered()
    mark = _mark(head)
    if mark is None:
        return whole
    whole.read(len(mark))
    encoding = _MARKS[mark]
    return whole if encoding == "utf-8" else _Decoded(whole, encoding).buffered()


def refuse_bomb(path: str, packed: int, unpacked: int) -> None:
    """Raise if a packed file grows so much that it was probably made to fill the memory."""
    if unpacked > max(ALWAYS_ALLOWED, MOST_GROWTH * packed):
        raise FormatError(
            f"{path} must grow to at most {ALWAYS_ALLOWED:,} bytes, or {MOST_GROWTH:,} times its size, as it is read, "
            f"got {unpacked:,} bytes or more from {packed:,}. If you trust the file, unpack it or write it as CSV "
            "first."
        )


def as_utf8(text: str) -> str:
    """Return text with halves of surrogate pairs, which UTF-8 cannot express, as replacement characters."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _packing(head: bytes) -> str | None:
    for suffix, first in _PACKINGS.items():
        if head.startswith(first) and (suffix != ".bz2" or head[4:_BZ2_HEAD] == _PI):
            return suffix
    return None


def _mark(head: bytes) -> bytes | None:
    return next((mark for mark in _MARKS if head.startswith(mark)), None)


def _first_bytes(stream: Any) -> bytes:
    """Read only as many bytes as needed: the first line of a stream may be short, and the next may come much later."""
    head = b""
    while len(head) < _LONGEST and any(
        first.startswith(head[: len(first)]) for first in (*_PACKINGS.values(), *_MARKS)
    ):
        more = stream.read(1)
        if not more:
            break
        head += more
    return head


class _Readable(io.RawIOBase):
    def readable(self) -> bool:
        return True

    def buffered(self, size: int = 1 << 20) -> io.BufferedReader:
        """Return the stream with the methods of a file."""
        return io.BufferedReader(self, size)


class _Resumed(_Readable):
    """A stream from its beginning, even though its first bytes have been read."""

    def __init__(self, head: bytes, stream: Any) -> None:
        self._head, self._stream = head, stream
        self.n_read = len(head)

    def readinto(self, buffer: Any) -> int:
        if self._head:
            n = min(len(buffer), len(self._head))
            buffer[:n], self._head = self._head[:n], self._head[n:]
            return n
        read = getattr(self._stream, "read1", self._stream.read)  # what has arrived, without waiting for more
        found = read(len(buffer))
        buffer[: len(found)] = found
        self.n_read += len(found)
        return len(found)


class _Unpacked(_Resumed):
    """The unpacked bytes of a file; raises if they are too many for its size."""

    def __init__(self, head: bytes, stream: Any, path: str, packed: _Resumed) -> None:
        super().__init__(head, stream)
        self._path, self._packed = path, packed

    def readinto(self, buffer: Any) -> int:
        n = super().readinto(buffer)
        refuse_bomb(self._path, self._packed.n_read, self.n_read)
        return n


class _Decoded(_Readable):
    """Text of another encoding in UTF-8; invalid bytes become the replacement character."""

    def __init__(self, stream: io.BufferedReader, encoding: str) -> None:
        self._stream, self._decoder = stream, codecs.getincrementaldecoder(encoding)("replace")
        self._ready, self._ended = memoryview(b""), False

    def readinto(self, buffer: Any) -> int:
        while not self._ready and not self._ended:
            found = self._stream.read1(1 << 16)
            self._ended = not found
            text = self._decoder.decode(found, final=self._ended)
            self._ready = memoryview(text.encode("utf-8", "replace"))
        n = min(len(buffer), len(self._ready))
        buffer[:n], self._ready = self._ready[:n], self._ready[n:]
        return n


def _open_zstandard(path: str, file: IO[bytes]) -> io.BufferedReader:
    try:
        import zstandard
    except ImportError:
        raise FormatError(f"{path}: .zst files need the package zstandard: {pip_install('files')}.") from None
    return _Frames(file, zstandard.ZstdDecompressor()).buffered()


class _Frames(_Readable):
    """The frames of a .zst file; a truncated one is an error, while zstandard's own reader would end silently."""

    def __init__(self, file: IO[bytes], decompressor: Any) -> None:
        self._file, self._decompressor = file, decompressor
        self._frame: Any = None
        self._packed, self._ready = b"", memoryview(b"")

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            packed = self._packed or self._file.read(1 << 16)
            if not packed:
                if self._frame is not None:
                    raise EOFError("Compressed file ended before the end of a frame was reached")
                return 0
            self._frame = self._frame or self._decompressor.decompressobj()
            self._ready, self._packed = memoryview(self._frame.decompress(packed)), b""
            if self._frame.eof:
                self._packed, self._frame = self._frame.unused_data, None
        n = min(len(buffer), len(self._ready))
        buffer[:n], self._ready = self._ready[:n], self._ready[n:]
        return n
