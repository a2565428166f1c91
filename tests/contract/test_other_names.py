"""An option that other libraries have is answered with ours."""

import inspect

import pytest

from ramodo import RAMODO, REPEN, Consensus, KthNN, Sp


@pytest.mark.parametrize("kind", [Consensus, REPEN, RAMODO])
def test_contamination_is_answered_with_cutoff(kind):
    with pytest.raises(TypeError, match=rf"{kind.__name__} has no contamination: give cutoff=0\.05, the share"):
        kind(contamination=0.05)
    assert kind(cutoff=0.05).cutoff == 0.05
    assert "cutoff" in inspect.signature(kind).parameters


@pytest.mark.parametrize("kind", [Sp, KthNN])
def test_where_there_is_no_cutoff_another_detector_is_named(kind):
    with pytest.raises(TypeError, match=r"has no contamination: Consensus and REPEN take cutoff=0\.05, the share"):
        kind(contamination=0.05)


def test_a_detector_may_have_a_contamination_of_its_own():
    class Other(Sp):
        def __init__(self, contamination=0.1):
            super().__init__()
            self.contamination = contamination

    assert Other(contamination=0.2).contamination == 0.2
