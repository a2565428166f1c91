"""`ramodo datasets`: list the paper's data sets, or load one and write it to a file."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..cli import output as files
from ..cli.console import note, print_facts, print_json, print_rows
from ..files.whole import write_whole
from ..formats import folder, svmlight
from ..options import option_named
from .datasets import SOURCES, LabeledData, load_dataset
from .datasets.cache import cache_folder
from .datasets.loading import is_in_cache, ready_made, source_named
from .datasets.prepared import write_prepared
from .datasets.sources import Source

TARGETS = (".npz", ".svm", ".rows")
_ROWS_AT_ONCE = 10_000


def run_list(cache: str | None, as_json: bool) -> None:
    """List all data sets, and whether each is on this machine."""
    if as_json:
        print_json([{**asdict(source), "here": _here(source, cache)} for source in SOURCES.values()])
        return
    header = ["set", "rows", "features", "here", "licence", "outliers"]
    print_rows(
        header,
        [
            (s.name, f"{s.n_rows:,}", f"{s.n_features:,}", _here(s, cache), s.licence, s.outliers)
            for s in SOURCES.values()
        ],
    )


def _here(source: Source, cache: str | None) -> str:
    if ready_made(source.name) is not None:
        return "ready-made"
    return "in the cache" if is_in_cache(source, cache_folder(cache)) else "no"


def run_load(
    name: str,
    *,
    source: str | None,
    cache: str | None,
    offline: bool,
    seed: int,
    output: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Load a data set, describe it, and write it."""
    option_named("random_state").of_flag(seed)
    suffix = None if output is None else files.refuse_target(output, TARGETS)
    data = load_dataset(name, random_state=seed, source=source, cache=cache, offline=offline, verbose=not quiet)
    facts = _facts(source_named(name), data)
    if not quiet or as_json:
        print_facts(facts if as_json else {key: _shown(value) for key, value in facts.items()}, as_json)
    if output is not None:
        _write(output, str(suffix), data)
        n_pool = 0 if data.pool is None or suffix == ".npz" else data.pool.shape[0]
        note(f"{output}: written" + (f", without the pool of {n_pool:,} rows" if n_pool else ""), quiet)


def _facts(source: Source, data: LabeledData) -> dict[str, Any]:
    entries = data.X.nnz if sp.issparse(data.X) else np.count_nonzero(data.X)
    return {
        "set": f"{source.name}: {source.title}",
        "rows": data.X.shape[0],
        "features": data.X.shape[1],
        "non-zeros": int(entries),
        "outliers": int(data.y.sum()),
        "pool": 0 if data.pool is None else data.pool.shape[0],
        "in the paper": f"{source.n_rows:,} rows, {source.n_features:,} features",
        "outliers are": source.outliers,
        "read from": data.origin + (", ready-made" if _is_ready_made(source, data) else ""),
        "licence": source.licence,
        "notes": source.notes,
    }


def _is_ready_made(source: Source, data: LabeledData) -> bool:
    path = ready_made(source.name)
    return path is not None and data.origin == str(path)


def _shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else value


def _write(path: str, suffix: str, data: LabeledData) -> None:
    if suffix == ".npz":
        write_prepared(Path(path), data)
        return
    matrix = sp.csr_array(data.X)
    if suffix == ".svm":
        write_whole(Path(path), lambda temporary: _write_svmlight(temporary, matrix, data))
        return
    with folder.writing(path) as place, folder.FolderWriter(place) as writer:
        for begin in range(0, matrix.shape[0], _ROWS_AT_ONCE):
            rows = matrix[begin : begin + _ROWS_AT_ONCE]
            writer.add(rows.indptr, rows.indices, rows.data, data.y[begin : begin + _ROWS_AT_ONCE])
        writer.finish(matrix.shape[1])


def _write_svmlight(path: str, matrix: sp.csr_array, data: LabeledData) -> None:
    with open(path, "wb") as file:
        svmlight.write(file, matrix, data.y.astype(np.float64))
