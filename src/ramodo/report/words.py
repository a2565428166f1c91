"""The sentences of a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

import numpy as np

from ..explain.explanation import Driver
from ..formats.event_lines import NO_YEAR
from ..insight.cutoffs import flags_of_noise, guarantee_of, says_little
from ..insight.diagnosis import Diagnosis
from ..insight.figures import FLAGGED, SAMPLED
from ..insight.timeline import Timeline
from .content import SHOWN, Content

Shorten = Callable[[str], str]

_LITTLE = 0.1
"""Features that a row has are named before those it lacks, unless they add less than this share of what those add."""

_AGREE = 0.5
"""A view agrees if its rank correlation with all views together is at least this."""


def percent(share: float) -> str:
    """Return a share in percent, with enough digits not to look like 0 % or 100 %."""
    if 0 < share < 0.0001:
        return "below 0.01 %"
    if 0.9999 < share < 1:
        return "above 99.99 %"
    edge = min(share, 1 - share)
    return f"{100 * share:.{0 if edge >= 0.1 or edge == 0 else 1 if edge >= 0.01 else 2}f} %"


def number(value: float) -> str:
    """Return a score with four digits, enough to tell scores apart by eye; a threshold just above 0 is shown as 0."""
    return "0" if abs(value) < 1e-300 else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def cut_off(content: Content) -> str:
    """Return the threshold, told apart from an unflagged highest score that rounds to the same digits."""
    shown, highest = number(content.threshold), float(content.scores.max())
    return f"just above {shown}" if highest < content.threshold and number(highest) == shown else shown


def rows(n: int) -> str:
    """Return the number of rows in words: 1 row, 2 rows."""
    return "1 row" if n == 1 else f"{n:,} rows"


def listed(names: Iterable[str]) -> str:
    """a, b and c."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def summary(content: Content, name: Shorten) -> list[str]:
    """Return the report in a few sentences."""
    n, flagged = len(content.scores), content.n_flagged
    guarantee = guarantee_of(content.detector, content.is_training)
    found = [
        f"Of {rows(n)}, {flagged:,} ({percent(flagged / n)}) score at or above the cut-off of "
        f"{cut_off(content)} and {'is' if flagged == 1 else 'are'} flagged as outliers.",
        f"The cut-off is {guarantee.text}. {guarantee.caveat}",
        *_of_evidence(content),
    ]
    if content.explanation is not None and len(content.explanation):
        found.append(_of_highest(content, name))
    if content.curves is not None and content.truth is not None:
        caught = int((content.truth & (content.scores >= content.threshold)).sum())
        found.append(
            f"Of {rows(int(content.truth.sum()))} labelled as outliers, {caught:,} are flagged. A labelled outlier "
            f"outranks another row in {percent(content.curves.auc)} of all pairs (AUC-ROC)."
        )
    if not content.is_training:
        found.append(
            "These are not the rows that the model was fitted to: percentiles compare them with the training rows, "
            "and the cut-off was computed from those."
        )
    return found


def headline(content: Content) -> str:
    """Return how many rows are flagged, and of how many kinds they are."""
    n, flagged = len(content.scores), content.n_flagged
    if not flagged:
        return f"None of {rows(n)} is flagged."
    start = f"{flagged:,} of {rows(n)} {'is' if flagged == 1 else 'are'} flagged"
    if content.explanation is None or flagged < 2:
        return f"{start}."
    kinds = [group for group in content.groups if content.scores[content.explained[group.rows[0]]] >= content.threshold]
    compared = min(flagged, len(content.explained))
    of = "them" if flagged == compared else f"the {compared:,} highest"
    if not kinds:
        return f"{start}; no two of {of} for the same reason."
    alike, n_kinds = sum(len(group.rows) for group in kinds), len(kinds)
    which = f"{alike:,} of {of}" if alike < compared else f"All of {of}"
    largest = f", the largest of {rows(len(kinds[0].rows))}" if n_kinds > 1 else ""
    others = {0: "", 1: "; the other stands alone"}.get(compared - alike, "; each of the others stands alone")
    return (
        f"{start}. {which} are of {'one kind' if n_kinds == 1 else f'{n_kinds:,} kinds'}, high for the same "
        f"reason{largest}{others}."
    )


