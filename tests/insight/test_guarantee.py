"""A false-discovery rate is promised for new rows, by `discoveries`; of training rows nothing says that it holds."""

import re

import pytest

from ramodo import Conformal
from ramodo.insight.cutoffs import guarantee_of

NEW_ROWS_ONLY = "holds for new rows only"


@pytest.fixture(params=[0.99, 0.001], ids=["some found", "none found"])
def detector(request, quick, data):
    return quick(cutoff=Conformal(request.param, held_out=0.4)).fit(data[0])


@pytest.mark.parametrize("is_training", [True, False])
def test_the_cut_off_says_for_whom_the_rate_holds(detector, is_training):
    said = ". ".join(guarantee_of(detector, is_training))
    assert NEW_ROWS_ONLY in said
    assert "`discoveries`" in said
    assert not re.search(r"rate of [\d.]+|expected to be|holds for the training rows", said)


def test_the_line_alone_says_it_too(detector):
    """`detect` prints the guarantee without the caveat."""
    assert NEW_ROWS_ONLY in guarantee_of(detector).text


def test_a_report_says_it(detector, data, tmp_path):
    for rows in (data[0], data[0][100:]):
        text = detector.report(rows, tmp_path / "report.html").read_text()
        assert NEW_ROWS_ONLY in text
        assert "a false-discovery rate of" not in text


def test_other_cut_offs_do_not_speak_of_it(fitted):
    assert "discover" not in " ".join([*guarantee_of(fitted), *guarantee_of(fitted, is_training=False)])
