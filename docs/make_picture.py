"""Draws docs/scores.svg: how well Sp and REPEN tell the demo's outliers apart. `python docs/make_picture.py`"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from ramodo import REPEN
from ramodo.datasets import make_ultrahigh

WIDTH, HEIGHT, MARGIN, BINS = 420, 240, 36, 48


def panel(scores: np.ndarray, y: np.ndarray, title: str, left: int) -> str:
    """Histograms of inliers and outliers, each to its own height."""
    edges = np.linspace(scores.min(), np.quantile(scores, 0.9995), BINS + 1)
    parts = [f'<text x="{left + MARGIN}" y="24" class="title">{title}</text>']
    for kind, name in ((0, "inlier"), (1, "outlier")):
        counts = np.histogram(np.clip(scores[y == kind], edges[0], edges[-1]), edges)[0]
        heights = counts / counts.max() * (HEIGHT - 90)
        step = (WIDTH - 2 * MARGIN) / BINS
        for i, height in enumerate(heights):
            if height > 0:
                x, top = left + MARGIN + i * step, HEIGHT - 40 - height
                parts.append(
                    f'<rect x="{x:.1f}" y="{top:.1f}" width="{step:.1f}" height="{height:.1f}" class="{name}"/>'
                )
    parts.append(f'<text x="{left + WIDTH / 2}" y="{HEIGHT - 14}" class="axis">outlier score</text>')
    return "\n".join(parts)


def main() -> None:
    """Fit the demo's data and write the file."""
    X, y = make_ultrahigh(random_state=0)
    detector = REPEN(random_state=0, n_jobs=-1).fit(X)
    panels = []
    for left, scores, name in (
        (0, detector.initial_scores_, "Sp on 1,000,000 features"),
        (WIDTH, detector.outlier_scores_, "REPEN: Sp on 20 learned features"),
    ):
        panels.append(panel(scores, y, f"{name}, AUC {roc_auc_score(y, scores):.3f}", left))
    style = (
        ".title{font:600 13px sans-serif;fill:#444}.axis{font:12px sans-serif;fill:#777;text-anchor:middle}"
        ".inlier{fill:#4c78a8;opacity:.55}.outlier{fill:#e45756;opacity:.65}"
    )
    legend = (
        f'<rect x="{MARGIN}" y="38" width="12" height="12" class="inlier"/>'
        f'<text x="{MARGIN + 18}" y="49" style="font:12px sans-serif;fill:#777">9,800 inliers</text>'
        f'<rect x="{MARGIN}" y="58" width="12" height="12" class="outlier"/>'
        f'<text x="{MARGIN + 18}" y="69" style="font:12px sans-serif;fill:#777">200 outliers</text>'
    )
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {HEIGHT}" role="img" '
        f'aria-label="Histograms of outlier scores"><style>{style}</style>\n'
        + "\n".join(panels)
        + f"\n{legend}\n</svg>\n"
    )
    Path(__file__).with_name("scores.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
