"""From the name of an experiment to its files."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn

from ... import __version__
from ...constraints import either
from ...options import option_error
from ...terminal.progress import Bar
from . import dimensions, page, peers_table, scalability, sets, table_auc_runtime, table_competitors, table_labels
from .cells import Limits
from .page import Experiment, Request
from .scheduling import Scheduler
from .store import Store

EXPERIMENTS: dict[str, Experiment] = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (table_auc_runtime, table_competitors, table_labels, dimensions, scalability, peers_table)
}


@dataclass(frozen=True)
class Settings:
    """How experiments are run."""

    runs: int
    sets: str | None
    output: Path
    threads: int
    limits: Limits
    page: Path | None = None

    def __post_init__(self) -> None:
        if self.runs < 1:
            raise option_error("--runs", "at least 1", str(self.runs))


def named(name: str) -> list[Experiment]:
    """Return one experiment, or all."""
    if name == "all":
        return list(EXPERIMENTS.values())
    if name not in EXPERIMENTS:
        raise option_error("the experiment", either([*EXPERIMENTS, "all"]), repr(name))
    return [EXPERIMENTS[name]]


def run(name: str, settings: Settings, bar: Callable[[str], Bar], say: Callable[[str], None]) -> None:
    """Compute what is missing, and write the files of the experiments and, if asked for, one page of them all."""
    chosen = named(name)
    page.refuse_without_figures()
    here = sets.here(settings.sets) if any(e.needs_data for e in chosen) or settings.sets else []
    settings.output.mkdir(parents=True, exist_ok=True)
    request = Request(here, settings.runs, settings.threads)
    marks = {s.file: sets.fingerprint(sets.load(s.file)) for s in here}
    pages = []
    with Store(settings.output / "results.sqlite", marks) as store:
        for experiment in chosen:
            scheduler = Scheduler(store, settings.threads, settings.limits, bar(experiment.name))
            results = scheduler.run(experiment.cells(request))
            made = experiment.page(request, results)
            for path in page.write(made, results, about(settings), settings.output):
                say(f"wrote {path}")
            pages.append(made)
    if settings.page is not None:
        page.write_text(settings.page, whole_page(pages, settings))
        say(f"wrote {settings.page}")


def about(settings: Settings) -> dict[str, Any]:
    """Versions, machine and limits behind the numbers."""
    return {
        "ramodo": __version__,
        "runs": settings.runs,
        "seeds": list(range(settings.runs)),
        "threads": settings.threads,
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "cell_seconds": settings.limits.seconds,
        "cell_gigabytes": settings.limits.bytes / 1e9,
    }


def _command(settings: Settings) -> str:
    """Return the command that writes this page; options at their defaults are left out."""
    usual = Limits()
    return " ".join(
        [
            f"ramodo experiments all --runs {settings.runs}",
            *([f"--sets {settings.sets}"] if settings.sets else []),
            *([f"--time-limit {settings.limits.seconds:g}"] if settings.limits.seconds != usual.seconds else []),
            *([f"--memory-limit {settings.limits.bytes / 1e9:g}"] if settings.limits.bytes != usual.bytes else []),
            "--output docs/experiments --page docs/experiments.md",
        ]
    )


def whole_page(pages: Iterable[page.Page], settings: Settings) -> str:
    """Return all experiments under one title."""
    assert settings.page is not None
    seeds = "seed 0" if settings.runs == 1 else f"seeds 0 to {settings.runs - 1}"
    facts = {"about": about(settings), "seeds": seeds, "command": _command(settings)}
    introduction = page.notes("introduction", facts)
    parts = ["# Section 6 of the paper, run again", *introduction]
    folder = os.path.relpath(settings.output, settings.page.parent)
    texts = [made.markdown(Path(folder, f"{made.name}.svg").as_posix()).rstrip() for made in pages]
    return "\n\n".join([*parts, *texts]) + "\n"
