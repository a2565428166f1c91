"""`--group-by`: failed blocks of a file system are found, and a model finds those of another day."""

import json

import numpy as np
import pytest
from sklearn.metrics import f1_score, roc_auc_score

from ramodo import load
from support.block_log import block_log


@pytest.fixture(scope="module")
def days(tmp_path_factory):
    folder, found = tmp_path_factory.mktemp("days"), []
    for seed in (0, 1):
        lines, failed = block_log(600, 24, seed)
        path = folder / f"day{seed}.log"
        path.write_text("\n".join(lines) + "\n")
        found.append((path, failed))
    return found


def agreement(text, failed):
    """AUC, and F1 of as many as failed."""
    rows = [line.split(",") for line in text.splitlines()[1:]]
    truth = np.array([row[0] in failed for row in rows])
    scores = np.array([float(row[1]) for row in rows])
    assert truth.sum() == len(failed)
    return roc_auc_score(truth, scores), f1_score(truth, scores >= np.sort(scores)[-len(failed)])


def test_failed_blocks_are_found(ok, days):
    (path, failed), _ = days
    auc, f1 = agreement(ok("detect", path, "--group-by", "block", "-o", "-", "-q"), failed)
    assert auc >= 0.97
    assert f1 >= 0.9


def test_a_model_groups_the_lines_of_another_day(ok, days, tmp_path):
    (path, _), (other, failed) = days
    ok("fit", path, "--group-by", "block", "-m", tmp_path / "model.ramodo", "-q")
    assert load(tmp_path / "model.ramodo").schema_.sessions.by == "block"
    auc, f1 = agreement(ok("score", tmp_path / "model.ramodo", other, "-q"), failed)
    assert auc >= 0.97
    assert f1 >= 0.9


def test_sessions_open_to_their_lines(ok, days):
    path, failed = days[0]
    found = json.loads(ok("detect", path, "--group-by", "block", "--json", "-q"))["top"]
    first = found[0]
    assert first["id"] in failed
    assert all(first["id"] in line for line in first["lines"])
    assert first["reasons"][0]["feature"].startswith("event=")


REFUSED = {
    "alone": (["--window", "5m"], "--window needs --group-by"),
    "spelling": (
        ["--group-by", "client", "--window", "5"],
        "--window must be a time such as 30s, 5m, 2h or 1d, got '5'.",
    ),
    "format": (["--group-by", "client", "--format", "csv"], "--format must be text or jsonl with --group-by, got csv"),
}


@pytest.mark.parametrize(("flags", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_grouped_is_refused(run, days, flags, message):
    done = run("detect", days[0][0], *flags)
    assert (done.code, message in done.err) == (2, True), done.err
