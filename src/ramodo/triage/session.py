"""TriageSession: everything that the page and the command do. The web layer calls nothing else."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..formats import Schema, Table, TextOptions
from ..formats.labels_by_id import read_known_labels
from ..options import OptionError
from ..terminal.escaping import escape_controls
from . import estimates, exports
from .card import Card, card_of
from .changes import Changes, changes
from .learning import Learner, Show, Status
from .nearest import Inliers
from .opinions import INLIER, OUTLIER, UNSURE, Labels, Opinions
from .queues import QUEUES, SCORE, Waiting
from .ranked_rows import RankedRows
from .store import Said, Store, Version

if TYPE_CHECKING:
    from ..framework import RandomDistanceDetector

NAMES = {OUTLIER: "outlier", INLIER: "inlier", UNSURE: "unsure"}

_LEASE = 300.0
"""How many seconds a row shown to one analyst is kept from the others."""

_OFFERED = 2000
"""How many rows of a queue are tried until one is free."""

_LONGEST_NAME = 100
_MOST_FOUND = 50
_BEGINNING = 200


@dataclass
class Analyst:
    """Where an analyst is: the queue, the rows that were shown, and which of them is shown now."""

    name: str
    queue: str = SCORE.name
    trail: list[int] = field(default_factory=list)
    place: int = -1

    @property
    def row(self) -> int | None:
        return self.trail[self.place] if self.trail else None

    @property
    def ahead(self) -> list[int]:
        """Rows that were shown after the current one."""
        return self.trail[self.place + 1 :]

    def went_to(self, row: int) -> None:
        """Make a row the current one; if it was shown before, it keeps its place in the trail."""
        if row not in self.trail:
            self.trail.append(row)
        self.place = self.trail.index(row)


@dataclass(frozen=True)
class Kind:
    """Unlabelled rows that are outliers for the same reason; look at `shown` before labelling them all."""

    number: int
    version: int
    rows: tuple[int, ...]
    reasons: tuple[str, ...]
    drivers: tuple[Any, ...]

    @property
    def shown(self) -> tuple[int, ...]:
        """The highest, the lowest and one in between: what these share, all rows of the kind share."""
        return tuple(dict.fromkeys((self.rows[0], self.rows[len(self.rows) // 2], self.rows[-1])))


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What the labels show."""

    counts: dict[str, int]
    tens: list[estimates.Ten]
    over_time: list[estimates.Span]
    agreements: list[estimates.Agreement]
    left: estimates.Left | None
    stop: bool
    advice: str


