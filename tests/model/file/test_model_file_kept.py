"""A file that was written once, and the scores of some rows: today's code still reads it and scores alike."""

from pathlib import Path

import numpy as np

from ramodo import load

MODELS = Path(__file__).parent


def test_it_scores_as_it_did():
    """Other machines may differ in the last digits."""
    known = np.load(MODELS / "rows_and_scores.npy")
    detector = load(MODELS / "saved.ramodo")
    np.testing.assert_allclose(detector.outlier_score(known[:, :-1]), known[:, -1], rtol=1e-6)
    assert detector.predict(known[:, :-1]).min() == -1
