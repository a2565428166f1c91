"""What a command stores in a model about its training data, and what can be left out of the file."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ..explain.naming import reference_tokens
from ..formats import Table
from ..model.provenance import Provenance
from .flags import Keeping

if TYPE_CHECKING:
    from ..framework import RandomDistanceDetector


def told(table: Table, detector: RandomDistanceDetector, keeping: Keeping) -> Provenance:
    """Names of tokens and, unless left out, ids, command and time."""
    found = Provenance(tokens=reference_tokens(detector, table))
    if keeping.no_provenance:
        return found
    return replace(
        found,
        reference_ids=_reference_ids(detector, table),
        command=shlex.join(["ramodo", *sys.argv[1:]]),
        fitted=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def save(path: str, detector: RandomDistanceDetector, keeping: Keeping) -> None:
    """Write the model without what should be left out; the detector keeps it, for the rest of this run."""
    told_all = detector.provenance_
    try:
        if keeping.no_tokens:
            detector.provenance_ = replace(told_all, tokens={})
        detector.save(path)
    finally:
        detector.provenance_ = told_all


def _reference_ids(detector: RandomDistanceDetector, table: Table) -> dict[str, str]:
    """Ids of the training rows that explanations may name as nearest, if rows have ids."""
    if table.ids is None:
        return {}
    return {str(row): table.id_of(row) for row in detector.model_.origins()[0].numbers.tolist()}
