"""The number of threads that an option asks for, by joblib's convention."""

from __future__ import annotations

import os
import threading


def n_cores() -> int:
    """Return the number of cores that this process may use, which can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads: -1 is all cores, -2 all but one, None that of `joblib.parallel_config` or 1."""
    asked = _of_context() if n_jobs is None else int(n_jobs)
    return asked if asked > 0 else max(1, n_cores() + 1 + asked)


def _of_context() -> int:
    """Return the number given to `parallel_config`, not the backend's, which may count the cores of a cluster."""
    from joblib.parallel import get_active_backend  # scikit-learn imports it anyway; other commands need not wait

    return get_active_backend()[1] or 1


def can_start(n: int) -> bool:
    """Return whether the system allows this many more threads at the same time."""
    done, started = threading.Event(), list[threading.Thread]()
    try:
        for _ in range(n):
            thread = threading.Thread(target=done.wait)
            thread.start()
            started.append(thread)
    except RuntimeError:
        return False
    finally:
        done.set()
        for thread in started:
            thread.join()
    return True
