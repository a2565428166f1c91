"""The mutator of model files, for a moment; `make fuzz` gives it minutes."""

import json

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