class TriageSession:
    """A labelling loop: show a row, take its label, learn, show the next.

    Parameters
    ----------
    detector : a fitted `Consensus` or `REPEN`
    X : the rows, or a `Table` that a format's reader returned
    store : path of a SQLite file, created if it does not exist, or URL of a PostgreSQL database
    ids, texts : id and document of each row, optional
    text_options : how documents became rows, so that tokens can be named
    refit_every : number of labels after which to learn again; 0 learns only on demand
    who : name of the analyst, unless a method is given another
    title : title of pages and reports
    path : the data file, to notice if it disappears
    lease_seconds : how long a row shown to one analyst is kept from the others
    """

    def __init__(
        self,
        detector: RandomDistanceDetector,
        X: Any,
        *,
        store: str = "triage.db",
        ids: Sequence[str] | None = None,
        texts: Sequence[str] | None = None,
        text_options: TextOptions | None = None,
        refit_every: int = 5,
        who: str = "analyst",
        title: str = "Triage",
        path: str | None = None,
        lease_seconds: float = _LEASE,
    ) -> None:
        if refit_every < 0:
            raise OptionError(f"refit_every must be 0 (learn only on demand) or more, got {refit_every}.")
        schema = Schema(tokens=text_options or TextOptions())
        self.table = X if isinstance(X, Table) else Table(X, ids=ids, texts=texts, schema=schema)
        self.title, self.who, self.refit_every = title, self._checked_name(who), refit_every
        self._path, self._lease = path, lease_seconds
        self._detector, self._rows = detector, detector.rows_of(self.table.X)
        self._unlabeled = detector.unlabeled(self._rows)
        self._store = Store.open(store, self._rows.fingerprint())
        self._opinions = Opinions()
        self._analysts: dict[str, Analyst] = {}
        self._lock, self._learned_from = threading.RLock(), 0
        self._back_to: int | None = None
        self._kinds: dict[tuple[int, int], Kind] = {}
        self._sync()
        self._ranked = self._again()
        self._inliers: Inliers | None = None
        self._learner = Learner(self._learn)

    def close(self) -> None:
        """Stop learning and release the store."""
        self._learner.close()
        self._store.close()

    def __enter__(self) -> TriageSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- rows ----------------------------------------------------------------------------------------------------

    @property
    def n_rows(self) -> int:
        """Number of rows in the data."""
        return self._rows.n_rows

    @property
    def place(self) -> str:
        """Where labels are stored, without a password."""
        return self._store.place

    def id_of(self, row: int) -> str:
        """Return the row's id, with control characters escaped."""
        return escape_controls(self.table.id_of(row))

    def text_of(self, row: int) -> str:
        """Return the beginning of the row's document, on one line; empty if it has none."""
        texts = self.table.texts
        return "" if texts is None else escape_controls(" ".join(texts[row][:_BEGINNING].split()))

    def analyst(self, who: str | None = None) -> Analyst:
        """Return where an analyst is; a new one has seen no row yet."""
        name = self._checked_name(self.who if who is None else who)
        with self._lock:
            return self._analysts.setdefault(name, Analyst(name))

    def choose(self, queue: str, who: str | None = None) -> None:
        """Take rows from another queue."""
        if queue not in QUEUES:
            raise OptionError(f"queue must be one of {', '.join(QUEUES)}, got {queue!r}.")
        self.analyst(who).queue = queue

    def next(self, who: str | None = None) -> int | None:
        """Return the next row of an analyst's queue, kept from others for some minutes; None at the end of the queue.

        After a restart, the analyst first gets the row that was shown last.
        """
        self._sync()
        analyst = self.analyst(who)
        held = [] if analyst.trail else [row for row, name in self._store.leased().items() if name == analyst.name]
        offered = [row for row in held if row not in self.labelled] or self._offered(analyst)
        row = self._store.lease(analyst.name, offered, self._lease, self._opinions.last)
        if row is not None:
            analyst.went_to(row)
        return row

    def move(self, step: int, who: str | None = None) -> int | None:
        """Go back along the rows that were shown, or forward; after the last of them comes the next of the queue."""
        analyst = self.analyst(who)
        if step > 0 and analyst.place >= len(analyst.trail) - 1:
            return self.next(who)
        with self._lock:
            analyst.place = min(max(0, analyst.place + step), len(analyst.trail) - 1)
        return analyst.row

    def go_to(self, row: int, who: str | None = None) -> int:
        """Show this row."""
        self._check_row(row)
        self.analyst(who).went_to(row)
        return row

    def card(self, row: int) -> Card:
        """What a person needs to decide about a row."""
        self._check_row(row)
        with self._lock:
            ranked, inliers = self._ranked, self._inliers
        if inliers is None:
            inliers = Inliers(self._rows, ranked.ranking, self.labels())
            with self._lock:
                self._inliers = inliers
        return card_of(ranked, self._rows, row, inliers, self._opinions.of_row(row), self._opinions.label(row))

    def search(self, text: str) -> list[int]:
        """Return rows whose id is this text, then rows whose id or document contains it, highest score first."""
        wanted = text.strip().lower()
        if not wanted:
            return []
        places, table = self._ranked.ranking.places, self.table
        exact = [row for row in range(self.n_rows) if table.id_of(row).lower() == wanted]
        texts = table.texts if table.texts is not None else [""] * self.n_rows
        found = [r for r in range(self.n_rows) if wanted in table.id_of(r).lower() or wanted in texts[r].lower()]
        rest = sorted(set(found) - set(exact), key=lambda row: int(places[row]))
        return (exact + rest)[:_MOST_FOUND]

    def _offered(self, analyst: Analyst, but: set[int] = frozenset()) -> list[int]:  # type: ignore[assignment]
        """Return the first rows of an analyst's queue."""
        ranked = self._ranked
        waiting = Waiting(
            ranked.ranking,
            gone=self.labelled | set(analyst.trail) | but,
            groups=[group.rows for group in ranked.groups],
            of_others=self._of_others(analyst),
        )
        return list(islice(QUEUES[analyst.queue].rows(waiting), _OFFERED))

    def _of_others(self, analyst: Analyst) -> Iterator[int]:
        """Yield the rows that only others have labelled and that the analyst has not seen."""
        for row in self._opinions.rows():
            if analyst.name not in self._opinions.of_row(row) and row not in analyst.trail:
                yield row

    # ---- labels --------------------------------------------------------------------------------------------------

    @property
    def labelled(self) -> set[int]:
        """Rows that somebody holds a label for."""
        return self._opinions.labelled

    def label(self, row: int, label: int, who: str | None = None, *, advance: bool = True) -> int | None:
        """Store a label (1 outlier, -1 inlier, 0 unsure) and return the next row of the queue once it is on disk.

        With `advance=False` no next row is taken.
        """
        self._check_row(row)
        self._check_label(label)
        analyst = self.analyst(who)
        analyst.went_to(row)
        last = self._opinions.last
        passed = [other for other in analyst.ahead if other not in self.labelled]  # who went back continues there
        offered = [*passed, *self._offered(analyst, {row})] if advance else []
        said = Said(row, label, analyst.queue, self._ranked.ranking.stratum(row))
        following = self._store.add(analyst.name, self._ranked.version, [said], offered, self._lease, last)
        self._sync()
        if following is not None:
            analyst.went_to(following)
        self._learn_if_due()
        return following

    def label_kind(self, kind: Kind, label: int, who: str | None = None) -> int:
        """Label all unlabelled rows of a kind, as one step for undo, and return how many there were."""
        self._check_label(label)
        analyst = self.analyst(who)
        rows = [row for row in kind.rows if row not in self.labelled]
        if rows:
            said = [Said(row, label, "group", self._ranked.ranking.stratum(row)) for row in rows]
            self._store.add(analyst.name, self._ranked.version, said)
            self._sync()
            self._learn_if_due()
        return len(rows)

    def undo(self, who: str | None = None) -> list[int]:
        """Take back an analyst's last label, or last kind, and return its rows; the first is shown again."""
        analyst = self.analyst(who)
        batch = self._opinions.last_batch(analyst.name)
        if not batch:
            return []
        self._store.undo(analyst.name, self._ranked.version, batch[0].batch, batch[0].row)
        self._sync()
        analyst.went_to(batch[0].row)
        return [entry.row for entry in batch]

    def labels(self) -> Labels:
        """Return the label of each row: 1 outlier, -1 inlier, 0 unknown, unsure or disputed."""
        with self._lock:
            return self._opinions.labels(self.n_rows)

    def kinds(self) -> list[Kind]:
        """Unlabelled rows at the top that are outliers for the same reason, largest kind first."""
        ranked, found = self._ranked, []
        for number, group in enumerate(ranked.groups):
            rows = tuple(row for row in group.rows if row not in self.labelled)
            if len(rows) > 1:
                reasons = tuple(driver.feature for driver in group.drivers)
                found.append(Kind(number, ranked.version, rows, reasons, group.drivers))
                self._kinds[ranked.version, number] = found[-1]
        return found

    def kind(self, version: int, number: int) -> Kind:
        """Return a kind that `kinds` returned, with the rows it had then."""
        if (version, number) not in self._kinds:
            raise OptionError(f"the kind must be one that was shown, got kind {number} of model {version}.")
        return self._kinds[version, number]

    def _sync(self) -> None:
        """Read what has been stored since, by this session or others."""
        with self._lock:
            found = self._store.since(self._opinions.last)
            if found:
                self._opinions.add(found)

    # ---- learning ------------------------------------------------------------------------------------------------

    @property
    def status(self) -> Status:
        """Status of the fit in the background."""
        return self._learner.status

    @property
    def version(self) -> int:
        """Number of the current model; 0 is the one without labels."""
        return self._ranked.version

    @property
    def pending(self) -> int:
        """How many entries the current model has not learned from."""
        return self._opinions.after(self._learned_from)

    def refit(self, wait: bool = False) -> None:
        """Learn from all labels, in the background unless `wait` is set."""
        self._back_to = None
        self._learner.ask()
        if wait:
            self.wait()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the background is idle; False if that takes longer than `seconds`."""
        return self._learner.wait(seconds)

    def go_back(self, version: int) -> None:
        """Rank by an earlier model, in the background, until the next refit; labels are kept."""
        if version != 0 and version not in {one.version for one in self.versions()}:
            raise OptionError(f"version must be an integer from 0 to {len(self.versions())}, got {version}.")
        self._back_to = version
        self._learner.ask()

    def versions(self) -> list[Version]:
        """Return all models so far, in order."""
        return self._store.versions()

    def changes(self, version: int | None = None) -> Changes | None:
        """What a model changed, by default the current one; None for the first."""
        wanted = self.version if version is None else version
        found = [one for one in self.versions() if one.version == wanted]
        return Changes.of_dict(found[0].summary["changes"]) if found else None

    def _learn_if_due(self, after: bool = False) -> None:
        """Ask for a fit if there are enough new labels; labels that arrive during a fit count `after` it."""
        due = self.refit_every > 0 and self.pending >= self.refit_every
        if due and (after or not self.status.working) and self.counts["outliers"] > 0:
            self._back_to = None
            self._learner.ask()

    def _again(self) -> RankedRows:
        """Return the last model, rebuilt after a restart."""
        versions = self._store.versions()
        if not versions:
            return RankedRows(self._detector, self.table, 0)
        last = versions[-1]
        self._learned_from = self._opinions.last if last.back_to is None else last.entry
        return self._fitted(last.entry, last.version)

    def _fitted(self, entry: int, version: int, before: RankedRows | None = None) -> RankedRows:
        """The model that learns from the labels up to an entry."""
        with self._lock:
            labels = self._opinions.until(entry).labels(self.n_rows)
        detector = self._detector.relabeled(self._unlabeled, labels)
        return RankedRows(detector, self.table, version, before)

    def _learn(self, show: Show) -> None:
        self._sync()
        back_to, before = self._back_to, self._ranked
        with self._lock:
            last, counts = self._opinions.last, self._opinions.counts()
        entry = last if back_to is None else self._entry_of(back_to)
        show(f"learning from {counts['outliers']:,} outliers and {counts['inliers']:,} inliers", 0.1)
        after = self._fitted(entry, 0, before)
        if before.is_prepared:  # rows are being shown: do not make the next one wait
            after.prepare()
        show("comparing the rankings", 0.6)
        labels = self.labels()
        models = [(one.detector.model_, one.ranking) for one in (before, after)]
        found = changes(self._rows, models[0], models[1], labels, after.names)
        summary = {"changes": found.as_dict(), "counts": counts, "flagged": after.ranking.n_above}
        after.version = self._store.add_version(self.who, entry, back_to, summary)
        with self._lock:
            self._ranked, self._inliers, self._learned_from = after, None, last
        show("looking for kinds of outliers", 0.8)
        after.group(self.labelled)
        self._learn_if_due(after=True)

    def _entry_of(self, version: int) -> int:
        """Return the last entry that a model learned from."""
        return next((one.entry for one in self.versions() if one.version == version), 0)

    def group(self) -> None:
        """Find kinds of outliers under the current model; models learned later do so by themselves."""
        self._ranked.group(self.labelled)

    # ---- what labels show ----------------------------------------------------------------------------------------

    @property
    def counts(self) -> dict[str, int]:
        """How many rows are labelled outlier, inlier and unsure."""
        return self._opinions.counts()

    def summary(self) -> Summary:
        """Precision, agreement, outliers left, and whether to stop."""
        self._sync()
        standing, counts = self._opinions.standing(), self.counts
        left = estimates.left(standing, self._ranked.ranking, self.labelled)
        stop, advice = estimates.advice(standing, counts["outliers"], left)
        return Summary(
            counts=counts,
            tens=estimates.by_tens(standing),
            over_time=estimates.over_time(standing),
            agreements=estimates.agreements(self._opinions),
            left=left,
            stop=stop,
            advice=advice,
        )

    def problems(self) -> list[str]:
        """What is wrong with the data file or the last refit, in sentences."""
        found = []
        if self._path is not None and not Path(self._path).exists():
            found.append(
                f"The data file {self._path} is gone. Rows in memory and labels are safe; you need the file to start "
                "again or to score with the model."
            )
        if self.status.error:
            found.append(
                f"The last refit failed ({self.status.error}). Labels are stored, and the previous ranking stays."
            )
        return found

    # ---- files ---------------------------------------------------------------------------------------------------

    def import_labels(self, path: str, who: str = "import") -> int:
        """Store all labels of a table with columns id and label (1, -1 or 0), or none; return how many."""
        stratum = self._ranked.ranking.stratum
        known = read_known_labels(path, self.table)
        said = [Said(row, label, "import", stratum(row)) for row, label in known.items()]
        if said:
            self._store.add(self._checked_name(who), self._ranked.version, said)
            self._sync()
        return len(said)

    def export_labels(self, path: str | Path) -> None:
        """Write a line for each labelled row: id, label, who gave it; `ramodo detect --labels` reads it."""
        exports.write_labels(Path(path), self.table, self._opinions)

    def export_history(self, path: str | Path) -> None:
        """Write every label and undo, in order, with its time, analyst and model."""
        exports.write_history(Path(path), self.table, self._opinions.entries)

    def export_ranking(self, path: str | Path) -> None:
        """Write all rows, highest score first: id, score, percentile, flag, label."""
        exports.write_ranking(Path(path), self.table, self._ranked, self.labels())

    def export_model(self, path: str | Path) -> None:
        """Write the current model, for `ramodo score`."""
        self._ranked.detector.save(path)

    def export_report(self, path: str | Path) -> None:
        """Write a report that also lists the labels."""
        exports.write_report_of(Path(path), self._ranked, self.title, self._opinions)

    # ---- checks --------------------------------------------------------------------------------------------------

    def _check_row(self, row: int) -> None:
        if not 0 <= row < self.n_rows:
            raise OptionError(f"row must be an integer from 0 to {self.n_rows - 1}, got {row}.")

    def _check_label(self, label: int) -> None:
        if label not in NAMES:
            raise OptionError(f"label must be 1 (outlier), -1 (inlier) or 0 (unsure), got {label}.")

    @staticmethod
    def _checked_name(who: str) -> str:
        if not (0 < len(who.strip()) <= _LONGEST_NAME) or not who.isprintable():
            raise OptionError(f"a name must have 1 to {_LONGEST_NAME} printable characters, got {who[:50]!r}.")
        return who.strip()
