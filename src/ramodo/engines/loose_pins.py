"""A plugin of the Dask scheduler: any worker may run a task whose preferred worker is gone."""

from __future__ import annotations

from typing import Any

from distributed import SchedulerPlugin


class LoosePins(SchedulerPlugin):
    """Drops the preferred worker of a task that finds no worker at all.

    Dask lets such a task run elsewhere only if another worker is there when it becomes ready. If all workers are gone
    at that moment, Dask keeps the task for an address that no new worker will have, and the task waits forever.
    """

    name = "ramodo-loose-pins"
    idempotent = True

    async def start(self, scheduler: Any) -> None:
        """Remember the scheduler that this runs in."""
        self._scheduler = scheduler

    def transition(self, key: Any, start: str, finish: str, *args: Any, **kwargs: Any) -> None:
        """Called by the scheduler whenever a task changes its state."""
        if finish == "no-worker":
            task = self._scheduler.tasks[key]
            if task.loose_restrictions:
                task.worker_restrictions = None
