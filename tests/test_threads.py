"""`n_jobs` by joblib's convention."""

import os

import joblib
import numpy as np
import pytest

from ramodo import REPEN, Ensemble, Sp
from ramodo.cli.reading import threads_of
from ramodo.options import OptionError
from ramodo.threads import n_threads

DETECTORS = [REPEN(n_epochs=1, random_state=0), Sp(random_state=0), Ensemble([Sp()], random_state=0)]


@pytest.fixture
def cores(monkeypatch):
    """Four of a machine's eight."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 2, 4, 6}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)


@pytest.mark.parametrize(("n_jobs", "expected"), [(None, 1), (1, 1), (9, 9), (-1, 4), (-2, 3), (-4, 1), (-9, 1)])
def test_threads_that_an_option_asks_for(cores, n_jobs, expected):
    assert n_threads(n_jobs) == expected
    for detector in DETECTORS:
        assert detector.set_params(n_jobs=n_jobs)._n_threads() == expected


@pytest.mark.parametrize("context", [joblib.parallel_config, joblib.parallel_backend])
@pytest.mark.parametrize(("asked", "expected"), [(3, 3), (-1, 4), (-2, 3)])
def test_none_is_what_the_context_says(cores, context, asked, expected):
    with context("threading", n_jobs=asked):
        assert n_threads(None) == expected
        assert n_threads(2) == 2
    assert n_threads(None) == 1


def test_a_task_of_joblib_s_has_one_thread(cores):
    """Where joblib already runs as many tasks as there are cores, each of them keeps to one."""
    found = joblib.Parallel(n_jobs=2, backend="threading")(joblib.delayed(n_threads)(None) for _ in range(2))
    assert found == [1, 1]


def test_the_command_line_uses_all_cores(cores):
    assert threads_of(None) == 4
    assert threads_of(2) == 2
    assert threads_of(-2) == 3
    with pytest.raises(OptionError, match="--threads must be "):
        threads_of(0)


@pytest.mark.parametrize("n_jobs", [None, -1, -2, 3])
def test_scores_do_not_depend_on_it(data, n_jobs):
    one, other = (REPEN(n_epochs=2, random_state=0, n_jobs=n).fit(data[0]) for n in (1, n_jobs))
    assert np.array_equal(one.outlier_scores_, other.outlier_scores_)
    with joblib.parallel_config(n_jobs=2):
        assert np.array_equal(other.outlier_score(data[0]), one.outlier_scores_)
