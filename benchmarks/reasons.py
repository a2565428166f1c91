"""Are reasons the causes? Planted logs and documents, ranked as `ramodo detect` does without any option.

    python -m benchmarks.reasons

Of the planted rows among the 100 highest: how often a piece of what gives the row away is among its three strongest
reasons, at least half of whose characters must lie in it; and how well the groups of rows agree with the planted kinds,
as the adjusted Rand index, where a row that is in no group is one of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ramodo import Consensus
from ramodo.datasets import make_access_log, make_documents
from ramodo.explain.explanation import Explanation
from ramodo.explain.naming import explained
from ramodo.explain.reasons import Reason
from ramodo.formats import How, Schema, TextOptions
from ramodo.formats.text import as_table

from .sizes import sized
from .table import print_table

TOP, REASONS = 100, 3
_INSIDE = 0.5


class Found(NamedTuple):
    """Planted rows among the highest, the share of them whose cause is a reason, and the agreement of groups."""

    n: int
    named: float
    agreement: float


def measured(texts: Sequence[str], kinds: Sequence[str], causes: Sequence[Any]) -> Found:
    """Of documents with planted ones: kinds and causes are empty for the others."""
    from sklearn.metrics import adjusted_rand_score

    options = TextOptions()
    table = as_table(texts, How(schema=Schema(tokens=options), n_threads=2))
    detector = Consensus(random_state=0, n_jobs=-1).fit(table.X)
    scores = detector.outlier_scores_
    highest = np.argsort(-scores, kind="stable")[:TOP].tolist()
    why = explained(detector, table, highest, scores, REASONS)
    planted = [place for place, row in enumerate(highest) if kinds[row]]
    named = [_is_cause(texts[highest[i]], causes[highest[i]], why[i].reasons) for i in planted]
    labels = _labels(why)
    agreement = adjusted_rand_score([kinds[highest[i]] for i in planted], [labels[i] for i in planted])
    return Found(len(planted), float(np.mean(named)), float(agreement))


def _is_cause(text: str, cause: str | Sequence[str], reasons: Sequence[Reason]) -> bool:
    """Whether one of the reasons lies in what gives the text away."""
    inside = np.zeros(len(text), dtype=bool)
    for piece in [cause] if isinstance(cause, str) else cause:
        at = text.find(piece)
        while at >= 0:
            inside[at : at + len(piece)] = True
            at = text.find(piece, at + 1)
    spans = [span for reason in reasons for span in reason.spans]
    return any(inside[span.begin : span.end].mean() >= _INSIDE for span in spans)


def _labels(why: Explanation) -> list[int]:
    """The number of each row's group; rows that are in none have one of their own."""
    labels = list(range(len(why)))
    for number, group in enumerate(why.groups()):
        for row in group.rows:
            labels[row] = len(why) + number
    return labels


def main() -> None:
    """A line for each set and seed, and one for all seeds of a set."""
    header = ["set", "seed", f"planted in the top {TOP}", f"cause among {REASONS} reasons", "Rand index of groups"]
    print_table("Planted causes among the reasons", header, _rows())


def _rows() -> Iterator[list[str]]:
    seeds = range(sized(5, 1))
    for name, made in (("log", _log), ("documents", _documents)):
        found = []
        for seed in seeds:
            found.append(measured(*made(seed)))
            yield _row(name, str(seed), found[-1])
        n = sum(one.n for one in found)
        named = sum(one.n * one.named for one in found) / n
        yield _row(name, "all", Found(n, named, float(np.mean([one.agreement for one in found]))))


def _log(seed: int) -> tuple[Any, Any, Any]:
    made = make_access_log(sized(30_000, 1_500), random_state=seed)
    return made.lines, made.kinds, made.causes


def _documents(seed: int) -> tuple[Any, Any, Any]:
    made = make_documents(sized(5_000, 400), sized(30, 6), random_state=seed)
    return made.texts, made.kinds, made.causes


def _row(name: str, seed: str, found: Found) -> list[str]:
    return [name, seed, str(found.n), f"{found.named:.3f}", f"{found.agreement:.3f}"]


if __name__ == "__main__":
    main()
