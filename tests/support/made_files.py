"""Small files that several tests of the command read."""

import numpy as np

from ramodo.formats import svmlight

AS_REPEN = ("--method", "repen", "--epochs", "2")
"""How some of the models are fitted."""


def write_svmlight(path, X, y):
    with open(path, "wb") as file:
        svmlight.write(file, X, np.asarray(y, dtype=np.float64))


def write_visits(path, n=90):
    """A table with a column of each kind; its last four rows are odd."""
    rng = np.random.default_rng(0)
    lines = ["visit,country,seconds,bot,day,truth"]
    for i in range(n):
        odd = i >= n - 4
        country = "XX" if odd else ("NZ", "FR", "DE")[i % 3]
        day = f"2024-01-{i % 28 + 1:02d}"
        lines.append(f"v{i:03d},{country},{rng.random() + 5 * odd:.3f},{str(i % 2 == 0).lower()},{day},{int(odd)}")
    path.write_text("\n".join(lines) + "\n")


def write_log(path, n=90):
    """A log whose last two lines are odd."""
    lines = [f"GET /page/{i % 20}/index.html HTTP/1.1 200" for i in range(n - 2)]
    path.write_text("\n".join([*lines, "POST /admin/../../etc/passwd 500", "DROP TABLE users; SELECT"]) + "\n")
