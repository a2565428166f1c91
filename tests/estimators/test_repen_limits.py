"""A trillion features in little memory, and Ctrl-C in the middle of training."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from ramodo.fitting.learn_distance import _count_alive, _Responses

pytestmark = pytest.mark.slow

_A_TRILLION = """
import resource
import numpy as np, scipy.sparse as sp
from ramodo import REPEN

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

rng = np.random.default_rng(0)
known = rng.choice(10**12, 100_000, replace=False)
columns = np.sort(rng.choice(known, (5000, 100)), axis=1)
data, indptr = rng.random(columns.size, dtype=np.float32), np.arange(5001, dtype=np.int64) * 100
X = sp.csr_array((data, columns.ravel(), indptr), shape=(5000, 10**12))
assert X.indices.dtype == np.int64
REPEN(n_epochs=1, random_state=0).fit(X[:100])
before = peak()
detector = REPEN(n_epochs=3, random_state=0).fit(X)
assert np.array_equal(detector.outlier_score(X), detector.outlier_scores_)
assert 90_000 < len(detector.feature_indices_) <= 100_000
assert detector.components_.shape == (20, 10**12)
print(peak() - before)
"""

_INTERRUPTED = """
import signal
from ramodo import REPEN
from ramodo.datasets import make_ultrahigh

X, _ = make_ultrahigh(2000, 100_000, row_length=300, random_state=0)
detector = REPEN(n_epochs=1000, random_state=0, verbose=1)
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run in the background
try:
    detector.fit(X)
except KeyboardInterrupt:
    print("interrupted", [name for name in vars(detector) if name.endswith("_")])
"""


def test_parameter_memory_follows_the_features_seen(python):
    """10^5 features of 20 weights and two accumulators each: some 25 MB, whatever the width."""
    assert int(python(_A_TRILLION)) < 300


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT to another process")
def test_ctrl_c_stops_training_and_leaves_the_estimator_unfitted():
    """Sent half a second after the stage before training reports its end; training would go on for long."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", _INTERRUPTED]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True) as running:
        try:
            for line in running.stderr:
                if line.startswith("sampling"):
                    break
            time.sleep(0.5)
            running.send_signal(signal.SIGINT)
            printed, complaints = running.communicate(timeout=120)
        finally:
            running.kill()
    assert printed.strip() == "interrupted []", complaints
    assert "training" not in complaints


@pytest.mark.parametrize("last", ["ramodo.fitting.learn_distance._count_alive", "ramodo.framework._attributes"])
def test_an_interruption_at_the_very_end_leaves_an_older_fit_whole(quick, data, monkeypatch, last):
    X = data[0]
    detector = quick().fit(X)
    before, state = detector.predict(X), dict(vars(detector))

    def interrupt(*_given, **_named):
        raise KeyboardInterrupt

    monkeypatch.setattr(last, interrupt)
    with pytest.raises(KeyboardInterrupt):
        detector.fit(X * 1000)
    assert np.array_equal(detector.predict(X), before)
    assert set(vars(detector)) == set(state)
    assert all(value is state[name] for name, value in vars(detector).items())


def test_a_collapsed_representation_is_told():
    units = np.arange(20)
    blocks = [_Responses(60, np.zeros(60), units < 2, 57), _Responses(40, np.zeros(40), units == 2, 38)]
    with pytest.warns(UserWarning, match=r"collapsed: only 3 of 20 units respond to any row, and 95% of the rows"):
        assert _count_alive(blocks, warn=True, advice=str) == 3
    assert _count_alive(blocks, warn=False, advice=str) == 3
    assert _count_alive([*blocks, _Responses(1, np.zeros(1), units < 15, 0)], warn=True, advice=str) == 15
