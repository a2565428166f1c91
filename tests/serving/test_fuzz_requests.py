"""The mutator of requests, for a moment; `make fuzz` gives it more."""

import pytest

from fuzz import fuzz_requests
from ramodo.serving import arrow_rows


@pytest.mark.parametrize("as_json", [False, True], ids=["arrow", "json"])
def test_changed_bodies_are_scored_or_refused(tmp_path, as_json):
    counts, _ = fuzz_requests.run(tmp_path, 0, 250, as_json=as_json)
    assert counts["refused"] > 50
    assert counts["scored"] > 20


def test_it_finds_what_is_not_checked(tmp_path, monkeypatch):
    """Otherwise a run without a finding would say nothing."""
    monkeypatch.setattr(arrow_rows, "column_of", lambda batch, name: batch.column(name))
    with pytest.raises(KeyError, match="exists 2 times"):
        fuzz_requests.run(tmp_path, 0, 2000)
