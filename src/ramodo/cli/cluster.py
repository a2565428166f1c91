"""`--cluster`: the workers of a Dask cluster read, rank and score files."""

from __future__ import annotations

import glob
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..extras import pip_install
from ..formats import FormatError, Table, format_of
from ..formats.byte_streams import suffix_of
from ..options import OptionError
from .console import bar, note
from .flags import Writing
from .source import Source

if TYPE_CHECKING:
    from ..model.fitted import FittedDetector

_PATIENCE = 20
"""Seconds to wait for a scheduler or a worker."""

_RETURN = "1 hour"
"""How long a killed worker may take to come back. Dask gives it up after 15 seconds, which are short on a busy machine,
and tasks wait forever once it has given up the last one."""


@contextmanager
def connected(cluster: str | None, quiet: bool) -> Iterator[None]:
    """Connect to the cluster, if one is given, and print its dashboard."""
    if cluster is None:
        yield
        return
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        raise OptionError(f"--cluster {cluster} needs the package distributed: {pip_install('dask')}.") from None
    for name in ("distributed", "tornado"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # our own error says once what went wrong
    if "://" in cluster:
        with _client(Client, cluster) as client:
            _need_workers(client, cluster)
            note(f"cluster {cluster}, dashboard {client.dashboard_link}", quiet)
            yield
        return
    n = _n_workers(cluster)
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": _RETURN}),
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
    """Raise if the command needs all rows here, or columns that stay with the workers."""
    if report is not None:
        raise OptionError(
            f"--report {report} cannot be combined with --cluster, which allows --output and --model. Write the model, "
            "then use `ramodo report` on some of the rows."
        )
    if writing.rules is not None:
        raise OptionError("--rules cannot be combined with --cluster, because columns stay with the workers.")
    if writing.beside:
        raise OptionError(
            f"--with {','.join(writing.beside)} cannot be combined with --cluster, because columns stay with the "
            "workers; --flagged, --reasons and --views can, and --id names a column to join the output by."
        )


def _client(make: Any, address: str) -> Any:
    from ..engines.dask_runner import ClusterError

    try:
        return make(address, timeout=_PATIENCE)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"--cluster must be the address of a running Dask scheduler, such as tcp://host:8786, or local:N for N "
            f"processes of this machine; none answers at {address} ({str(error).rstrip('.')})."
        ) from None


def _need_workers(client: Any, address: str) -> None:
    from ..engines.dask_runner import ClusterError

    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError:
        raise ClusterError(
            f"--cluster {address}: the Dask scheduler has had no workers for {_PATIENCE} seconds; start some with "
            f"`dask worker {address}`."
        ) from None


def _n_workers(cluster: str) -> int:
    from .. import threads

    name, _, n = cluster.partition(":")
    if name != "local" or (n and not (n.isdecimal() and 1 <= int(n) <= 1024)):
        raise OptionError(
            "--cluster must be tcp://host:port of a Dask scheduler, local, or local:N with 1 to 1,024 processes, got "
            f"{cluster!r}."
        )
    return int(n) if n else threads.n_threads(-1)


def with_format(path: str, source: Source) -> Source:
    """Return `source` with the format of the first file, if the glob itself has no telling suffix."""
    from ..engines.dataset import found_files

    if source.format is not None or not glob.has_magic(path):
        return source
    try:
        format_of(path, None)
    except FormatError:
        return replace(source, format=format_of(found_files(path, {})[0], None))
    return source


def read_on_cluster(path: str, source: Source, quiet: bool, detector: FittedDetector | None = None) -> Table:
    """Return the files of a glob as a table whose matrix stays with the workers.

    With a detector, the table has the detector's columns.
    """
    from ..engines.dask_collections import rows_of
    from ..engines.dataset import found_files, rows_of_files

    if path == "-":
        raise OptionError("with --cluster, DATA must be a file or a glob of files, got standard input (-).")
    files = found_files(path, {})
    source.refuse_flags(files[0])
    kind = source.format_at(files[0])
    rows = rows_of_files(files, source.format, source.how(kind, 1), {})
    if detector is not None:
        rows = rows_of(rows, detector)
    progress = bar("reading", "files", quiet)
    rows.look_at_all(progress.show)
    progress.clear()
    if source.schema.id is not None and rows.ids is not None and len(set(rows.ids)) < len(rows.ids):
        raise FormatError(f"{path}: ids in the column {source.schema.id!r} must be unique; some occur twice.")
    schema = replace(rows.schema, format=kind.name, suffix=suffix_of(files[0]))
    return Table(rows, ids=rows.ids, classes=rows.classes, schema=schema, frequencies=rows.frequencies)
