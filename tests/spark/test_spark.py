"""The example of docs/serving.md for Spark, in a local Spark with two executors' threads."""

import csv
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "serving.md").read_text(encoding="utf-8")

pytest.importorskip("pyspark", reason="the package pyspark is not installed: make test-spark installs it")
pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="there is no Java here: make test-spark installs it"),
    pytest.mark.filterwarnings("ignore"),  # of Spark, about itself
]


def test_the_example_gives_the_scores_of_the_command(tmp_path, monkeypatch):
    import pyarrow.csv
    import pyarrow.parquet
    from pyspark.sql import SparkSession

    from ramodo.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    made, *_ = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    exec(compile(made, "docs/serving.md", "exec"), {})
    for line in re.findall(r"^ramodo (?:fit|score) .*$", PAGE, flags=re.MULTILINE):
        monkeypatch.setattr(sys, "argv", line.split())
        with pytest.raises(SystemExit) as end:
            main()
        assert not end.value.code
    pyarrow.parquet.write_table(pyarrow.csv.read_csv("visits.csv"), "visits.parquet", row_group_size=100)
    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        (example,) = re.findall(r"```python spark\n(.*?)```", PAGE, flags=re.DOTALL)
        exec(compile(example, "docs/serving.md", "exec"), {"__name__": "__main__"})
    finally:
        session.stop()
    found = pyarrow.parquet.read_table("scores-spark.parquet").to_pylist()
    with open("scores.csv", newline="") as file:
        expected = {row["id"]: float(row["score"]) for row in csv.DictReader(file)}
    assert {row["visit"]: row["score"] for row in found} == expected
    assert len(found) == 400
