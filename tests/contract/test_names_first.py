"""Columns under other names are refused as such, whatever their values."""

import numpy as np
import pandas as pd
import pytest

from ramodo import REPEN, AverageNN, Ensemble, KthNN, Sp

DETECTORS = [REPEN(n_epochs=1, random_state=0), Sp(), KthNN(), AverageNN(), Ensemble([Sp()])]


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda d: type(d).__name__)
@pytest.mark.parametrize("damage", [np.nan, np.inf, "text"])
def test_names_are_looked_at_before_values(detector, damage):
    frame = pd.DataFrame(np.random.default_rng(0).random((30, 3)), columns=["a", "b", "c"])
    other = frame.rename(columns={"b": "z"}).astype({"a": object})
    other.iloc[0, 0] = damage
    detector.fit(frame)
    with pytest.raises(ValueError, match=r"(?s)feature names should match.*\n- z"):
        detector.outlier_score(other)


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda d: type(d).__name__)
def test_in_fit_too(detector):
    frame = pd.DataFrame({"a": [np.nan] * 5, 1: [0.0] * 5})
    with pytest.raises(TypeError, match="feature names"):
        detector.fit(frame)
