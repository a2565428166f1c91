"""A file of each version of the format, as it was written then, still scores as it did."""

from pathlib import Path

import numpy as np
import pytest

from ramodo import load
from ramodo.model.file.reading import VERSION
from ramodo.model.file.tensors import metadata_of

MODELS = Path(__file__).parent / "models"


def test_there_is_a_file_of_every_version():
    versions = {int(metadata_of(path)["version"]) for path in MODELS.glob("*.ramodo")}
    assert versions == set(range(2, VERSION + 1))


@pytest.mark.parametrize("version", range(2, VERSION + 1))
def test_it_scores_as_it_did(version):
    """Rows and the scores that they had; other machines may differ in the last digits."""
    known = np.load(MODELS / "rows_and_scores.npy")
    detector = load(MODELS / f"version_{version}.ramodo")
    np.testing.assert_allclose(detector.outlier_score(known[:, :-1]), known[:, -1], rtol=1e-6)
    assert detector.predict(known[:, :-1]).min() == -1
