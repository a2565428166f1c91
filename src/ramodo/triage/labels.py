"""What the entries of a store mean: who holds which label of a row now, and what the rows are labelled as."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from .store import Entry

OUTLIER, INLIER, UNSURE = 1, -1, 0

Labels = npt.NDArray[np.int8]


@dataclass
class Opinions:
    """Entries as they come in, and what follows from them; each costs the same, however many there are."""

    entries: list[Entry] = field(default_factory=list)
    labelled: set[int] = field(default_factory=set)
    """Rows that somebody holds a label of."""
    _undone: set[str] = field(default_factory=set)
    _of_row: dict[int, list[Entry]] = field(default_factory=dict)
    _of_batch: dict[str, list[Entry]] = field(default_factory=dict)
    _of_analyst: dict[str, list[str]] = field(default_factory=dict)
    """Batches of each analyst, in order."""
    _counts: Counter[int] = field(default_factory=Counter)

    def add(self, entries: Iterable[Entry]) -> None:
        """Further entries, in the order of the store."""
        for entry in entries:
            self.entries.append(entry)
            if entry.undoes is None:
                with self._counted(entry.row):
                    self._of_row.setdefault(entry.row, []).append(entry)
                batch = self._of_batch.setdefault(entry.batch, [])
                if not batch:
                    self._of_analyst.setdefault(entry.who, []).append(entry.batch)
                batch.append(entry)
            elif entry.undoes not in self._undone:
                self._undo(entry.undoes)

    def _undo(self, batch: str) -> None:
        rows = {entry.row for entry in self._of_batch.get(batch, ())}
        with ExitStack() as all_rows:
            for row in rows:
                all_rows.enter_context(self._counted(row))
            self._undone.add(batch)

    @contextmanager
    def _counted(self, row: int) -> Iterator[None]:
        """Keeps the counts right while what is said of a row changes."""
        before = self.label(row)
        yield
        after = self.label(row)
        if before is not None:
            self._counts[before] -= 1
        if after is not None:
            self._counts[after] += 1
            self.labelled.add(row)
        else:
            self.labelled.discard(row)

    @property
    def last(self) -> int:
        """Number of the last entry."""
        return self.entries[-1].id if self.entries else 0

    def after(self, entry: int) -> int:
        """How many entries came after this one."""
        return len(self.entries) - bisect_right(self.entries, entry, key=lambda one: one.id)

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
        held = self.of_row(row).values()
        total = sum(held)
        return None if not held else (total > 0) - (total < 0)

    def rows(self) -> list[int]:
        """Rows that somebody holds a label of, in order."""
        return sorted(self.labelled)

    def labels(self, n_rows: int) -> Labels:
        """For a fit: 1 outlier, -1 inlier, 0 unknown or unsure."""
        found = np.zeros(n_rows, dtype=np.int8)
        for row in self.rows():
            found[row] = self.label(row) or 0
        return found

    def last_batch(self, who: str) -> list[Entry]:
        """The labels that somebody gave last and did not undo; empty if there are none."""
        standing = (batch for batch in reversed(self._of_analyst.get(who, [])) if batch not in self._undone)
        return self._of_batch[batch] if (batch := next(standing, None)) is not None else []

    def counts(self) -> dict[str, int]:
        """Rows by label."""
        found = self._counts
        return {"outliers": found[OUTLIER], "inliers": found[INLIER], "unsure": found[UNSURE]}
