"""Odd ones among documents.

A few documents were planted among ordinary ones. Their words make them odd, not their length: the figure compares the
scores of all documents with their lengths.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from ramodo import Consensus
from ramodo.datasets import make_documents
from ramodo.formats import Schema, TextOptions, read

tiny = "RAMODO_TINY" in os.environ
documents = make_documents(200 if tiny else 1_500, 5, random_state=0)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "documents.txt"
    path.write_text("\n".join(documents.texts) + "\n", encoding="utf-8")
    table = read(str(path), schema=Schema(tokens=TextOptions(vocabulary=True)))

detector = Consensus(random_state=0, n_jobs=-1).fit(table.X)
scores, planted = detector.outlier_scores_, documents.y == 1
ranks = np.argsort(np.argsort(-scores))[planted] + 1
print(f"{len(scores):,} documents, {table.X.shape[1]:,} columns; the planted ones have ranks {sorted(ranks.tolist())}")
print(detector.explain(table.X, top=5, rows=[int(np.argmax(scores))], names=table.names))

lengths = [len(text.split()) for text in documents.texts]
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for kind, color, name in ((~planted, "tab:gray", "ordinary"), (planted, "tab:red", "planted")):
    axes.scatter(np.array(lengths)[kind], scores[kind], s=12, color=color, label=name)
axes.set(xlabel="words", ylabel="outlier score")
axes.legend()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "documents.png", dpi=120)
