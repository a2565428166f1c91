"""`ramodo triage`: the labelling page, and the same loop without one."""

from __future__ import annotations

import getpass
import sys
import threading
import warnings
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..extras import pip_install
from ..formats import FormatError, Table
from ..formats.labels_by_id import read_known_labels
from ..options import OptionError
from . import output as files
from .console import bar, err, note, print_facts
from .flags import Fitting
from .methods import refuse_options
from .source import Source, threads_of
from .training import fit

if TYPE_CHECKING:
    from ..triage import TriageSession

_LOOKED = (10, 30, 100, 300)
"""Numbers of first rows among which the summary counts outliers."""

_TURN = 0.001
"""Seconds that a background fit may hold the interpreter: a fifth of Python's default, so that pages stay quick."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The flags of the command, except those for reading and fitting."""

    model: str | None
    store: str | None
    known: str | None
    every: int
    who: str | None
    queue: str
    rows: int | None
    output: str | None
    save: str | None


def run_triage(
    path: str,
    source: Source,
    fitting: Fitting,
    asked: Asked,
    place: tuple[str, int, bool],
    *,
    browser: bool,
    quiet: bool,
) -> None:
    """Serve the page until Ctrl-C."""
    _need_packages()
    from ..triage.pages import app_of
    from ..web import Access, Place, run

    for name, value in (("--rows", asked.rows), ("--output", asked.output), ("--save", asked.save)):
        if value is not None:
            raise OptionError(f"{name} needs --headless, got {name} {value} without it; the page has exports.")
    sys.setswitchinterval(_TURN)
    host, port, allow_remote = place
    wanted = Place.asked(host, port, allow_remote=allow_remote)
    with _session(path, source, fitting, asked, quiet) as session:
        _group_in_background(session)
        opened, listening = wanted.opened()

        def renewed(_: str) -> None:
            err.print(f"For another browser: {access.link(opened)}")

        access = Access(once=True, renewed=renewed)

        def started() -> None:
            if opened.meaning:
                err.print(opened.meaning)
            print(f"Open {access.link(opened)}", flush=True)
            note("Each label is stored at once; Ctrl-C stops the page.", quiet)
            if browser:
                webbrowser.open(access.link(opened))

        run(app_of(session, opened, access), listening, started)


def run_backup(path: str, store: str | None, target: str, *, quiet: bool) -> None:
    """Copy the store of these data."""
    _need_packages()
    from ..triage.store_file import back_up

    place = _store_of(path, store)
    back_up(place, target)
    note(f"{target}: a copy of {place}", quiet)


def run_headless(
    path: str, source: Source, fitting: Fitting, asked: Asked, answers: str, *, quiet: bool, as_json: bool
) -> None:
    """Label rows with known answers, and print how many outliers were found."""
    _need_packages()
    from ..triage.headless import walk

    if asked.output is not None:
        files.refuse_target(asked.output, (".csv",))
    if asked.save is not None:
        files.refuse_target(asked.save, None)
    with _session(path, source, fitting, asked, quiet) as session:
        known = {row: label for row, label in read_known_labels(answers, session.table).items() if label}
        progress = bar("labelling", "rows", quiet)
        walked = walk(session, known, queue=asked.queue, most=asked.rows, show=progress.show)
        progress.clear()
        session.refit(wait=True)
        if asked.output is not None:
            session.export_ranking(asked.output)
        if asked.save is not None:
            session.export_model(asked.save)
        n = len(walked.rows)
        facts: dict[str, Any] = {"data": path, "labelled": n, "outliers": walked.found(n), "models": session.version}
        facts |= {f"outliers in the first {k}": walked.found(k) for k in _LOOKED if k < n}
        facts |= {"advice": session.summary().advice, "store": session.place}
        written = {"ranking": asked.output, "model": asked.save}
        print_facts(facts | {name: at for name, at in written.items() if at is not None}, as_json)


@contextmanager
def _session(path: str, source: Source, fitting: Fitting, asked: Asked, quiet: bool) -> Iterator[TriageSession]:
    """Read the rows, fit or load the detector, and open a session."""
    from ..triage import TriageSession

    store = _store_of(path, asked.store)
    detector, table = _fitted(path, source, fitting, asked.model, quiet)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # column names were compared when the file was read
        session = TriageSession(
            detector,
            table,
            store=store,
            refit_every=asked.every,
            who=asked.who or _login(),
            title=Path(path).name if path != "-" else "standard input",
            path=None if path == "-" else path,
        )
    with session:
        if asked.known is not None:
            note(f"{session.import_labels(asked.known):,} labels from {asked.known}", quiet)
        yield session


def _fitted(path: str, source: Source, fitting: Fitting, model: str | None, quiet: bool) -> tuple[Any, Table]:
    if fitting.method == "sp":
        raise OptionError("--method must be consensus or repen, got sp, which learns nothing from labels.")
    if model is not None:
        from ..model.file.saving import load

        if fitting.labels is not None:
            raise OptionError(f"--labels cannot be combined with --model {model}; use --import.")
        detector = load(model)
        detector.n_jobs = threads_of(fitting.options.get("n_jobs"))
        source = Source.of_model(detector, source.format, source.schema.id)
        return detector, source.read(path, detector.n_jobs)
    refuse_options(fitting.method, fitting.options)
    table = source.read(path, threads_of(fitting.options.get("n_jobs")), quiet)
    detector, warned = fit(fitting, table, table.is_text, not quiet and sys.stderr.isatty())
    detector.provenance_ = replace(detector.provenance_, reference_ids={})
    for text in warned:
        note(f"warning: {text}", quiet)
    return detector, table


def _store_of(path: str, store: str | None) -> str:
    if path == "-" and store is None:
        raise OptionError("standard input (-) needs --store FILE, a place for the labels.")
    return store or f"{path.rstrip('/')}.triage"


def _group_in_background(session: TriageSession) -> None:
    threading.Thread(target=session.group, daemon=True).start()


def _login() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # the user has no name, as in some containers
        return "analyst"


def _need_packages() -> None:
    try:
        import jinja2  # noqa: F401
        import sqlalchemy  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise FormatError(f"the labelling page needs the package {error.name}: {pip_install('triage')}.") from None
