"""Attacks in a web server's log.

Twenty requests of 8,000 are attacks, and nobody says which. Lines are read as text: words and runs of characters, the
rare ones weighing most. The picture shows how many attacks you have seen as you read down the ranking.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from ramodo import Consensus
from ramodo.datasets import make_access_log
from ramodo.formats import Schema, TextOptions, read

tiny = "RAMODO_TINY" in os.environ
log = make_access_log(800 if tiny else 8_000, 20, random_state=0)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "access.log"
    path.write_text("\n".join(log.lines) + "\n", encoding="utf-8")
    table = read(str(path), schema=Schema(tokens=TextOptions(vocabulary=True)))

detector = Consensus(random_state=0, n_jobs=-1).fit(table.X)
order = np.argsort(-detector.outlier_scores_)
attack = log.y[order] == 1
print(f"{table.X.shape[0]:,} lines, {attack.sum()} attacks: {attack[:20].sum()} of the highest 20 lines are attacks")
for row in order[:3]:
    print(f"{detector.outlier_scores_[row]:.1f}  {log.lines[row][:90]}")

print(detector.explain(table.X, top=5, rows=order[:1], names=table.names))

lines = np.arange(1, len(order) + 1)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.step(lines, np.cumsum(attack), color="tab:red", label="by score")
axes.step(lines, np.minimum(lines, attack.sum()), color="black", linestyle=":", label="best possible")
axes.step(lines, lines * attack.mean(), color="tab:gray", label="by chance")
axes.set(xscale="log", xlabel="lines read", ylabel="attacks among them")
axes.legend()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "log.png", dpi=120)
