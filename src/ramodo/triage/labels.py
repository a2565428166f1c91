"""What the entries of a store mean: who holds which label of a row now, and what the rows are labelled as."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from .store import Entry

OUTLIER, INLIER, UNSURE = 1, -1, 0

Labels = npt.NDArray[np.int8]


@dataclass
class Opinions:
    """Entries as they come in, and what follows from them."""

    entries: list[Entry] = field(default_factory=list)
    _undone: set[str] = field(default_factory=set)
    _of_row: dict[int, list[Entry]] = field(default_factory=dict)

    def add(self, entries: Iterable[Entry]) -> None:
        """Further entries, in the order of the store."""
        for entry in entries:
            self.entries.append(entry)
            if entry.undoes is None:
                self._of_row.setdefault(entry.row, []).append(entry)
            else:
                self._undone.add(entry.undoes)

    @property
    def last(self) -> int:
        """Number of the last entry."""
        return self.entries[-1].id if self.entries else 0

    def until(self, entry: int) -> Opinions:
        """What was known when this entry was the last one."""
        found = Opinions()
        found.add(one for one in self.entries if one.id <= entry)
        return found

    def standing(self) -> list[Entry]:
        """Labels that were not undone, in order."""
        return [entry for entry in self.entries if entry.undoes is None and entry.batch not in self._undone]

    def of_row(self, row: int) -> dict[str, int]:
        """The label that each analyst holds of a row."""
        return {entry.who: entry.label for entry in self._of_row.get(row, ()) if entry.batch not in self._undone}

    def label(self, row: int) -> int | None:
        """The label of a row: that of the majority, unsure where analysts disagree evenly; None if nobody said one."""
        held = self.of_row(row)
        return None if not held else int(np.sign(sum(held.values())))

    def rows(self) -> list[int]:
        """Rows that somebody holds a label of."""
        return [row for row in self._of_row if self.of_row(row)]

    def labels(self, n_rows: int) -> Labels:
        """For a fit: 1 outlier, -1 inlier, 0 unknown or unsure."""
        found = np.zeros(n_rows, dtype=np.int8)
        for row in self._of_row:
            found[row] = self.label(row) or 0
        return found

    def last_batch(self, who: str) -> list[Entry]:
        """The labels that somebody gave last and did not undo; empty if there are none."""
        for entry in reversed(self.entries):
            if entry.who == who and entry.undoes is None and entry.batch not in self._undone:
                return [other for other in self.entries if other.batch == entry.batch]
        return []

    def counts(self) -> dict[str, int]:
        """Rows by label."""
        labels = [self.label(row) for row in self.rows()]
        return {
            "outliers": labels.count(OUTLIER),
            "inliers": labels.count(INLIER),
            "unsure": labels.count(UNSURE),
        }
