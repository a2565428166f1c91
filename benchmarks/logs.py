"""Attacks that are found in a web server's log, by how its lines are read; the time from a log to its report; and
tokens weighed, against scikit-learn.

python -m benchmarks.logs
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from ramodo import Consensus
from ramodo.datasets import make_access_log
from ramodo.formats import How, Schema, TextOptions, read
from ramodo.formats.text import as_table

from .sizes import sized
from .table import print_table, reached, side_by_side

READINGS = {
    "lines of text": ("text", ()),
    "columns": ("accesslog", ()),
    "columns without time and size": ("accesslog", ("time", "size")),
}


def main() -> None:
    print_table("Attacks in a log", ["read as", "in the top 20", "in the top 100"], _attacks())
    print_table("A log, from file to report", ["what", "seconds", "CPU seconds", "reached"], [_to_report()])
    print_table("Tokens weighed", ["what", "measured", "peer", "reached"], [_weighing()])


def _attacks() -> list[list[str]]:
    """20 attacks in 8,000 lines, means over 5 logs."""
    n_lines, n_logs = sized((8000, 5), (200, 1))
    rows = []
    for name, (format, ignore) in READINGS.items():
        found = np.array([_found(seed, n_lines, format, ignore) for seed in range(n_logs)])
        rows.append([name, *(f"{mean:.1f}" for mean in found.mean(axis=0))])
    return rows


def _found(seed: int, n_lines: int, format: str, ignore: tuple[str, ...]) -> tuple[int, int]:
    log = make_access_log(n_lines, 20, random_state=seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "access.log"
        path.write_text("\n".join(log.lines) + "\n")
        scale = "auto" if format == "accesslog" else "none"
        X = read(str(path), format, schema=Schema(ignore=ignore, scale=scale), n_threads=2).X
    order = np.argsort(-Consensus(random_state=0, n_jobs=2).fit(X).outlier_scores_, kind="stable")
    return int(log.y[order[:20]].sum()), int(log.y[order[:100]].sum())


def _to_report() -> list[str]:
    """The command as a user starts it, in a process of its own; CPU seconds are those of all its threads."""
    n_lines = sized(30_000, 300)
    with tempfile.TemporaryDirectory() as folder:
        path, report = Path(folder) / "access.log", Path(folder) / "report.html"
        path.write_text("\n".join(make_access_log(n_lines, 20, random_state=0).lines) + "\n")
        command = [
            sys.executable,
            "-c",
            "from ramodo.cli import main; main()",
            "detect",
            str(path),
            "--report",
            str(report),
            "--quiet",
        ]
        before, started = os.times(), time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        taken, after = time.perf_counter() - started, os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return [f"{n_lines:,} lines", f"{taken:.1f}", f"{used:.1f}", reached(taken, 10, at_most=True)]


def _weighing() -> list[str]:
    """The same runs of 3 to 5 characters; memory is that of the hash space here, and of a vocabulary there."""
    lines = make_access_log(sized(10_000, 100), 20, random_state=0).lines
    how = How(schema=Schema(tokens=TextOptions(words=(0, 0))), n_threads=2)
    theirs = TfidfVectorizer(analyzer="char", ngram_range=(3, 5), sublinear_tf=True, norm=None)
    ours, peer, ratio = side_by_side(lambda: as_table(lines, how), lambda: theirs.fit_transform(lines), 3)
    return [
        f"character 3- to 5-grams of {len(lines):,} log lines, weighed",
        f"{ours:.2f} s",
        f"scikit-learn's TfidfVectorizer {peer:.2f} s",
        f"{1 / ratio:.1f} x: {reached(1 / ratio, 5)}",
    ]


if __name__ == "__main__":
    main()
