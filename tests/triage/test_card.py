"""What a person sees of rows, and what labels tell over time."""

import random

import pytest

from ramodo import Consensus
from ramodo.formats import Schema, read
from ramodo.triage import TriageSession
from ramodo.triage.changes import Weighed, _apart
from ramodo.triage.estimates import over_time
from ramodo.triage.opinions import Opinions
from ramodo.triage.store import Entry


def entry(number, *, row=0, label=1, who="ann", at="2026-03-02T10:00:30.000+00:00", batch=None, undoes=None):
    own = {"id": number, "at": at, "who": who, "batch": batch or f"b{number}", "undoes": undoes}
    return Entry(**own, row=row, label=label, model=0, queue="score", stratum="above")


def test_counts_kept_are_those_of_all_entries():
    rng, opinions, entries = random.Random(0), Opinions(), []
    for number in range(1, 400):
        given = [one.batch for one in entries if one.undoes is None]
        undoes = rng.choice(given) if given and rng.random() < 0.3 else None
        made = entry(number, row=rng.randrange(20), label=rng.choice((1, -1, 0)), who=rng.choice("abc"), undoes=undoes)
        entries.append(made)
        opinions.add([made])
        undone = {one.undoes for one in entries}
        held = {}
        for one in entries:
            if one.undoes is None and one.batch not in undone:
                held.setdefault(one.row, {})[one.who] = one.label
        sums = [sum(of.values()) for of in held.values()]
        assert opinions.labelled == set(held)
        assert opinions.counts() == {
            "outliers": sum(total > 0 for total in sums),
            "inliers": sum(total < 0 for total in sums),
            "unsure": sum(total == 0 for total in sums),
        }
    assert opinions.after(390) == 9


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_rows_of_a_table_are_shown_as_the_file_has_them(tmp_path):
    lines = [f"p{i},{20 + i % 7}.5,{'DE' if i % 3 else 'FR'},{i % 2}" for i in range(80)]
    lines[5] = "p5,9000.25,KP,1"
    (tmp_path / "pay.csv").write_text("id,amount,country,express\n" + "\n".join(lines) + "\n")
    table = read(str(tmp_path / "pay.csv"), schema=Schema(id="id", scale="auto"))
    detector = Consensus(random_state=0).fit(table.X)
    detector.feature_names_in_ = list(table.names)
    with TriageSession(detector, table, store=str(tmp_path / "labels.db")) as session:
        seen = session.card(5)
        values = {value.name: value for value in seen.raw.values}
        assert (values["amount"].text, values["country"].text, values["express"].text) == ("9000.25", "KP", "1")
        assert values["amount"].unusual
        assert len(seen.nearest) == 2
        for other in seen.nearest:
            near = {value.name: value for value in other.values}
            assert near["country"].text in ("DE", "FR")
            assert not near["amount"].unusual
        assert [amount for _, _, amount in seen.bars if abs(amount) < 1e-6] == []


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_times_are_shown_as_times(tmp_path):
    lines = [f"p{i},2026-03-{1 + i % 28:02d}T{9 + i % 8:02d}:{i % 60:02d}:00,{20 + i % 7}.5" for i in range(80)]
    lines[5] = "p5,2026-03-04T03:12:00,21.5"
    (tmp_path / "pay.csv").write_text("id,at,amount\n" + "\n".join(lines) + "\n")
    table = read(str(tmp_path / "pay.csv"), schema=Schema(id="id", scale="auto"))
    detector = Consensus(random_state=0).fit(table.X)
    detector.feature_names_in_ = list(table.names)
    with TriageSession(detector, table, store=str(tmp_path / "labels.db")) as session:
        seen = session.card(5)
        reasons = {words: usual for words, usual, _ in seen.bars}
        assert reasons["at, hour of the day = 03:12"].startswith("usually around 1")
        values = {value.name: value.text for value in seen.raw.values}
        assert (values["at, hour of the day"], values["at, day of the week"]) == ("03:12", "Wed")
        assert not any("sine" in name for name in values)
        assert seen.raw.n_values == len(values)


def test_labels_over_time_are_few_columns_of_one_width():
    days = [f"2026-03-{day:02d}T10:00:30.000+00:00" for day in (2, 2, 5)]
    found = over_time([entry(i, at=at, label=1 if i else -1) for i, at in enumerate(days)])
    assert [(one.begin, one.outliers, one.inliers) for one in found if one.n_labels] == [
        ("2026-03-02 06:00", 1, 1),
        ("2026-03-05 06:00", 1, 0),
    ]
    assert len(found) == 13  # six hours each, those without labels too
    assert over_time([]) == []


def test_tokens_that_say_the_same_are_named_once():
    given = [Weighed(name, 1.0) for name in ("' 40'", "'1\" 40'", "40", "prize", "'zip'", "feature 1", "feature 12")]
    assert [one.feature for one in _apart(given)] == ["' 40'", "prize", "'zip'", "feature 1", "feature 12"]
