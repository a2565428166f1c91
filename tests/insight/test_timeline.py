"""The steps of a timeline: round, few enough, and with all lines."""

import numpy as np
import pytest

from ramodo.insight.timeline import Timeline


@pytest.mark.parametrize("seconds", [3, 1000, 90_000, 4e6, 3e8])
def test_steps_are_round_and_hold_every_line(seconds):
    times = 1.7e9 + np.random.default_rng(0).random(500) * seconds
    found = Timeline.of(times)
    assert found.n_steps <= 1201
    assert found.begin % found.step == 0
    assert found.counts().sum() == 500
    at = found.begin + found.step * found.of_line
    assert ((at <= times) & (times < at + found.step)).all()


def test_some_of_the_lines():
    found = Timeline.of(np.array([0.0, 1.0, 1.5, 3.0]))
    assert found.counts().tolist() == [1, 2, 0, 1]
    assert found.counts(np.array([False, True, True, False])).tolist() == [0, 2, 0, 0]
    assert found.counts(np.array([3])).tolist() == [0, 0, 0, 1]


def test_lines_of_one_moment_have_none():
    assert Timeline.of(np.zeros(5)) is None
