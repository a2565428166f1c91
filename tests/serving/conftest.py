"""A model of each kind of data, fitted by the command, and rows to score with it."""

import csv
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from support.examples import with_outliers
from support.fitted_models import Fitted
from support.made_files import write_log, write_svmlight, write_visits


def _value(text):
    """A value of a CSV file as a program would send it."""
    if text in ("true", "false"):
        return text == "true"
    try:
        return float(text)
    except ValueError:
        return text or None


def _records(path):
    with open(path, newline="") as file:
        return [{name: _value(text) for name, text in row.items()} for row in csv.DictReader(file)]


def _table_with_gaps(path):
    """Numbers, some of them missing; no text, so that the matrix is dense."""
    X, _ = with_outliers()
    lines = [",".join(f"c{i}" for i in range(X.shape[1]))]
    for row, numbers in enumerate(X.toarray().tolist()):
        values = [f"{value:.4f}" for value in numbers]
        if row % 7 == 0:
            values[row % 20] = ""
        lines.append(",".join(values))
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="session")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serving")
    X, y = with_outliers()
    write_svmlight(folder / "mail.svm", X, y)
    write_visits(folder / "visits.csv")
    write_log(folder / "access.txt")
    _table_with_gaps(folder / "gaps.csv")
    np.save(folder / "dense.npy", X.toarray())
    sp.save_npz(folder / "sparse.npz", sp.csr_array(X))
    lines = (folder / "access.txt").read_text().splitlines()
    with open(folder / "notes.csv", "w", newline="") as file:
        csv.writer(file).writerows([["name", "note"], *([f"n{i}", line] for i, line in enumerate(lines))])
    sparse = [
        {str(column): value for column, value in zip(row.indices.tolist(), row.data.tolist(), strict=True)}
        for row in (sp.csr_array(X[[i]]) for i in range(X.shape[0]))
    ]
    from_one = [{str(int(column) + 1): value for column, value in row.items()} for row in sparse]
    visits, notes = folder / "visits.csv", folder / "notes.csv"
    return SimpleNamespace(
        folder=folder,
        mail=Fitted.made(folder / "mail.svm", from_one),
        visits=Fitted.made(visits, _records(visits), "--id", "visit", "--label", "truth"),
        gaps=Fitted.made(folder / "gaps.csv", _records(folder / "gaps.csv"), "--missing", "indicator"),
        log=Fitted.made(folder / "access.txt", lines),
        notes=Fitted.made(notes, _records(notes), "--id", "name", "--text", "note"),
        dense=Fitted.made(folder / "dense.npy", X.toarray().tolist()),
        sparse=Fitted.made(folder / "sparse.npz", sparse),
    )


KINDS = ("mail", "visits", "gaps", "log", "notes", "dense", "sparse")


@pytest.fixture(params=KINDS)
def each(request, fitted):
    """Each of the models in turn."""
    return getattr(fitted, request.param)
