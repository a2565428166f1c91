"""Models fitted by the command, and what it scores with them."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from ramodo.cli import main


def command(*arguments):
    before = sys.argv
    try:
        sys.argv = ["ramodo", *map(str, arguments)]
        main()
    except SystemExit as end:
        assert not end.code  # noqa: PT017
    finally:
        sys.argv = before


@dataclass(frozen=True)
class Fitted:
    """A model, the file that it was fitted to, its rows as JSON has them, and what `ramodo score` gives them."""

    model: Path
    data: Path
    rows: list
    scored: list

    @classmethod
    def made(cls, data, rows, *options):
        model, output = Path(f"{data}.ramodo"), Path(f"{data}.jsonl")
        command("fit", data, "-m", model, "-q", *options)
        command("score", model, data, "-o", output, "-q")
        return cls(model, data, rows, [json.loads(line) for line in output.read_text().splitlines()])

    @property
    def scores(self):
        return [row["score"] for row in self.scored]
