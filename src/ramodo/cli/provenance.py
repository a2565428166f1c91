"""What a command stores in a model about its training data, and what can be left out of the file."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ..model.provenance import Provenance
from .flags import Keeping

if TYPE_CHECKING:
    from ..framework import RandomDistanceDetector


def told(detector: RandomDistanceDetector, keeping: Keeping) -> Provenance:
    """What the fit told, and unless left out, ids, command and time."""
    found: Provenance = getattr(detector, "provenance_", Provenance())
    if keeping.no_provenance:
        return replace(found, reference_ids={})
    return replace(
        found,
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
