"""A data frame of every kind of column."""

import numpy as np
import pandas as pd

N, ODD = 120, 7


def visits():
    """Rows of which one, `ODD`, has a voltage that no other has."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "country": np.array(["NZ", "FR", "DE"], dtype=object)[rng.integers(3, size=N)],
            "device": pd.Categorical(np.array(["phone", "desk"])[rng.integers(2, size=N)]),
            "pascal": rng.normal(1e5, 1e4, N),
            "volt": rng.normal(0, 1, N),
            "bot": rng.random(N) < 0.5,
            "when": pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 86400 * 30, N), unit="s"),
            "note": [f"order {i} was {('late', 'fine', 'lost')[i % 3]}" for i in range(N)],
        }
    )
    frame["place"] = [list(map(float, values)) for values in rng.random((N, 2))]
    frame.loc[ODD, "volt"] = 30.0
    return frame
