"""Reads rows from the body of a request and writes scores to the body of an answer, as JSON or an Arrow IPC stream."""

from __future__ import annotations

import io
import json
from typing import Any, NamedTuple, NoReturn

import pyarrow
import pyarrow.csv  # for dates in JSON: imported now, so that the first request does not wait for it
import pyarrow.ipc

from ..formats import FormatError
from .arrow_rows import opened
from .saved_model import SavedModel

ARROW = "application/vnd.apache.arrow.stream"
JSON = "application/json"


class Answer(NamedTuple):
    """The body of an answer, with the number of rows and of flagged rows."""

    body: bytes
    media_type: str
    rows: int
    flagged: int


def answer_of(model: SavedModel, body: bytes, media_type: str, reasons: int) -> Answer:
    """Score a body; raise `FormatError` if it does not hold rows that the model can score."""
    return _of_arrow(model, body, reasons) if media_type == ARROW else _of_json(model, body, reasons)


def _of_json(model: SavedModel, body: bytes, reasons: int) -> Answer:
    found = model.score_rows(_rows(body), reasons=reasons)
    answer = {"model": model.identity, "threshold": model.threshold, "rows": found}
    said = json.dumps(answer, separators=(",", ":")).encode()
    return Answer(said, JSON, len(found), sum(row["flag"] for row in found))


def _rows(body: bytes) -> list[Any]:
    try:
        given = json.loads(body, parse_constant=_refuse_constant)
    except FormatError:
        raise
    except RecursionError:
        raise FormatError("the body must hold rows of plain values, got deeper nesting.") from None
    except ValueError as error:  # bad JSON, bad UTF-8, or numbers with thousands of digits
        raise FormatError(f"the body must be JSON: {str(error).rstrip('.')}.") from None
    rows = given.get("rows") if isinstance(given, dict) else given
    if not isinstance(rows, list):
        raise FormatError('the body must be {"rows": [...]} or a list of rows.')
    return rows


def _refuse_constant(name: str) -> NoReturn:
    raise FormatError(f"numbers must be finite, got {name}; use null for a missing value.")


def _of_arrow(model: SavedModel, body: bytes, reasons: int) -> Answer:
    try:
        with pyarrow.ipc.open_stream(body) as stream:
            table = stream.read_all()
        table.validate(full=True)  # pyarrow trusts what it reads: damaged offsets would lead it out of bounds
        table = opened(table)  # which decodes the names
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
        raise FormatError(f"the body must be an Arrow IPC stream: {reason}.") from None
    id = model.reading.learned.id
    keep = [] if id is None or id not in table.schema.names else [id]
    found = model.score(table, keep=keep, reasons=reasons)
    written = io.BytesIO()
    found = found.replace_schema_metadata({f"ramodo.{name}": said for name, said in model.identity.items()})
    with pyarrow.ipc.new_stream(written, found.schema) as stream:
        stream.write_batch(found)
    return Answer(written.getvalue(), ARROW, found.num_rows, sum(found.column("flag").to_pylist()))