def of_kind(content: Content, place: int, n: int, name: Shorten) -> str:
    """About a row to look at first: how many are like it, and its reasons."""
    why = content.reasons_of(int(content.table[place]))
    raising = [] if why is None else [r for r in why.reasons if r.contribution > 0][:2]
    like = "" if n == 1 else f" and {rows(n - 1)} like it"
    if why is not None and _LITTLE * why.lacks.contribution > sum(r.contribution for r in raising):
        return f"{like}: {name(why.lacks.in_words())}"
    if why is not None and why.thin():
        return f"{like}: {why.thin()}"
    return f"{like}: {listed([quoted(name(r.in_words())) for r in raising])}" if raising else like


def of_noise(content: Content, diagnosis: Diagnosis) -> str:
    """Why the flags may say little; empty if they are few and clearly more than noise gives, and views agree."""
    flagged, expected = content.n_flagged, flags_of_noise(content.detector, len(content.scores))
    said = []
    warned = any(finding.name == "view_agreement" and finding.warning for finding in diagnosis.findings)
    if min(diagnosis.views.values(), default=1.0) < _AGREE and not warned:
        said.append("The views disagree on which rows are outliers: each row says which views put it there.")
    if says_little(content.detector, flagged, len(content.scores)):
        if expected is not None:
            said.append(
                f"Data without any outliers would give about {expected:,} flag{'s' * (expected != 1)} with this "
                f"cut-off, and here {'is' if flagged == 1 else 'are'} {flagged:,}."
            )
        said.append("Look at the kinds from the top, and stop when they become ordinary.")
    return " ".join(said)


def _of_evidence(content: Content) -> list[str]:
    """Return what a score means if it adds up the evidence of several views; else nothing."""
    evidence = content.detector.model_.evidence
    if evidence is None:
        return []
    return [
        f"A score is evidence, added up over {len(evidence.views)} views of a row: each adds −ln of the share of "
        "training rows that are at least as far out. The most ordinary row gets 0 from a view, a row among the highest "
        "5 % gets 3, among the highest 1 % about 4.6. Each row says which views put it where it is."
    ]


def _of_highest(content: Content, name: Shorten) -> str:
    assert content.explanation is not None
    highest = content.explanation[0]
    raising = [reason for reason in highest.reasons if reason.contribution > 0][:3]
    reasons = _by([(name(reason.feature), reason.value == 0 and not reason.shown) for reason in raising], "it lacks")
    row = name(content.id_of(int(content.table[0])))
    return f"Row “{row}” has the highest score, {number(highest.score)}{reasons}."


def lacked(driver: Driver) -> bool:
    """Return whether rows score high because they lack the feature."""
    return driver.lacking > 0.5


def quoted(name: str) -> str:
    """Return the name in quotes, unless it is quoted already, as runs of characters are."""
    return name if is_run(name) else f"“{name}”"


def is_run(name: str) -> bool:
    """Return whether a feature is a run of characters of a document, which is in single quotes."""
    return len(name) > 2 and name[-1] == "'" and (name[0] == "'" or ": '" in name)


def _by(causes: Sequence[tuple[str, bool]], lack: str) -> str:
    """Say why scores are high: the names of features that rows have, and of those they lack."""
    there = [quoted(name) for name, lacking in causes if not lacking]
    absent = [quoted(name) for name, lacking in causes if lacking]
    text = f", most of all by {listed(there)}" if there else ""
    return f"{text}{', and' if there else ': most of all,'} {lack} {listed(absent)}" if absent else text


def of_histogram(content: Content) -> str:
    """Return the distribution of scores, for readers who cannot see the figure."""
    scores, n = content.scores, len(content.scores)
    low, middle, high = (number(float(v)) for v in np.quantile(scores, [0, 0.5, 1]))
    beyond = content.histogram.n_beyond
    end = f" The last bar also holds {rows(beyond)} with higher scores." if beyond else ""
    return (
        f"{n:,} scores from {low} to {high}, half of them below {middle}. "
        f"{content.n_flagged:,} ({percent(content.n_flagged / n)}) lie at or above the cut-off of "
        f"{cut_off(content)}, drawn as a line.{end}"
    )


