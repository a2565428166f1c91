"""Attacks in a web server's log.

Twenty requests of 8,000 are attacks, and nobody says which. Lines are read as text: words and runs of characters, the rare
ones weighing most. The picture shows where the attacks are in the ranking, and why the highest line is there.
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
from ramodo.formats import TextOptions, read
from ramodo.plots import plot_reasons

tiny = "RAMODO_TINY" in os.environ
log = make_access_log(800 if tiny else 8_000, 20, random_state=0)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "access.log"
    path.write_text("\n".join(log.lines) + "\n", encoding="utf-8")
    table = read(str(path), texts=TextOptions(vocabulary=True))

detector = Consensus(random_state=0, n_jobs=-1).fit(table.X)
order = np.argsort(-detector.outlier_scores_)
attack = log.y[order] == 1
print(f"{table.X.shape[0]:,} lines, {attack.sum()} attacks: {attack[:20].sum()} of the highest 20 lines are some")
for row in order[:3]:
    print(f"{detector.outlier_scores_[row]:.1f}  {log.lines[row][:90]}")

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.plot(np.cumsum(attack), color="tab:red")
left.set(xscale="symlog", xlabel="lines looked at, highest first", ylabel="attacks found", ylim=(0, None))
plot_reasons(detector.explain(table.X, top=8, rows=order[:1], names=table.names)[0], right)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "log.png", dpi=120)
