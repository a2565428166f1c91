"""The package's face: its names, and that importing it is cheap."""

import pytest

import ramodo


def test_public_names():
    assert {"REPEN", "load", "__version__"} <= set(dir(ramodo))
    assert set(ramodo.__all__) == {"REPEN", "load", "__version__"}
    assert ramodo.REPEN.__name__ == "REPEN"
    with pytest.raises(AttributeError, match="module 'ramodo' has no attribute 'DevNet'"):
        _ = ramodo.DevNet


def test_importing_leaves_heavy_libraries_alone(python):
    """scikit-learn and scipy take most of a second; they come with the first use of a detector."""
    loaded = "sorted({'sklearn', 'scipy', 'numpy'} & set(sys.modules))"
    assert python(f"import sys, ramodo; print({loaded})").strip() == "[]"
    assert python(f"import sys, ramodo; ramodo.REPEN; print({loaded})").strip() == "['numpy', 'scipy', 'sklearn']"
