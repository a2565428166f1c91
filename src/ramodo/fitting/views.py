"""The views of `Consensus`: one entry each, which says what the view sees, how it scores rows and how much it counts.

A new view is an entry of `VIEWS` and a line in docs/consensus.md. Rows are read as they are, and bags of features also
with length 1 (see consensus.py); an entry says which of these readings it applies to. Entries without `score` are
distances in representations, which are trained together from the ranking of the other views.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from ..data.blocks import Block
from ..data.rows import Rows
from ..model.original import OriginalDistance
from ..model.rarity import Frequencies, Rarity, count_features
from ..model.references import Origin
from ..model.terms import Scores, Term
from ..stages.scoring import KthNN, RandomDistance, Sp
from ..terminal.progress import Progress
from .grouped_rows import frequencies_of_groups
from .training_data import TrainingData

_NEIGHBOR = 5
_MOST_REFERENCES = 4096
_FEWEST_REFERENCES = 256

_WORK = 1 << 18
"""Maximum number of products of features for one row and all references: about a quarter of a millisecond."""

_NON_ZERO = 1 / 3
"""Rows with at least this share of values that are not zero are tables of measurements, others bags of features."""

_SAMPLE = 1000
_PROBED = 256

_DOUBLE = 2.0**-40
"""Share of the length of rows below which distances are rounding errors in double precision."""


@dataclass(frozen=True)
class Reading:
    """Rows as views see them: as they are, or with length 1."""

    data: TrainingData
    seed: np.random.SeedSequence
    n_threads: int
    progress: Progress
    name: str = ""
    """The end of each view's sentence."""

    @cached_property
    def sample(self) -> Block:
        """Evenly spaced rows."""
        return sampled(self.data.rows)

    @cached_property
    def is_table(self) -> bool:
        """Whether most values are measurements; otherwise rows are bags of features, most of which they lack."""
        return is_table(self.sample)

    @cached_property
    def frequencies(self) -> Frequencies:
        """In how many rows each feature occurs, not counting known outliers and rows that are held out."""
        rows, n_threads, groups = self.data.rows, self.n_threads, self.data.groups
        if groups is not None:
            return frequencies_of_groups(rows, self.data.eligible, groups, n_threads)
        found = Frequencies.of(rows.map(partial(count_features, n_threads=n_threads)), rows.n_rows, rows.n_features)
        left_out = np.setdiff1d(np.arange(rows.n_rows), self.data.eligible)
        if len(left_out) == 0:
            return found
        return found.without(*count_features(rows.take(left_out), n_threads), len(left_out))

    @cached_property
    def has_zeros(self) -> bool:
        """Whether any row lacks a feature; if none does, all rows have the same features."""
        counts = self.frequencies.counts
        return len(counts) < self.frequencies.n_features or bool((counts < self.frequencies.n_rows).any())

    def seed_of(self, what: str) -> np.random.SeedSequence:
        """Return a seed by name: it does not depend on which other views there are."""
        key = zlib.crc32(f"{what}{self.name}".encode())
        return np.random.SeedSequence(self.seed.entropy, spawn_key=(*self.seed.spawn_key, key))


@dataclass(frozen=True)
class Scored:
    """A view's term, its scores of the training rows, and the size to which their rounding is relative (see `Tied`)."""

    term: Term
    scores: Scores
    size: float
    of_few: bool = False
    """Whether only few rows can score high."""


@dataclass(frozen=True, kw_only=True)
class View:
    """One entry of the list."""

    name: str
    """Of its seed."""
    sentence: str
    """What a high score means, in words."""
    score: Callable[[Reading, np.random.SeedSequence], Scored] | None = None
    """Scores rows; None for the representations."""
    in_bags: float = 1.0
    """Weight of its evidence in the score of bags of features; 0 if the view does not apply to them."""
    in_tables: float = 1.0
    """The same for tables."""
    of_values: bool = True
    """Whether values matter; if not, rows of length 1 look the same as the rows themselves."""
    in_ranking: float = 0.0
    """Weight of its evidence in the ranking that the representations learn from."""

    def weight(self, reading: Reading, again: bool = False) -> float:
        """Return the weight of its evidence in the score; `again`: the rows have been read in another way before."""
        if not self.of_values and (again or not reading.has_zeros):
            return 0.0
        return self.in_tables if reading.is_table else self.in_bags


