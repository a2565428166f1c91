"""Generated logs and documents: as they are in the world, with an answer that is known."""

import re

import numpy as np
import pytest

from ramodo.datasets import make_access_log, make_documents
from ramodo.datasets.documents import KINDS

COMBINED = re.compile(
    r'^[\d.]+ - - \[\d\d/\w{3}/\d{4}:[\d:]{8} \+0000\] "\w+ \S+ HTTP/1\.1" \d{3} \d+ "[^"]*" "[^"]*"$'
)


@pytest.fixture(scope="module")
def log():
    return make_access_log(4000, 20, random_state=0)


def test_lines_are_of_the_combined_format_and_in_order(log):
    assert all(COMBINED.match(line) for line in log.lines)
    times = [line.split("[")[1].split("]")[0] for line in log.lines]
    assert times == sorted(times)


def test_attacks_are_two_of_each_kind_and_hold_their_cause(log):
    assert (len(log.lines), log.y.sum(), len(set(log.lines))) == (4000, 20, 4000)
    kinds = [kind for kind in log.kinds if kind]
    assert sorted(kinds) == sorted(2 * list(set(kinds)))
    assert len(set(kinds)) == 10
    for line, kind, cause, y in zip(log.lines, log.kinds, log.causes, log.y, strict=True):
        assert bool(kind) == bool(cause) == bool(y)
        assert cause in line


def test_no_ordinary_line_holds_a_cause(log):
    causes = {cause for cause in log.causes if cause}
    ordinary = [line for line, y in zip(log.lines, log.y, strict=True) if not y]
    assert not any(cause in line for cause in causes for line in ordinary)


def test_each_crawler_has_some_per_cent(log):
    for name in ("Googlebot", "bingbot", "AhrefsBot"):
        assert 0.02 < np.mean([name in line for line in log.lines]) < 0.08


@pytest.mark.parametrize("make", [make_access_log, make_documents])
def test_the_seed_decides(make):
    one, same, other = (make(300, 10, random_state=seed) for seed in (1, 1, 2))
    texts = "lines" if make is make_access_log else "texts"
    assert getattr(one, texts) == getattr(same, texts) != getattr(other, texts)
    assert np.array_equal(one.y, same.y)
    assert make(50, 0, random_state=0).y.sum() == 0
    with pytest.raises(ValueError, match="from 0 to"):
        make(10, 11)


def test_documents_hold_what_gives_them_away():
    found = make_documents(600, 30, random_state=0)
    assert {kind for kind in found.kinds if kind} == set(KINDS)
    ordinary = " ".join(text for text, y in zip(found.texts, found.y, strict=True) if not y).split()
    for text, kind, causes, y in zip(found.texts, found.kinds, found.causes, found.y, strict=True):
        assert bool(kind) == bool(causes) == bool(y)
        assert set(causes) <= set(text.split())
        assert not set(causes) & set(ordinary)