def of_map(content: Content) -> str:
    """What the map shows, and what near and far mean on it."""
    n, shown = len(content.scores), len(content.map_rows)
    flagged = int((content.scores[content.map_rows] >= content.threshold).sum())
    which = f"All {rows(n)}"
    if shown < n:
        which = (
            f"A sample: {shown:,} of {rows(n)}, {SAMPLED:,} drawn at random and "
            f"{'all flagged ones' if content.n_flagged <= FLAGGED else f'the {FLAGGED:,} highest flagged ones'}"
        )
    squeezed = " Far points are drawn closer than they are (arcsinh scale)." if content.map.compressed else ""
    return (
        f"{which}; {flagged:,} of them are flagged. Rows close to each other are alike in the learned representation. "
        f"The axes are the two directions in which rows differ most, with {percent(content.map.shares[0])} and "
        f"{percent(content.map.shares[1])} of the spread; at the ends, the feature that correlates most.{squeezed}"
    )


def of_timeline(timeline: Timeline, n_flagged: int, n_kinds: int) -> str:
    """What the timeline shows, for readers who cannot see it."""
    first, last = (
        datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M:%S").removeprefix(f"{NO_YEAR}-")
        for time in (timeline.begin, timeline.begin + timeline.step * timeline.n_steps)
    )
    flagged = f"{n_flagged:,} flagged {'line' if n_flagged == 1 else 'lines'}" if n_flagged else "No line is flagged"
    kinds = f"{' and' if n_flagged else '; below are'} the {n_kinds} largest kinds" if n_kinds > 1 else ""
    below = f" Below: {flagged}{kinds}." if n_flagged else f" {flagged}{kinds}."
    return f"{int(timeline.counts().sum()):,} lines from {first} to {last}, as the log writes times.{below}"


def of_table(content: Content) -> str:
    """Which rows the table lists."""
    listed_rows = len(content.table)
    if content.n_flagged > SHOWN:
        text = f"The {SHOWN} highest of {content.n_flagged:,} flagged rows."
    elif content.n_flagged < listed_rows:
        text = f"The {listed_rows} highest scores; {content.n_flagged} of these rows are flagged."
    else:
        text = f"All {content.n_flagged} flagged rows."
    if content.explanation is None:
        return f"{text} No reasons are given: {content.unexplained}"
    if content.groups:
        text += " Rows that are high for the same reason share an entry."
    return text


def of_notation(content: Content, names: Iterable[str]) -> str:
    """How features of documents are written; empty for other data."""
    if content.texts is None or not any(map(is_run, names)):
        return ""
    return (
        "Reasons in single quotes are runs of characters, marked in the document; each adds up the contributions of "
        "the words and n-grams in it."
    )


def of_training(content: Content) -> str:
    """Return the training curve."""
    loss, candidates = content.detector.loss_curve_, len(content.detector.candidate_outliers_)
    epochs = "1 epoch" if len(loss) == 1 else f"{len(loss)} epochs"
    return (
        f"The ranking loss went from {number(float(loss[0]))} to {number(float(loss[-1]))} in {epochs}. Training "
        f"used {rows(candidates)} as outlier candidates. A score is the sum of: "
        f"{'; '.join(content.detector.model_.names())}."
    )


def of_curves(content: Content) -> str:
    """How scores agree with labels."""
    assert content.curves is not None
    assert content.truth is not None
    share = float(content.truth.mean())
    text = (
        f"{int(content.truth.sum()):,} of {rows(len(content.truth))} are labelled as outliers. AUC-ROC "
        f"{content.curves.auc:.4f} (a random ranking has 0.5), average precision "
        f"{content.curves.average_precision:.4f} (a random ranking has {share:.4f})."
    )
    if content.is_training and content.detector.model_.has_labels:
        text += " The detector was fitted with labels of some of these rows, so the curves are flattering."
    return text
