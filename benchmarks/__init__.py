"""Speed, memory and accuracy, as ratios against a peer or a physical bound measured in the same run.

Each module is one command, `python -m benchmarks.NAME`, and prints one table in Markdown. Prepared sets are in the
folder that RAMODO_DATA names, by default `shared/data` beside the project.
"""

import os
from pathlib import Path

_BESIDE = Path(__file__).parents[2] / "shared" / "data"
if _BESIDE.is_dir():
    os.environ.setdefault("RAMODO_DATA", str(_BESIDE))
