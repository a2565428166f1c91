"""Facts about the training data that a command stores in a model, or leaves out of the file."""

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
    """Return the provenance of the fit, with ids, command and time unless they are left out."""
    found: Provenance = getattr(detector, "provenance_", Provenance())
    if keeping.no_provenance:
        return replace(found, reference_ids={})
    return replace(
        found,
        command=shlex.join(["ramodo", *sys.argv[1:]]),
        fitted=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def save(path: str, detector: RandomDistanceDetector, keeping: Keeping) -> None:
    """Write the model without the parts to leave out, which the detector keeps for the rest of this run."""
    told_all = detector.provenance_
    try:
        if keeping.no_tokens:
            detector.provenance_ = replace(told_all, tokens={})
        detector.save(path)
    finally:
        detector.provenance_ = told_all
