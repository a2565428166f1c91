"""A loop of labels.

Forty times, look at the highest row without a label, and label it; `with_labels` learns from each label in a moment.
The figure compares the outliers found in this way with those that the first ranking has on top.
"""

from __future__ import annotations

import os
import sys

import matplotlib.pyplot as plt
import numpy as np

from ramodo import Consensus
from ramodo.datasets import make_ultrahigh

tiny = "RAMODO_TINY" in os.environ
n_rows, n_labels = (400, 10) if tiny else (3_000, 40)
X, truth = make_ultrahigh(n_rows, 20_000, n_marks=12, random_state=0)
start = Consensus(random_state=0, n_jobs=-1).fit(X)

labels, found = np.zeros(n_rows), [0]
detector = start
for _ in range(n_labels):
    row = int(np.argmax(np.where(labels == 0, detector.outlier_scores_, -np.inf)))
    labels[row] = 1 if truth[row] == 1 else -1  # the analyst's word
    found.append(found[-1] + int(truth[row] == 1))
    detector = start.with_labels(X, labels) if (labels == 1).any() else start

alone = np.concatenate([[0], np.cumsum(truth[np.argsort(-start.outlier_scores_)][:n_labels])])
print(
    f"{int((truth == 1).sum())} outliers among {n_rows:,} rows; of {n_labels} rows looked at, {found[-1]} are outliers"
)
print(f"without labels {int(alone[-1])} of the highest {n_labels} are")

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.plot(found, color="tab:red", label="learning from each label")
axes.plot(alone, color="tab:gray", label="as first ranked")
axes.set(xlabel="rows looked at", ylabel="outliers among them")
axes.legend()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "labelling.png", dpi=120)
