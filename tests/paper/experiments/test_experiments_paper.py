"""The paper's numbers, held against each other: its tables repeat themselves, and its tests can be computed again."""

import pytest

from ramodo.paper.experiments import paper
from ramodo.paper.experiments.sets import STAND_INS
from ramodo.paper.experiments.statistics import p_value


def test_every_set_is_in_every_table():
    assert tuple(paper.AUC_AND_RUNTIME) == tuple(paper.COMPETITORS) == paper.SETS
    assert tuple(s.paper for s in STAND_INS) == paper.SETS
    assert all(tuple(row) == paper.METHODS for row in paper.COMPETITORS.values())


@pytest.mark.parametrize("name", paper.SETS)
def test_the_first_table_agrees_with_itself_and_the_second(name):
    row = paper.AUC_AND_RUNTIME[name]
    assert 100 * (row.repen_auc / row.org_auc - 1) == pytest.approx(row.improvement, abs=0.02)
    assert paper.COMPETITORS[name]["REPEN"] == row.repen_auc
    low, high = ((row.org_seconds + s * 0.005) / (row.repen_seconds - s * 0.005) for s in (-1, 1))
    assert low - 0.5 <= row.speedup <= high + 0.5 or name == "OT"  # OT's own seconds give 470 to 671


def test_its_wilcoxon_tests_come_out_again():
    """A wrong digit that changed an order of differences would show here."""
    rows = paper.AUC_AND_RUNTIME.values()
    assert round(p_value([r.repen_auc for r in rows], [r.org_auc for r in rows]), 4) == paper.AUC_AND_RUNTIME_P
    for method, expected in paper.COMPETITORS_P.items():
        pairs = [(row["REPEN"], row[method]) for row in paper.COMPETITORS.values() if not isinstance(row[method], str)]
        assert p_value([a for a, _ in pairs], [b for _, b in pairs]) == pytest.approx(expected, abs=6e-5), method


@pytest.mark.parametrize(("name", "rows", "outliers"), [("News20", 10_201, 204), ("URL", 89_063, 1_778)])
def test_its_statistics_of_labels_follow_from_the_sizes(name, rows, outliers):
    for place, n in enumerate(paper.LABELS):
        shares = {"l / N": n / rows, "(l + No) / N": (n + outliers) / rows, "l / No": n / outliers}
        for factor, share in shares.items():
            assert 100 * share == pytest.approx(paper.LABEL_STATISTICS[factor][name][place], abs=0.0101), (factor, n)


def test_some_cells():
    assert paper.AUC_AND_RUNTIME["Webspam"] == (16_609_143, 215_001, 0.8781, 0.8713, -0.78, 1879.68, 6.08, 309)
    assert paper.AUC_AND_RUNTIME["p53"].org_seconds == 230.39
    assert paper.COMPETITORS["R8"]["CoP"] == 0.9326
    assert paper.COMPETITORS["News20"] == {"REPEN": 0.5822, "AE": 0.5154, "HLLE": 0.6206, "SRP": 0.4435, "CoP": "•"}
    assert paper.COMPETITORS["LC"]["HLLE"] == "◦"
    assert paper.LABELED_AUC["URL"][80] == 0.9160
