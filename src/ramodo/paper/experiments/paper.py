"""What the paper reports in section 6. `•` is its mark for out of memory, `◦` for a violated constraint."""

from __future__ import annotations

from typing import NamedTuple

OUT_OF_MEMORY, CONSTRAINT = "•", "◦"

SETS = ("AD", "LC", "p53", "R8", "OT", "News20", "URL", "Webspam")
"""In the order of its tables: by dimensionality."""


class Table1(NamedTuple):
    """AUC and detection runtime in seconds of Sp on the original space (ORG) and on REPEN's."""

    D: int
    N: int
    org_auc: float
    repen_auc: float
    improvement: float
    org_seconds: float
    repen_seconds: float
    speedup: int


AUC_AND_RUNTIME = {
    "AD": Table1(1_555, 3_279, 0.7117, 0.8533, 19.90, 0.16, 0.10, 2),
    "LC": Table1(3_312, 145, 0.9149, 0.9283, 1.47, 0.59, 0.02, 38),
    "p53": Table1(5_408, 16_772, 0.6686, 0.6817, 1.95, 230.39, 0.91, 253),
    "R8": Table1(9_467, 3_974, 0.8602, 0.9080, 5.56, 0.21, 0.12, 2),
    "OT": Table1(54_621, 265, 0.6976, 0.7627, 9.34, 23.50, 0.04, 529),
    "News20": Table1(1_355_191, 10_201, 0.5361, 0.5822, 8.60, 5.30, 0.29, 18),
    "URL": Table1(3_231_961, 89_063, 0.7556, 0.7733, 2.35, 16.40, 2.48, 7),
    "Webspam": Table1(16_609_143, 215_001, 0.8781, 0.8713, -0.78, 1879.68, 6.08, 309),
}
"""Table 1."""

AUC_AND_RUNTIME_P = 0.0156
"""Wilcoxon's p of REPEN against ORG over the eight sets, section 6.3."""

METHODS = ("REPEN", "AE", "HLLE", "SRP", "CoP")

COMPETITORS: dict[str, dict[str, float | str]] = {
    "AD": {"REPEN": 0.8533, "AE": 0.6848, "HLLE": 0.6462, "SRP": 0.7249, "CoP": 0.7483},
    "LC": {"REPEN": 0.9283, "AE": 0.9266, "HLLE": CONSTRAINT, "SRP": 0.9041, "CoP": 0.9161},
    "p53": {"REPEN": 0.6817, "AE": 0.5624, "HLLE": 0.3870, "SRP": 0.6874, "CoP": 0.6805},
    "R8": {"REPEN": 0.9080, "AE": 0.7698, "HLLE": 0.8764, "SRP": 0.8494, "CoP": 0.9326},
    "OT": {"REPEN": 0.7627, "AE": 0.5355, "HLLE": 0.7273, "SRP": 0.6708, "CoP": 0.7247},
    "News20": {"REPEN": 0.5822, "AE": 0.5154, "HLLE": 0.6206, "SRP": 0.4435, "CoP": OUT_OF_MEMORY},
    "URL": {"REPEN": 0.7733, "AE": 0.6040, "HLLE": OUT_OF_MEMORY, "SRP": 0.5774, "CoP": OUT_OF_MEMORY},
    "Webspam": {"REPEN": 0.8713, "AE": 0.8766, "HLLE": OUT_OF_MEMORY, "SRP": 0.6390, "CoP": OUT_OF_MEMORY},
}
"""Table 2: AUC of Sp on each representation."""

COMPETITORS_P = {"AE": 0.0234, "HLLE": 0.3125, "SRP": 0.0156, "CoP": 0.3125}
"""Table 2: Wilcoxon's p of REPEN against each, over the sets that both have."""

LABELS = (1, 5, 10, 20, 40, 80)

LABELED_AUC = {"News20": {0: 0.5822, 80: 0.7707}, "URL": {0: 0.7733, 80: 0.9160}}
"""The numbers that section 6.5 gives for figure 2: without labels, and the maximum."""

LABELED_AUC_ONE_DIMENSION = {"News20": 0.7201, "URL": 0.8320}
"""80 labels and M = 1, section 6.6."""

LABEL_STATISTICS = {
    "l / N": {
        "News20": (0.01, 0.05, 0.10, 0.20, 0.39, 0.78),
        "URL": (0.00, 0.01, 0.01, 0.02, 0.04, 0.09),
    },
    "(l + No) / N": {
        "News20": (2.01, 2.05, 2.10, 2.20, 2.39, 2.78),
        "URL": (2.00, 2.00, 2.01, 2.02, 2.04, 2.09),
    },
    "l / No": {
        "News20": (0.49, 2.45, 4.90, 9.80, 19.61, 39.22),
        "URL": (0.06, 0.28, 0.56, 1.13, 2.25, 4.50),
    },
}
"""Table 3, in percent, for each of `LABELS`."""

DIMENSIONS = (1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
"""Figure 3: values of M. The paper gives the curves as a picture only."""

SCALED_ROWS, SCALED_ROWS_AT = (1_000, 5_000, 25_000, 125_000), 10_000
"""Figure 4: N from 1,000 to 125,000 at D = 10,000; the steps between are ours."""

SCALED_FEATURES, SCALED_FEATURES_AT = (1_000, 10_000, 100_000, 1_000_000), 10_000
"""Figure 4: D at N = 10,000; the paper's text does not say which, so these are ours."""
