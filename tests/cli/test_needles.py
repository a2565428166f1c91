"""Planted needles, found by the command without any options."""

import numpy as np

from ramodo.datasets import make_access_log, make_documents


def found_among(ok, path, lines, y, *most):
    """How many planted lines are among the highest."""
    path.write_text("\n".join(lines) + "\n")
    scores = [float(line.rsplit(",", 3)[1]) for line in ok("detect", path, "-o", "-", "-q").splitlines()[1:]]
    order = np.argsort(-np.array(scores), kind="stable")
    return [int(y[order[:n]].sum()) for n in most]


def test_attacks_in_a_log(ok, tmp_path):
    log = make_access_log(8_000, random_state=0)
    top_20, top_100 = found_among(ok, tmp_path / "access.log", log.lines, log.y, 20, 100)
    assert top_20 >= 12
    assert top_100 >= 16


def test_odd_documents(ok, tmp_path):
    """As many in a thousand as the generator plants by default; with more, copies of a notice hide each other."""
    documents = make_documents(2_000, 12, random_state=0)
    top_12, top_100 = found_among(ok, tmp_path / "documents.txt", documents.texts, documents.y, 12, 100)
    assert top_12 >= 7
    assert top_100 >= 11
