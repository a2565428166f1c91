"""The example of docs/neighbours.md for MLflow: saved without a pickle, loaded elsewhere, the same score."""

import re
import shutil
from pathlib import Path

import pytest

from ramodo import Consensus, load
from ramodo.datasets import make_ultrahigh
from support.made_files import write_visits

PAGE = (Path(__file__).parents[2] / "docs" / "neighbours.md").read_text(encoding="utf-8")

pytest.importorskip("mlflow", reason="the package mlflow-skinny is not installed: make test-mlflow installs it")
pytestmark = pytest.mark.filterwarnings("ignore")  # of MLflow, about itself


def fitted():
    return Consensus(random_state=0).fit(make_ultrahigh(n_rows=400, n_features=5_000, random_state=0)[0])


@pytest.fixture
def example(tmp_path, monkeypatch):
    """Runs the example with a detector, in a folder of its own; gives what it leaves behind."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/tracking.db")
    (text,) = re.findall(r"```python mlflow\n(.*?)```", PAGE, flags=re.DOTALL)

    def run(detector):
        names = {"detector": detector}
        exec(compile(text, "docs/neighbours.md", "exec"), names)
        return names

    return run


def test_the_example_gives_the_score_of_the_detector(example, python):
    detector = fitted()
    names = example(detector)
    expected = detector.score_one({17: 1.0, 4_203: 2.5})
    assert names["scored"]["score"].tolist() == [expected]
    assert not [path for path in Path("packed").rglob("*") if path.suffix in (".pkl", ".pickle")]
    again = python(
        "import warnings; warnings.simplefilter('ignore')\n"
        "import mlflow\n"
        "print(repr(float(mlflow.pyfunc.load_model('packed').predict([{'17': 1.0, '4203': 2.5}])['score'][0])))"
    )
    assert float(again) == expected


def test_data_frames_get_the_scores_of_the_detector(example):
    """As MLflow's server passes rows on. One is of features by number, with NaN where a row lacks one."""
    import mlflow
    import pandas

    detector = fitted()
    example(detector)
    rows = [{17: 1.0, 4_203: 2.5}, {3: 1.0}]
    found = mlflow.pyfunc.load_model("packed").predict(pandas.DataFrame(rows).rename(columns=str))
    assert found["score"].tolist() == [detector.score_one(row) for row in rows]


def test_a_data_frame_of_a_mixed_table_gets_the_scores_of_the_command(example, tmp_path, python):
    import mlflow
    import pandas

    data, model = tmp_path / "visits.csv", tmp_path / "visits.ramodo"
    write_visits(data)
    python("from ramodo.cli import main; main()", "fit", data, "--id", "visit", "--label", "truth", "-m", model, "-q")
    example(fitted())
    shutil.copy(model, "packed/artifacts/model.ramodo")
    found = mlflow.pyfunc.load_model("packed").predict(pandas.read_csv(data))
    assert found["score"].tolist() == load(model).outlier_scores_.tolist()
