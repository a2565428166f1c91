"""How many threads an option asks for, by joblib's convention."""

from __future__ import annotations

import os
import threading


def n_cores() -> int:
    """Cores that this process may run on, which can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def n_threads(n_jobs: int | None) -> int:
    """-1 is all cores, -2 all but one; None is the number of an enclosing `joblib.parallel_config`, else 1."""
    asked = _of_context() if n_jobs is None else int(n_jobs)
    return asked if asked > 0 else max(1, n_cores() + 1 + asked)


def _of_context() -> int:
    """The number given to `parallel_config`: a backend may count a cluster's cores, and our threads are local."""
    from joblib.parallel import get_active_backend  # scikit-learn has it imported; commands without it need not wait

    return get_active_backend()[1] or 1


def can_start(n: int) -> bool:
    """Whether the system lets us have that many more threads at a time."""
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
