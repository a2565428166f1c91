"""`--cluster`: files that the workers of a Dask cluster read, rank and score."""

from __future__ import annotations

import glob
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ..extras import pip_install
from ..formats import FormatError, Table, format_of
from ..options import OptionError
from .console import bar, note
from .flags import Writing
from .reading import Source

_PATIENCE = 20
"""Seconds to wait for a scheduler."""


@contextmanager
def connected(cluster: str | None, quiet: bool) -> Iterator[None]:
    """A client of the cluster, whose dashboard is named; of nothing where no cluster was given."""
    if cluster is None:
        yield
        return
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise OptionError(f"--cluster {cluster} needs the package distributed: {pip_install('dask')}.") from None
    for name in ("distributed", "tornado"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what goes wrong is said once, by our own error
    if "://" in cluster:
        with _client(Client, cluster) as client:
            _need_workers(client, cluster)
            note(f"cluster {cluster}, dashboard {client.dashboard_link}", quiet)
            yield
        return
    n = _n_workers(cluster)
    with (
        LocalCluster(
            n_workers=n,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as local,
        Client(local, direct_to_workers=True) as client,
    ):
        note(f"cluster of {n} processes, dashboard {client.dashboard_link}", quiet)
        yield


def refuse_on_cluster(report: str | None, writing: Writing) -> None:
    """Raise where something is asked for that needs all rows, or columns that workers do not send, here."""
    if report is not None:
        raise OptionError(
            f"--report {report} was given with --cluster; allowed with it: --output and --model. Write the model, and "
            "with `ramodo report` a report on some of the rows."
        )
    if writing.beside:
        raise OptionError(
            f"--with {','.join(writing.beside)} was given with --cluster, and columns stay with the workers; "
            "allowed with it: --flagged, --reasons, --views, and --id for a column to join the output by."
        )


def _client(make: Any, address: str) -> Any:
    from ..engines.running import ClusterError

    try:
        return make(address, timeout=_PATIENCE)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"--cluster {address} was given, and no Dask scheduler answers there ({str(error).rstrip('.')}); allowed: "
            "the address of one that runs, as tcp://host:8786, or local:N for N processes of this machine."
        ) from None


def _need_workers(client: Any, address: str) -> None:
    from ..engines.running import ClusterError

    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError:
        raise ClusterError(
            f"--cluster {address} was given, and the Dask scheduler there has had no workers for {_PATIENCE} seconds; "
            "start some, with `dask worker` and its address."
        ) from None


def _n_workers(cluster: str) -> int:
    from .. import threads

    name, _, n = cluster.partition(":")
    if name != "local" or (n and not (n.isdecimal() and 1 <= int(n) <= 1024)):
        raise OptionError(
            f"--cluster {cluster!r} was given; allowed: tcp://host:port of a Dask scheduler, local, or local:N with 1 "
            "to 1,024 processes."
        )
    return int(n) if n else threads.n_threads(-1)


def with_format(path: str, source: Source) -> Source:
    """`source`, with the format of the first file where a glob does not tell it."""
    from ..engines.dataset import found_files

    if source.format is not None or not glob.has_magic(path):
        return source
    try:
        format_of(path, None)
    except FormatError:
        return replace(source, format=format_of(found_files(path, {})[0], None))
    return source


def read_on_cluster(path: str, source: Source, quiet: bool, detector: Any = None) -> Table:
    """The files of a glob as a table whose matrix stays with the workers.

    With a detector, its columns are those of the table.
    """
    from ..engines.dataset import found_files, rows_of_files
    from ..engines.opening import rows_of

    if path == "-":
        raise OptionError("standard input cannot be read by workers; allowed with --cluster: files, or a glob of them.")
    files = found_files(path, {})
    source.refuse_columns(files[0])
    kind = source.format_at(files[0])
    how = source.how(kind, 1)
    if detector is not None and kind.takes_width:
        how = replace(how, n_features=detector.n_features_in_)
    rows = rows_of_files(files, source.format, how, {})
    if detector is not None:
        rows = rows_of(rows, detector.n_features_in_, getattr(detector, "feature_names_in_", None))
    progress = bar("reading", "files", quiet)
    rows.look_at_all(progress.show)
    progress.clear()
    if source.id is not None and rows.ids is not None and len(set(rows.ids)) < len(rows.ids):
        raise FormatError(f"{path}: an id of the column {source.id!r} is given twice; allowed: each id once.")
    learned = rows.how or how
    return Table(
        rows,
        rows.ids,
        rows.names,
        rows.classes,
        categories=rows.categories,
        means=learned.table.means,
        zero_based=rows.zero_based,
        frequencies=learned.frequencies,
        scales=learned.table.scales or {},
        dates=learned.table.dates or {},
        given=rows.given,
        header=rows.header,
    )
