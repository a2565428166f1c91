"""Rows a second over HTTP beside scoring in the same process, and how long a single row takes.

python -m benchmarks.serving
"""

from __future__ import annotations

import http.client
import io
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ramodo import Consensus
from ramodo.datasets import make_ultrahigh
from ramodo.serving import SavedModel
from ramodo.serving.requests import ARROW

from .sizes import sized
from .table import print_table, side_by_side

SHAPE = sized((10_000, 1_000_000), (200, 2000))
ROWS, SINGLE = sized(1000, 50), sized(2000, 20)


@contextmanager
def served(model: Path) -> Iterator[Callable[[bytes, str], bytes]]:
    """`ramodo serve` in a process of its own; what posts a body to it, over one connection."""
    token = model.with_suffix(".token")
    line = [sys.executable, "-c", "from ramodo.cli import main; main()", "serve", str(model), "--port", "0"]
    process = subprocess.Popen([*line, "--token-file", str(token)], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        ports = re.findall(r":(\d+)", process.stderr.readline())
        port = int(ports[-1])
        connection = http.client.HTTPConnection("127.0.0.1", port)
        process.stderr.readline()
        secret = token.read_text().strip()

        def post(body: bytes, kind: str) -> bytes:
            connection.request("POST", "/score", body, {"Authorization": f"Bearer {secret}", "Content-Type": kind})
            answer = connection.getresponse()
            found = answer.read()
            if answer.status != 200:
                raise RuntimeError(found.decode())
            return found

        yield post
        connection.close()
    finally:
        process.terminate()
        process.communicate()


def bodies(X: Any) -> tuple[bytes, bytes, list[bytes]]:
    """The rows as JSON, as an Arrow stream, and each alone as JSON."""
    import pyarrow as pa

    parts = [slice(start, end) for start, end in zip(X.indptr[:-1], X.indptr[1:], strict=True)]
    indices = [X.indices[part].tolist() for part in parts]
    values = [X.data[part].astype(float).tolist() for part in parts]
    rows = [dict(zip(map(str, i), v, strict=True)) for i, v in zip(indices, values, strict=True)]
    table, written = pa.table({"indices": indices, "values": values}), io.BytesIO()
    with pa.ipc.new_stream(written, table.schema) as stream:
        stream.write_table(table)
    return json.dumps(rows).encode(), written.getvalue(), [json.dumps([row]).encode() for row in rows]


def main() -> None:
    X, _ = make_ultrahigh(*SHAPE, random_state=0)
    taken = X[:ROWS].tocsr()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.ramodo"
        Consensus(random_state=0, n_jobs=-1).fit(X).save(path)
        model = SavedModel(path, n_jobs=-1)
        of_json, of_arrow, alone = bodies(taken)
        lines = []
        with served(path) as post:
            for name, body, kind in (("JSON", of_json, "application/json"), ("Arrow", of_arrow, ARROW)):
                over, inside, ratio = side_by_side(
                    lambda body=body, kind=kind: post(body, kind),  # type: ignore[misc]
                    lambda: model._detector.outlier_score(taken),
                )
                lines.append([name, f"{ROWS / over:,.0f}", f"{ROWS / inside:,.0f}", f"{ratio:.2f}"])
            times = []
            for i in range(SINGLE):
                started = time.perf_counter()
                post(alone[i % len(alone)], "application/json")
                times.append(1000 * (time.perf_counter() - started))
    shape = f"{ROWS:,} rows of {taken.nnz / ROWS:.0f} non-zeros, {SHAPE[1]:,} features"
    print_table(
        f"Consensus, {shape}: over HTTP beside scoring the matrix in a process, in turns",
        ["body", "rows a second, HTTP", "rows a second, in process", "time of HTTP / in process"],
        lines,
    )
    print_table(
        f"One row a request, {SINGLE:,} requests one after the other, milliseconds",
        ["p50", "p99", "largest"],
        [[f"{np.percentile(times, 50):.1f}", f"{np.percentile(times, 99):.1f}", f"{max(times):.1f}"]],
    )


if __name__ == "__main__":
    main()
