"""`ramodo experiments`: repeat section 6 of the paper."""

from __future__ import annotations

from pathlib import Path

from ..cli.console import bar, note
from ..cli.reading import threads_of
from .experiments.cells import Limits
from .experiments.runner import Settings, run


def run_experiments(
    name: str,
    *,
    runs: int,
    sets: str | None,
    output: str,
    page: str | None,
    time_limit: float,
    memory_limit: float,
    install: bool,
    threads: int | None,
    quiet: bool,
) -> None:
    """Run one experiment or all of them, and write the results."""
    settings = Settings(
        runs,
        sets,
        Path(output),
        threads_of(threads),
        Limits(time_limit, memory_limit * 1e9),
        Path(page) if page else None,
    )
    if install:
        from .experiments.deepod import install as install_deepod

        install_deepod()
    run(name, settings, lambda title: bar(title, "", quiet), lambda text: note(text, quiet))
