"""The notebook of examples/ runs, and shows what it prints."""

import io
import json
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples" / "first-look.ipynb"
CELLS = [cell for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


def printed(cell):
    return "".join("".join(output["text"]) for output in cell["outputs"] if output["output_type"] == "stream")


def without_digits(text):
    """Last digits differ between machines."""
    return re.sub(r"\d+(\.\d*)?", "#", text)


def test_it_shows_what_it_prints(tmp_path, monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.chdir(tmp_path)
    pyplot.close("all")  # what other tests have drawn
    names, figures = {}, 0
    for cell in CELLS:
        out = io.StringIO()
        with redirect_stdout(out):
            exec(compile("".join(cell["source"]), NOTEBOOK.name, "exec"), names)
        drawn = [output for output in cell["outputs"] if "image/png" in output.get("data", {})]
        assert len(pyplot.get_fignums()) == len(drawn)
        figures += len(drawn)
        pyplot.close("all")
        assert without_digits(out.getvalue()) == without_digits(printed(cell)), (
            f"run it again: jupyter execute --inplace examples/{NOTEBOOK.name}"
        )
    assert figures == 2
    before, after = (int(text) for text in re.findall(r"labelling: (\d+)", "".join(map(printed, CELLS))))
    assert after > before
