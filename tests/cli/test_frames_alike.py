"""A model of the command or of Python scores a frame, its Parquet file and its rows alike, bit for bit."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ramodo import Consensus, TableReader, load
from ramodo.serving import SavedModel
from support.mixed_frame import visits


@pytest.fixture
def models(ok, tmp_path):
    """The data as a file, the scores of a fit, and the files that command and Python make of it."""
    frame, data = visits(), tmp_path / "visits.parquet"
    frame.to_parquet(data)
    paths = [str(tmp_path / name) for name in ("command.ramodo", "python.ramodo")]
    ok("detect", data, "--text", "note", "--seed", 0, "--threads", 1, "--quiet", "-m", paths[0])
    detector = Consensus(random_state=0).fit(TableReader("note").fit_read(frame))
    detector.save(paths[1])
    return frame, data, detector.outlier_scores_.tobytes(), paths


@pytest.mark.slow
def test_the_same_bits_everywhere(models, ok, tmp_path):
    frame, data, wanted, paths = models
    for path in paths:
        assert load(path).outlier_score(frame).tobytes() == wanted
        model = SavedModel(path)
        for each in (frame, pl.from_pandas(frame).lazy(), duckdb.from_arrow(pa.Table.from_pandas(frame))):
            assert model.score(each).column("score").to_numpy().tobytes() == wanted
        records = frame.assign(when=frame["when"].dt.strftime("%Y-%m-%d %H:%M:%S")).to_dict("records")
        assert np.array([row["score"] for row in model.score_rows(records)]).tobytes() == wanted
        ok("score", path, data, "-o", tmp_path / "scores.parquet", "--quiet")
        assert pd.read_parquet(tmp_path / "scores.parquet")["score"].to_numpy().tobytes() == wanted
