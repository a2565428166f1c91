"""What a command stores in a model about its training data, and what can be left out of the file."""

from __future__ import annotations

import shlex
import sys
from datetime import UTC, datetime
from typing import Any

from ..explain.naming import reference_tokens
from ..formats import Table
from .flags import Keeping
from .reading import Source


def told(path: str, source: Source, table: Table, detector: Any, keeping: Keeping) -> dict[str, Any]:
    """How the data were read, names of tokens and, unless left out, ids, command and time."""
    found = source.remembered(path, table) | {"tokens": reference_tokens(detector, table, source.text_options())}
    if keeping.no_provenance:
        return found
    return found | {
        "reference_ids": _reference_ids(detector, table),
        "command": shlex.join(["ramodo", *sys.argv[1:]]),
        "fitted": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }


def save(path: str, detector: Any, keeping: Keeping) -> None:
    """Write the model without what should be left out; the detector keeps it, for the rest of this run."""
    told_all = detector.source_
    try:
        if keeping.no_tokens:
            detector.source_ = {**told_all, "tokens": None}
        detector.save(path)
    finally:
        detector.source_ = told_all


def _reference_ids(detector: Any, table: Table) -> dict[str, str] | None:
    """Ids of the training rows that explanations may name as nearest; None if rows have no ids."""
    if table.ids is None:
        return None
    return {str(row): table.id_of(row) for row in detector.model_.origins()[0].numbers.tolist()}
