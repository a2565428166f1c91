"""The package's face: its names, and that importing it is cheap."""

import pytest

import ramodo


def test_public_names():
    detectors = {"Consensus", "RAMODO", "REPEN", "KthNeighborREPEN", "AverageNeighborREPEN"}
    scorers = {"Sp", "KthNN", "AverageNN", "Ensemble"}
    cutoffs = {"Cantelli", "TopFraction", "TopK", "GivenSet", "Candidates", "Cutoff", "Conformal"}
    stages = {"TripletSampler", "Layers", "RankingHinge"}
    classes = detectors | scorers | cutoffs | stages
    assert set(ramodo.__all__) == classes | {"load", "open_dataset", "__version__"}
    assert set(ramodo.__all__) <= set(dir(ramodo))
    for name in classes:
        assert getattr(ramodo, name).__name__ == name
    assert callable(ramodo.load)
    assert callable(ramodo.open_dataset)
    with pytest.raises(AttributeError, match="module 'ramodo' has no attribute 'DevNet'"):
        _ = ramodo.DevNet


def test_importing_leaves_heavy_libraries_alone(python):
    """scikit-learn and scipy take most of a second; they come with the first use of a detector."""
    loaded = "sorted({'sklearn', 'scipy', 'numpy'} & set(sys.modules))"
    assert python(f"import sys, ramodo; print({loaded})").strip() == "[]"
    assert python(f"import sys, ramodo; ramodo.REPEN; print({loaded})").strip() == "['numpy', 'scipy', 'sklearn']"
