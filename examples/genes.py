"""Few samples, many genes.

Two hundred samples with the counts of 20,000 genes; in three of them a pathway of 200 silent genes is switched on.
There is one sample for a hundred genes, and still the three stand out, with the genes that make them do so.

The effect is this large on purpose. With 100 genes switched on only one of the three is among the five highest, and
with 40 genes in 60 samples, of more uneven depth, none is.
"""

from __future__ import annotations

import os
import sys

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

from ramodo import Consensus

tiny = "RAMODO_TINY" in os.environ
n_samples, n_genes = 200, 4_000 if tiny else 20_000
rng = np.random.default_rng(0)
depth = rng.lognormal(0, 0.1, n_samples)  # how often each sample was read
usual = rng.gamma(0.3, 2.0, n_genes)
counts = rng.poisson(depth[:, None] * usual).astype(float)
pathway, odd = rng.choice(np.flatnonzero(usual < 0.05), 200, replace=False), [7, 21, 148]
counts[np.ix_(odd, pathway)] += rng.poisson(12, (3, 200))
names = [f"gene {i}" for i in range(n_genes)]

X = sp.csr_array(np.log1p(counts / depth[:, None]))
detector = Consensus(random_state=0).fit(X)
order = np.argsort(-detector.outlier_scores_)
print(f"{n_samples} samples x {n_genes:,} genes; highest: {order[:5].tolist()}, planted: {odd}")
explained = detector.explain(X, top=10, rows=order[:3], names=names)
of_pathway = [reason.column in set(pathway.tolist()) for row in explained for reason in row.reasons]
print(f"{sum(of_pathway)} of the {len(of_pathway)} strongest reasons are genes of the pathway")

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
colors = ["tab:red" if sample in odd else "tab:gray" for sample in range(n_samples)]
axes.bar(range(n_samples), detector.outlier_scores_, color=colors)
axes.axhline(detector.threshold_, color="black", linestyle="--", linewidth=1)
axes.set(xlabel="sample", ylabel="outlier score")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "genes.png", dpi=120)
