"""The mutator of model files, for a moment; `make fuzz` gives it minutes."""

import json
import subprocess
import sys

import pytest

from fuzz import fuzz_models
from ramodo.model.file import reading as model_reading

pytestmark = pytest.mark.slow


def test_changed_models_are_refused_or_models(tmp_path):
    counts = fuzz_models.run(tmp_path / "changed.ramodo", 0, lambda count: count < 150)
    assert counts["refused"] > 50
    assert counts["a model"] > 5


@pytest.mark.parametrize(
    ("owner", "name", "instead", "error", "message"),
    [
        (model_reading, "check_vectors", lambda *_: None, (AssertionError, AttributeError, ValueError), None),
        (model_reading, "read_stage_seconds", json.loads, (TypeError, ValueError), "real number|convert string"),
    ],
    ids=["vectors", "seconds"],
)
def test_it_finds_what_is_not_checked(tmp_path, monkeypatch, owner, name, instead, error, message):
    """Otherwise a run without a finding would say nothing."""
    monkeypatch.setattr(owner, name, instead)
    with pytest.raises(error, match=message):
        fuzz_models.run(tmp_path / "changed.ramodo", 0, lambda count: count < 1000)


WRITING = """
import sys, time
for _ in range(int(sys.argv[2])):
    open(sys.argv[1], "w").close()
    time.sleep(0.5)
time.sleep(float(sys.argv[3]))
"""


@pytest.mark.parametrize(("n_files", "last", "expected"), [(8, 0, 0), (1, 600, "a hang")])
def test_a_hang_is_one_file_that_takes_long_not_a_long_run(tmp_path, monkeypatch, n_files, last, expected):
    monkeypatch.setattr(fuzz_models, "PATIENCE", 3)
    path = tmp_path / "changed.ramodo"
    worker = subprocess.Popen([sys.executable, "-c", WRITING, str(path), str(n_files), str(last)])
    assert fuzz_models.outcome(worker, path) == expected
