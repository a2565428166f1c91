"""The example of docs/neighbours.md for MLflow: saved without a pickle, loaded elsewhere, the same score."""

import re
from pathlib import Path

import pytest

from ramodo import Consensus
from ramodo.datasets import make_ultrahigh

PAGE = (Path(__file__).parents[2] / "docs" / "neighbours.md").read_text(encoding="utf-8")

pytest.importorskip("mlflow", reason="the package mlflow-skinny is not installed: make test-mlflow installs it")
pytestmark = pytest.mark.filterwarnings("ignore")  # of MLflow, about itself


def test_the_example_gives_the_score_of_the_detector(tmp_path, monkeypatch, python):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/tracking.db")
    X, _ = make_ultrahigh(n_rows=400, n_features=5_000, random_state=0)
    names = {"detector": Consensus(random_state=0).fit(X)}
    (example,) = re.findall(r"```python mlflow\n(.*?)```", PAGE, flags=re.DOTALL)
    exec(compile(example, "docs/neighbours.md", "exec"), names)
    expected = names["detector"].score_one({17: 1.0, 4_203: 2.5})
    assert names["scored"]["score"].tolist() == [expected]
    assert not [path for path in Path("packed").rglob("*") if path.suffix in (".pkl", ".pickle")]
    again = python(
        "import warnings; warnings.simplefilter('ignore')\n"
        "import mlflow\n"
        "print(repr(float(mlflow.pyfunc.load_model('packed').predict([{'17': 1.0, '4203': 2.5}])['score'][0])))"
    )
    assert float(again) == expected
