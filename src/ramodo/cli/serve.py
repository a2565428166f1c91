"""`ramodo serve`: a model over HTTP."""

from __future__ import annotations

import signal
import threading
import warnings

from ..extras import pip_install
from ..formats import FormatError
from ..serving.saved_model import DriftWarning
from .console import note
from .source import threads_of


def run_serve(
    model: str,
    *,
    host: str,
    port: int,
    allow_remote: bool,
    names: list[str],
    token_file: str | None,
    max_body: int,
    threads: int | None,
    quiet: bool,
) -> None:
    """Serve until Ctrl-C or SIGTERM."""
    try:
        from ..serving.routes import OPEN_PATHS, Counted, Service
        from ..web import Access, Place, application, run, token_of_file
    except ImportError as error:
        if error.name not in ("starlette", "uvicorn", "anyio", "prometheus_client", "pyarrow"):
            raise
        raise FormatError(f"a server needs the package {error.name}: {pip_install('serve')}.") from None
    n_threads = threads_of(threads)
    asked = Place.asked(host, port, allow_remote=allow_remote, names=tuple(names))
    warnings.simplefilter("ignore", DriftWarning)  # /drift and /metrics say so
    service = Service(model, n_threads, lambda text: note(text, quiet))
    place, listening = asked.opened()
    access = Access(None if token_file is None else token_of_file(token_file))
    app = application(service.routes(), place, access, open_paths=OPEN_PATHS, max_body=max_body * 1_000_000)

    def started() -> None:
        note(f"serving {model} at {place.address}; Ctrl-C stops it", quiet)
        note(place.meaning, quiet or not place.is_remote)
        known = f"see {token_file}" if token_file is not None else access.token
        note(f"token: {known}", quiet and token_file is not None)

    if hasattr(signal, "SIGHUP") and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGHUP, lambda *_: service.reload_on_signal())
    run(Counted(app, service.metrics), listening, started)
