"""A query of Polars that a refused row ends: the error arrives, and the process ends as any other."""

import subprocess
import sys

import pyarrow
import pyarrow.csv
import pytest

from ramodo.serving import SavedModel

# A thread that waits for Python's lock looks every switch interval whether the interpreter is ending.
QUERY = """
import sys, polars
from ramodo.serving import SavedModel
model = SavedModel(sys.argv[1])
names = {"score": polars.Float64, "percentile": polars.Float64, "flag": polars.Int64}
sys.setswitchinterval(0.015)
try:
    polars.scan_parquet("visits.parquet").map_batches(
        lambda frame: polars.from_arrow(model.score(frame.to_arrow())), schema=names, streamable=True
    ).sink_parquet("scores.parquet")
except ValueError as error:
    sys.exit(str(error))
"""


def test_scores_are_in_memory_that_any_thread_may_free(fitted):
    """Memory of NumPy's needs Python's lock to be freed; Polars frees batches in its own threads, at any time."""
    table = pyarrow.csv.read_csv(fitted.visits.data)
    model = SavedModel(fitted.visits.model)
    model.score(table)
    before = pyarrow.total_allocated_bytes()
    scored = model.score(table)
    assert pyarrow.total_allocated_bytes() - before >= scored.nbytes


def test_a_refused_row_does_not_abort_at_exit(fitted, tmp_path):
    """With memory of NumPy's, 2 of 75 such runs aborted."""
    polars = pytest.importorskip("polars")
    frame = (
        polars.concat([polars.from_arrow(pyarrow.csv.read_csv(fitted.visits.data))] * 20)
        .head(2000)
        .with_row_index("row")
    )
    seconds = polars.when(polars.col("row") == 1400).then(float("inf")).otherwise(polars.col("seconds"))
    frame.with_columns(seconds=seconds).write_parquet(tmp_path / "visits.parquet", row_group_size=20)
    for _ in range(5):
        command = [sys.executable, "-c", QUERY, fitted.visits.model]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 1, done.stderr
        assert "column 'seconds'" in done.stderr
