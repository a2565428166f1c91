"""Unseen categories in what the command writes."""

import csv

import numpy as np


def test_score_and_explain_name_an_unseen_category_first(ok, tmp_path):
    rng = np.random.default_rng(0)
    rows = [{"country": rng.choice(["NZ", "FR"]), "volt": round(rng.normal(), 3)} for _ in range(60)]
    for name, some in (("train.csv", rows), ("new.csv", [{"country": "QQ", "volt": 0.1}, *rows[:2]])):
        with open(tmp_path / name, "w", newline="") as file:
            table = csv.DictWriter(file, ("country", "volt"))
            table.writeheader()
            table.writerows(some)
    model, new, out = (str(tmp_path / name) for name in ("m.ramodo", "new.csv", "out.csv"))
    ok("fit", str(tmp_path / "train.csv"), "--model", model)
    ok("score", model, new, "-o", out, "--reasons", "2")
    with open(out, newline="") as file:
        reasons = [row["reasons"] for row in csv.DictReader(file)]
    assert reasons[0].startswith("country = QQ, never seen in training (+")
    assert not any("never seen" in text for text in reasons[1:])
    assert "country = QQ never seen in training" in " ".join(ok("explain", model, new, "--row", "0").split())
