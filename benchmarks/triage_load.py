"""Twenty analysts label at once against a real server: how long a label takes, and whether each one is in the store.

`ramodo triage` runs in a process of its own on loopback, learning after every 5 labels as it does by itself. Every
analyst is a browser's worth of HTTP: visits a link, and sends a label at its time whether or not others are slow. Times
run from when a label was due to the whole answer, which has the next row. In the end the server is killed (SIGKILL),
and the store must hold each label that was acknowledged, once.

python -m benchmarks.triage_load [--seconds 60]
"""

from __future__ import annotations

import argparse
import http.client
import json
import queue
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import scipy.sparse as sp

from ramodo.datasets import make_ultrahigh

from .sizes import sized
from .table import print_table, reached

ANALYSTS = sized(20, 2)
SHAPE = sized((20_000, 200_000), (300, 2000))
RATES = sized((10.0, 200.0), (10.0,))
"""Labels a second of all analysts together: 10 in all, and 10 of each."""

WITHIN = 100.0
"""Milliseconds for 99 of 100 labels."""


class Analyst:
    """A browser's worth of HTTP, over one connection; keeps what the server acknowledged."""

    def __init__(self, link: str) -> None:
        address = urlsplit(link)
        self._connection = http.client.HTTPConnection(address.netloc, timeout=60)
        self._cookies: dict[str, str] = {}
        self.acknowledged: list[tuple[int, int]] = []
        self.times: list[float] = []
        self._get(f"{address.path}?{address.query}")
        page = self._get("/")
        self._csrf = _first('name="csrf" content="(.+?)"', page)
        self._row = int(_first('data-row="([0-9]+)"', page))

    def work(self, first: float, every: float, n: int) -> None:
        """Label n rows, the first at a time of the clock."""
        for i in range(n):
            due = first + i * every
            time.sleep(max(0.0, due - time.perf_counter()))
            label = 1 if self._row % 7 == 0 else -1
            found = self._post("/label", {"row": self._row, "label": label})
            self.times.append(1000 * (time.perf_counter() - due))
            self.acknowledged.append((self._row, label))
            self._row = int(_first('data-row="([0-9]+)"', found["card"]))

    def close(self) -> None:
        self._connection.close()

    def _get(self, path: str) -> str:
        self._connection.request("GET", path, headers=self._headers())
        answer = self._connection.getresponse()
        found = answer.read().decode()
        if answer.status not in (200, 303):
            raise RuntimeError(found)
        for cookie in answer.headers.get_all("set-cookie", []):
            name, _, value = cookie.partition(";")[0].partition("=")
            self._cookies[name] = value
        return found

    def _post(self, path: str, body: dict[str, int]) -> dict[str, str]:
        headers = {**self._headers(), "x-csrf-token": self._csrf, "content-type": "application/json"}
        self._connection.request("POST", path, json.dumps(body), headers)
        answer = self._connection.getresponse()
        found = answer.read().decode()
        if answer.status != 200:
            raise RuntimeError(found)
        return dict(json.loads(found))

    def _headers(self) -> dict[str, str]:
        return {"cookie": "; ".join(f"{name}={value}" for name, value in self._cookies.items())}


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    if found is None:
        raise RuntimeError(f"{pattern} is not in {text[:500]}")
    return found[1]


@contextmanager
def served(data: Path, store: Path) -> Iterator[queue.Queue[str]]:
    """`ramodo triage` in a process of its own; the links that it prints, one for each browser. Ends with SIGKILL."""
    line = [sys.executable, "-c", "from ramodo.cli import main; main()", "triage", str(data), "--store", str(store)]
    process = subprocess.Popen(
        [*line, "--no-browser", "--seed", "0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    links = queue.Queue[str]()

    def read() -> None:
        assert process.stdout is not None
        for printed in process.stdout:
            if found := re.search(r"http://\S+token=\S+", printed):
                links.put(found[0])

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        yield links
    finally:
        process.kill()
        process.wait()
        reader.join()
        if process.stdout is not None:
            process.stdout.close()


def measured(data: Path, store: Path, rate: float, seconds: float) -> list[str]:
    """A line of the table."""
    with served(data, store) as links:
        analysts = [Analyst(links.get(timeout=600)) for _ in range(ANALYSTS)]
        every, started = ANALYSTS / rate, time.perf_counter() + 0.5
        n = max(1, round(seconds / every))
        threads = [
            threading.Thread(target=analyst.work, args=(started + i * every / ANALYSTS, every, n))
            for i, analyst in enumerate(analysts)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = time.perf_counter() - started
        for analyst in analysts:
            analyst.close()
    times = np.concatenate([analyst.times for analyst in analysts])
    given = sorted(pair for analyst in analysts for pair in analyst.acknowledged)
    with sqlite3.connect(store) as connection:
        kept = sorted(connection.execute("SELECT row, label FROM triage_entries").fetchall())
        (models,) = connection.execute("SELECT count(*) FROM triage_models").fetchone()
    connection.close()
    p50, p99 = np.percentile(times, [50, 99])
    lost = ANALYSTS * n - len(set(given) & set(kept))
    if lost:
        raise RuntimeError(f"{lost} of {ANALYSTS * n} labels are not in the store")
    return [
        f"{rate:g}",
        f"{len(given):,}",
        f"{len(given) / took:.1f}",
        str(models),
        f"{p50:.0f}",
        f"{p99:.0f}",
        f"{times.max():.0f}",
        str(lost),
        str(len(kept) - len(set(kept))),
        reached(p99, sized(WITHIN, float("inf")), at_most=True),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=sized(60.0, 1.0))
    arguments = parser.parse_args()
    X, _ = make_ultrahigh(*SHAPE, random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "rows.npz"
        sp.save_npz(data, sp.csr_matrix(X))
        lines = [measured(data, Path(folder) / f"{rate}.db", rate, arguments.seconds) for rate in RATES]
    print_table(
        f"{ANALYSTS} analysts for {arguments.seconds:g} s, {SHAPE[0]:,} rows, {SHAPE[1]:,} features; milliseconds",
        ["wanted a second", "labels", "a second", "models", "p50", "p99", "largest", "lost", "twice", "reached"],
        lines,
    )


if __name__ == "__main__":
    main()
