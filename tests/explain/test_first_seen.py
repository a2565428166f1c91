"""What no training row had: named once, most widespread first, by the first row that has it."""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from ramodo import Consensus
from ramodo.explain.first_seen import FirstSeen, first_seen
from ramodo.formats import Table, read


def as_table(path: Path, lines):
    path.write_text("\n".join(lines) + "\n")
    return read(str(path))


def test_new_runs_of_documents(tmp_path):
    old = [f"worker {'abcdefgh'[i % 8]} did job {'klmnop'[i % 6]}" for i in range(60)]
    new = [*old[:5], "kernel panic", *old[5:9], *["worker b sees zebra"] * 3]
    detector = Consensus(random_state=0).fit(as_table(tmp_path / "old.txt", old).X)
    found = first_seen(detector, as_table(tmp_path / "new.txt", new))
    assert [(one.row, one.n_rows) for one in found[:2]] == [(10, 3), (5, 1)]
    assert "zebra" in found[0].name
    assert "panic" in found[1].name
    assert first_seen(detector, as_table(tmp_path / "same.txt", old)) == []


def test_new_features_of_a_matrix():
    rng = np.random.default_rng(0)
    there = rng.random((80, 40)) < 0.15
    there[:, [7, 9]] = False
    X = sp.csr_array(there * 1.0)
    other = sp.lil_array(X[:10])
    other[3, 7] = other[5, 7] = other[4, 9] = 1.0
    found = first_seen(Consensus(random_state=0).fit(X), Table(sp.csr_array(other)))
    assert found == [FirstSeen("feature 7", 3, 2), FirstSeen("feature 9", 4, 1)]


def test_models_that_count_no_features_know_nothing_new():
    X = np.random.default_rng(0).normal(size=(60, 5))
    assert first_seen(Consensus(random_state=0).fit(X), Table(X)) == []


def test_in_words():
    assert FirstSeen("'zebra'", 10, 3).in_words(11) == "first seen at line 11: 'zebra', in 3 rows"
    assert FirstSeen("'zebra'", 10, 1).in_words(1011) == "first seen at line 1,011: 'zebra', in 1 row"
