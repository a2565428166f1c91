"""Score rows of standard input as they arrive. A row that cannot be read is reported and skipped."""

from __future__ import annotations

import re
import select
import sys
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.validation import DataError
from ..formats import Format, FormatError, How, Table, read_lines
from ..formats.byte_streams import LONGEST_LINE, damage_refused, open_binary
from ..insight.recent import Recent
from . import output as files
from .console import note
from .records import Recorder

if TYPE_CHECKING:
    from ..model.file.saving import Opened

_NAME = "standard input"

_CLOSED = re.compile(rb'(?:[^"]|"")*"(?!")')
_QUOTED = re.compile(rb'(?:^|(?<=[,;\t|]))"(?:[^"]|"")*"(?!")')
_OPENED = re.compile(rb'(?:^|[,;\t|])"')

_SILENCE = 0.5
"""Seconds without a line after which an event of a log counts as whole."""

_MOST_REPORTED = 20
"""How many skipped rows are reported one by one; the end reports their total."""


def scores_of(detector: Opened, X: Any, show: Any = None) -> Any:
    """Score a matrix whose columns were already compared with the model's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return detector.outlier_score(X, show)


class Stream:
    """Standard input, from the first line to the last, in constant memory."""

    def __init__(
        self,
        detector: Opened,
        kind: Format,
        how: How,
        recorder: Recorder,
        lines: str,
        *,
        strict: bool,
        quiet: bool,
    ) -> None:
        self._detector, self._kind, self._how, self._strict, self._quiet = detector, kind, how, strict, quiet
        self._recorder, self._written_as = recorder, lines
        self._rows = self._lines = self._skipped = 0
        self.recent = Recent(detector)
        self._names: bytes | None = None if kind.has_names and how.schema.header is not False else b""

    @property
    def n_rows(self) -> int:
        """How many rows were read, and skipped."""
        return self._rows

    def run(self) -> None:
        """Write scores; raises `FormatError` at the end if rows were skipped, or at the first one if strict."""
        sys.stdout.writelines(files.for_output(self._recorder.nothing(), self._written_as))
        sys.stdout.flush()
        rest = b""
        with open_binary("-") as stream:
            while True:
                if (n_held := self._held(rest)) and not _arrives():
                    self._take(rest[:n_held])
                    rest = rest[n_held:]
                if not (arrived := self._read(stream)):
                    break
                cut = arrived.rfind(b"\n") + 1
                block, rest = (rest + arrived[:cut], arrived[cut:]) if cut else (b"", rest + arrived)
                if self._kind.has_names:
                    *whole, last = _records(block)
                    block, rest = b"".join(whole), last + rest
                if self._kind.begun is not None:
                    begun = self._kind.begun(block, self._how)
                    block, rest = block[:begun], block[begun:] + rest
                if len(rest) > LONGEST_LINE:
                    raise FormatError(f"{_NAME}: a line is longer than {LONGEST_LINE:,} bytes.")
                self._take(block)
        self._take(rest)
        if self._skipped:
            raise FormatError(
                f"{_NAME}: {self._skipped:,} of {self._rows:,} rows could not be read and were skipped; all others "
                "were scored."
            )

    def _held(self, rest: bytes) -> int:
        """Bytes of whole lines that wait for more of their event."""
        return 0 if self._kind.begun is None else rest.rfind(b"\n") + 1

    @staticmethod
    def _read(stream: Any) -> bytes:
        with damage_refused(_NAME):
            found: bytes = stream.read1(1 << 20)
            return found

    def _take(self, block: bytes) -> None:
        """Score whole lines together, or one by one if one of them is wrong."""
        if block and self._names is None:  # the first line
            first, *others = _records(block)
            self._names, block = first.removesuffix(b"\n") + b"\n", b"".join(others)
            self._lines += first.count(b"\n")
            self._scored(b"", 0)  # raises for wrong names, which are not the fault of a row
        if not block:
            return
        try:
            self._write(*self._scored(block, self._lines))
            self._lines += block.count(b"\n")
        except (FormatError, DataError):
            for line in _records(block) if self._kind.has_names else block.removesuffix(b"\n").split(b"\n"):
                self._take_line(line)
                self._lines += max(1, line.count(b"\n"))

    def _take_line(self, line: bytes) -> None:
        try:
            self._write(*self._scored(line, self._lines))
        except (FormatError, DataError) as error:
            said, place = str(error), f"{_NAME}, line "
            if place not in said:
                said = f"{place}{self._lines + 1}: {said.removeprefix(f'{_NAME}, ')}"
            if self._strict:
                raise FormatError(said) from None
            self._skipped += 1
            self._rows += 1  # skipped rows count, so that ids are row numbers of the input
            if self._skipped <= _MOST_REPORTED:
                note(f"{said} Skipped.", self._quiet)

    def _scored(self, block: bytes, line: int) -> tuple[Table, Any]:
        table = read_lines(self._kind, _NAME, (self._names or b"") + block, line, self._how)
        return table, scores_of(self._detector, table.X) if table.X.shape[0] else np.empty(0)

    def _write(self, table: Table, scores: Any) -> None:
        if len(scores) == 0:
            return
        records = self._recorder.of_block(table, scores, self._rows)
        sys.stdout.writelines(files.for_output(records, self._written_as, header=False))
        sys.stdout.flush()
        self._rows += len(scores)
        if moved := self.recent.add(table.X, scores):
            note(f"warning: up to row {self._rows:,}, {moved.in_words()}", self._quiet)


def _arrives() -> bool:
    """Whether more comes soon; where that cannot be told, the end of a row waits for what comes next."""
    try:
        return bool(select.select([sys.stdin], [], [], _SILENCE)[0])
    except (OSError, TypeError, ValueError):  # on Windows, and where standard input is no file
        return True


def _records(block: bytes) -> list[bytes]:
    """Split into lines with their ends, joined if a quoted value spans several; the last may be incomplete or empty."""
    lines = block.split(b"\n")
    found, begun, is_open = list[bytes](), list[bytes](), False
    for line in lines[:-1]:
        begun.append(line + b"\n")
        is_open = _is_open(line, is_open) if b'"' in line else is_open
        if not is_open:
            found.append(b"".join(begun))
            begun.clear()
    return [*found, b"".join(begun) + lines[-1]]


def _is_open(line: bytes, is_open: bool) -> bool:
    """Return whether a quoted value continues after this line; quotes inside an unquoted value do not count."""
    if is_open:
        closed = _CLOSED.match(line)
        if closed is None:
            return True
        line = line[closed.end() :]
    return _OPENED.search(_QUOTED.sub(b"", line)) is not None
