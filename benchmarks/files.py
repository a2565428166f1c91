"""Reading, converting and scoring files: against scikit-learn's reader, and from disk against from memory.

python -m benchmarks.files
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from ramodo import REPEN, formats, load

from .sizes import load as load_set
from .sizes import sized
from .table import print_table, reached, seconds, side_by_side

THREADS = 2


def main() -> None:
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        data = load_set("URL_iscx")
        svm = place / "url.svm"
        dump_svmlight_file(data.X, data.y, str(svm))
        loading = _reading(svm, rows)
        _detecting(svm, place, loading, rows)
        _scoring(svm, place, rows)
        _starting(svm, place, rows)
        _opening(place, rows)
        _text(rows)
        _small_memory(place, rows)
    print_table("Files", ["what", "measured", "peer", "reached"], rows)


def _reading(svm: Path, rows: list[list[str]]) -> float:
    size = svm.stat().st_size / 1e6
    ours, theirs, ratio = side_by_side(
        lambda: formats.read(str(svm), n_threads=THREADS), lambda: load_svmlight_file(str(svm)), 3
    )
    a, b = formats.read(str(svm), n_threads=THREADS).X, load_svmlight_file(str(svm))[0]
    assert np.array_equal(a.data, b.data)
    assert np.array_equal(a.indices, b.indices)
    rows.append(
        [
            f"read an svmlight file of {size:.0f} MB, the same matrix",
            f"{ours:.2f} s, {size / ours:.0f} MB/s",
            f"scikit-learn {theirs:.2f} s",
            f"{1 / ratio:.1f} x: {reached(1 / ratio, 12)}",
        ]
    )
    result = (a.data.nbytes + a.indices.nbytes + a.indptr.nbytes) / 1e6
    del a, b
    peak = _peak_memory(lambda: formats.read(str(svm), n_threads=THREADS))
    rows.append(
        ["memory of that", f"{peak:.0f} MB", f"the result {result:.0f} MB", reached(peak / result, 2, at_most=True)]
    )
    return theirs


def _detecting(svm: Path, place: Path, loading: float, rows: list[list[str]]) -> None:
    arguments = ["--method", "repen", "-o", place / "scores.csv", "-m", place / "url.ramodo", "-q"]
    took = seconds(lambda: _ramodo("detect", svm, *arguments), 3)
    rows.append(
        [
            "`ramodo detect --method repen` of that file: read, fit, rank, write",
            f"{took:.1f} s",
            f"scikit-learn only loads it, in {loading:.1f} s",
            reached(took, round(loading, 2), at_most=True),
        ]
    )


def _scoring(svm: Path, place: Path, rows: list[list[str]]) -> None:
    _ramodo("convert", svm, place / "url.rows", "-q")
    model = load(place / "url.ramodo")
    memory = formats.read(str(svm), n_threads=THREADS).X
    disk = formats.read(str(place / "url.rows")).X
    assert np.array_equal(model.outlier_score(memory), model.outlier_score(disk))
    from_disk, from_memory, ratio = side_by_side(
        lambda: model.outlier_score(disk), lambda: model.outlier_score(memory), 7
    )
    rows.append(
        [
            "score from a rows folder, the same bits",
            f"{from_disk:.3f} s",
            f"from memory {from_memory:.3f} s",
            f"{ratio:.2f} x: {reached(ratio, 1.3, at_most=True)}",
        ]
    )


def _starting(svm: Path, place: Path, rows: list[list[str]]) -> None:
    took = seconds(lambda: _ramodo("--help"), 5)
    rows.append(["`ramodo --help`", f"{took:.2f} s", "", reached(took, 0.3, at_most=True)])
    small = load_set("AD_dedup")
    path = place / "small.svm"
    dump_svmlight_file(small.X, small.y, str(path), zero_based=False)
    _ramodo("fit", path, "--method", "repen", "-m", place / "small.ramodo", "-q")
    one = place / "one.svm"
    one.write_text(path.read_text().splitlines()[0] + "\n")
    took = seconds(lambda: _ramodo("score", place / "small.ramodo", one, "-o", place / "one.csv", "-q"), 5)
    rows.append(["`ramodo score` of one row", f"{took:.2f} s", "", reached(took, 0.8, at_most=True)])


def _opening(place: Path, rows: list[list[str]]) -> None:
    """A model of about a gigabyte: 12 million features with weights."""
    import scipy.sparse as sp

    n, length = sized((12_000_000, 2000), (20_000, 200))  # each row has its own features, so that all are trained
    values = np.random.default_rng(0).random(n, dtype=np.float32)
    X = sp.csr_array((values, np.arange(n, dtype=np.int32), np.arange(0, n + 1, length)), shape=(n // length, n))
    detector = REPEN(n_epochs=5, random_state=0, n_jobs=-1).fit(X)
    path = detector.save(place / "large.ramodo")
    took = seconds(lambda: load(path), 5)
    size = path.stat().st_size / 1e9
    rows.append([f"open a model of {size:.2f} GB", f"{took:.3f} s", "", reached(took, 0.2, at_most=True)])
    path.unlink()


def _text(rows: list[list[str]]) -> None:
    from sklearn.feature_extraction.text import HashingVectorizer

    from ramodo.formats import TextOptions
    from ramodo.formats.text import vectorize

    rng = np.random.default_rng(0)
    documents = [
        f"http://www.site{rng.integers(900)}.com/{rng.integers(10**9):x}/index.html?q={i}"
        for i in range(sized(20_000, 200))
    ]
    theirs = HashingVectorizer(analyzer="char", ngram_range=(3, 5), n_features=2**22, alternate_sign=False, norm=None)
    options = TextOptions(words=(0, 0), characters=(3, 5))
    ours, peer, ratio = side_by_side(
        lambda: vectorize(documents, options, n_threads=THREADS), lambda: theirs.transform(documents), 3
    )
    size = sum(map(len, documents)) / 1e6
    rows.append(
        [
            "character 3- to 5-grams of URLs, hashed",
            f"{size / ours:.1f} MB/s",
            f"scikit-learn's HashingVectorizer {size / peer:.1f} MB/s",
            f"{1 / ratio:.1f} x",
        ]
    )


def _small_memory(place: Path, rows: list[list[str]]) -> None:
    """Fit and score a folder of 2 GB with a quarter of that as the limit of memory of its own."""
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.small_memory", str(place / "big.rows")],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "MALLOC_ARENA_MAX": "2", "OPENBLAS_NUM_THREADS": "1"},
    )
    rows.append(["fit and score a rows folder with memory for a quarter of it", *_last_line(run)])


def _last_line(run: subprocess.CompletedProcess[str]) -> list[str]:
    if run.returncode:
        return [run.stderr.strip().splitlines()[-1][:80], "", "NO"]
    return [*run.stdout.strip().splitlines()[-1].split("|"), "yes"]


def _peak_memory(function: Callable[[], Any]) -> float:
    """Megabytes of private memory that a call takes at most."""
    before, peak, done = _private(), [0.0], threading.Event()

    def watch() -> None:
        while not done.is_set():
            peak[0] = max(peak[0], _private() - before)
            time.sleep(0.001)

    watcher = threading.Thread(target=watch)
    watcher.start()
    function()
    done.set()
    watcher.join()
    return peak[0]


def _private() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return float(line.split()[1]) / 1e3
    return 0.0


def _ramodo(*arguments: Any) -> None:
    command = [sys.executable, "-c", "from ramodo.cli import main; main()", *map(str, arguments)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=os.environ)


if __name__ == "__main__":
    main()
