"""Labels as the entries of a store imply them: those that each analyst currently holds, and that of each row."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

import numpy as np
import numpy.typing as npt

from .store import Entry

OUTLIER, INLIER, UNSURE = 1, -1, 0

Labels = npt.NDArray[np.int8]


class Opinions:
    """Entries as they arrive, and what follows from them; adding one costs the same however many there are.

    labelled : rows that somebody holds a label for
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.labelled: set[int] = set()
        self._undone: set[str] = set()
        self._of_row: dict[int, list[Entry]] = {}
        self._of_batch: dict[str, list[Entry]] = {}
        self._batches: dict[str, list[str]] = {}  # of each analyst, in order
        self._counts: Counter[int] = Counter()

    def add(self, entries: Iterable[Entry]) -> None:
        """Take in further entries, in the order of the store."""
        for entry in entries:
            self.entries.append(entry)
            if entry.undoes is None:
                with self._counted(entry.row):
                    self._of_row.setdefault(entry.row, []).append(entry)
                batch = self._of_batch.setdefault(entry.batch, [])
                if not batch:
                    self._batches.setdefault(entry.who, []).append(entry.batch)
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
        """Keep the counts right while the label of a row changes."""
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
        """Return how many entries came after this one."""
        return len(self.entries) - bisect_right(self.entries, entry, key=lambda one: one.id)

    def until(self, entry: int) -> Opinions:
        """Return the opinions as they were when this entry was the last one."""
        found = Opinions()
        found.add(one for one in self.entries if one.id <= entry)
        return found

    def standing(self) -> list[Entry]:
        """Return the labels that were not undone, in order."""
        return [entry for entry in self.entries if entry.undoes is None and entry.batch not in self._undone]

    def of_row(self, row: int) -> dict[str, int]:
        """Return the label that each analyst holds for a row."""
        return {entry.who: entry.label for entry in self._of_row.get(row, ()) if entry.batch not in self._undone}

    def label(self, row: int) -> int | None:
        """Return a row's label: the majority's, unsure if analysts are evenly split, None if nobody labelled it."""
        held = self.of_row(row).values()
        total = sum(held)
        return None if not held else (total > 0) - (total < 0)

    def rows(self) -> list[int]:
        """Return the rows that somebody holds a label for, in order."""
        return sorted(self.labelled)

    def labels(self, n_rows: int) -> Labels:
        """Return labels for a fit: 1 outlier, -1 inlier, 0 unknown or unsure."""
        found = np.zeros(n_rows, dtype=np.int8)
        for row in self.rows():
            found[row] = self.label(row) or 0
        return found

    def last_batch(self, who: str) -> list[Entry]:
        """Return the labels of an analyst's last step that was not undone; may be empty."""
        standing = (batch for batch in reversed(self._batches.get(who, [])) if batch not in self._undone)
        return self._of_batch[batch] if (batch := next(standing, None)) is not None else []

    def counts(self) -> dict[str, int]:
        """Return how many rows have each label."""
        found = self._counts
        return {"outliers": found[OUTLIER], "inliers": found[INLIER], "unsure": found[UNSURE]}