def _distance(scorer_for: Callable[[Reading], RandomDistance]) -> Callable[[Reading, np.random.SeedSequence], Scored]:
    """Return a function that scores by the distance to drawn rows, in the original features."""

    def score(reading: Reading, seed: np.random.SeedSequence) -> Scored:
        scorer, data = scorer_for(reading), reading.data
        rng = np.random.default_rng(seed)
        drawn = scorer.draw(data.to_draw_from(rng), rng)
        size = drawn.shape[1]
        with reading.progress.stage("ranking", "rows") as bar:
            taken = data.rows.take(drawn.ravel())
            scores = data.rows.gather(scorer.against(taken, size, reading.n_threads), bar.show)
        term = OriginalDistance(Origin.of(taken, drawn.ravel()), size, scorer.phi_among(size))
        return Scored(term, scores, _size(taken, scores))

    return score


def _rarity(*, unshared: bool) -> Callable[[Reading, np.random.SeedSequence], Scored]:
    """Return a function that scores by how few training rows share the features of a row."""

    def score(reading: Reading, _seed: np.random.SeedSequence) -> Scored:
        term = Rarity(reading.frequencies, unshared)
        with reading.progress.stage("ranking", "rows") as bar:
            scores = reading.data.rows.gather(partial(term.score, n_threads=reading.n_threads), bar.show)
        return Scored(term, scores, typical(scores), term.is_of_few)

    return score


def _few(reading: Reading) -> RandomDistance:
    """Return a scorer with few references. In tables the nearest twentieth of 100 rows count.

    In bags of features nearly all rows are equally far.
    """
    return KthNN(_NEIGHBOR, 4, 100) if reading.is_table else Sp()


def _some(reading: Reading) -> RandomDistance:
    return KthNN(3, 10, min(256, max(3, len(reading.data.eligible) // 2)))


def _many(reading: Reading) -> RandomDistance:
    """Return a scorer with as many references as the time per row allows: fewer if rows share many features."""
    data = reading.data
    step = max(1, len(data.eligible) // _PROBED)
    rows = data.rows.take(data.eligible[: _PROBED * step : step]).as_sparse()
    counts = np.unique(rows.indices[rows.data != 0], return_counts=True)[1].astype(np.float64)
    n = rows.n_rows
    shared = float((counts * (counts - 1)).sum()) / max(1, n * (n - 1))
    return KthNN(_NEIGHBOR, 1, int(np.clip(_WORK / max(shared, 1.0), _FEWEST_REFERENCES, _MOST_REFERENCES)))


VIEWS = (
    View(name="few", sentence="far from most rows", score=_distance(_few), in_ranking=0.5),
    View(name="some", sentence="far from the nearer rows", score=_distance(_some), in_bags=0.0, in_tables=0.5),
    View(name="many", sentence="far from the nearest rows", score=_distance(_many), in_ranking=0.5),
    View(
        name="rare",
        sentence="made of rare features",
        score=_rarity(unshared=False),
        in_bags=2.0,
        in_tables=0.0,
        of_values=False,
        in_ranking=1.0,
    ),
    View(
        name="unshared",
        sentence="made of features that no other row has",
        score=_rarity(unshared=True),
        in_bags=2.0,
        of_values=False,
    ),
    View(name="brief", sentence="far in a representation trained briefly"),
    View(name="long", sentence="far in a representation trained longer"),
)
"""The views of `Consensus`. docs/consensus.md says on which data sets their weights were chosen."""

LEARNED = tuple(view for view in VIEWS if view.score is None)


def sampled(rows: Rows) -> Block:
    """Evenly spaced rows, in memory."""
    return rows.take(np.unique(np.linspace(0, rows.n_rows - 1, min(rows.n_rows, _SAMPLE)).astype(np.int64)))


def is_table(block: Block) -> bool:
    """Return whether a third of the values or more are not zero."""
    return bool(block.lengths().sum() >= _NON_ZERO * block.n_rows * block.n_features)


def _size(references: Block, scores: Scores) -> float:
    """Return the size to which the rounding of distances is relative: that of distances, computed in double precision.

    For rows divided by their length it is the length, since they may be multiples of each other in single precision.
    """
    length = typical(np.sqrt(references.multiplied().squared_norms()))
    return length if references.factors is not None else typical(scores[scores > _DOUBLE * length], length)


def typical(sizes: Scores, otherwise: float = 1.0) -> float:
    """Return the median of the sizes above 0, or `otherwise` if there are none."""
    sizes = sizes[sizes > 0]
    return float(np.median(sizes)) if len(sizes) else otherwise
