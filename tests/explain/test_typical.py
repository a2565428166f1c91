"""What is typical of a feature, as explanations say it."""

import numpy as np
import pandas as pd
import pytest

from ramodo import REPEN


@pytest.fixture
def payments():
    """Amounts around 20, one of a million, beside ages around 40."""
    rng = np.random.default_rng(0)
    amounts, ages = rng.lognormal(3, 1, 500), rng.normal(40, 10, 500)
    amounts[7] = 1e6
    return pd.DataFrame({"amount": amounts, "age": ages, "plan": rng.choice(["free", "paid"], 500)})


def test_one_huge_value_does_not_move_what_is_typical(payments):
    detector = REPEN(random_state=0).fit(payments)
    high = payments.assign(amount=300.0).iloc[:1]
    said = {reason.feature: reason for reason in detector.explain(high, top=5)[0].reasons}
    assert 15 < said["amount"].mean < 30
    assert said["amount"].compared() == "higher than usual"
    assert 35 < said["age"].mean < 45
