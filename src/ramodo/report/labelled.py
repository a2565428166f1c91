"""Labels that people gave to rows, for a report."""

from __future__ import annotations

from dataclasses import dataclass

NAMES = {1: "outlier", -1: "inlier", 0: "unsure"}


@dataclass(frozen=True)
class Labelled:
    """A row's id, its label (1 outlier, -1 inlier, 0 unsure or disputed), and who gave it."""

    id: str
    label: int
    who: str
