"""Rows in shards: made by workers where they are to stay, or written as rows folders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ramodo.formats import Table, folder


def shard(seed: int, n_rows: int, n_features: int, length: int) -> sp.csr_matrix:
    """Rows with a given number of non-zeros, spread over all features; every fiftieth row has its own kind of them."""
    rng = np.random.default_rng(seed)
    width = n_features // length
    indices = rng.integers(0, width, (n_rows, length)) + np.arange(0, width * length, width)
    indices[::50] = rng.integers(0, width // 10 + 1, (len(indices[::50]), length)) + np.arange(0, width * length, width)
    data = rng.random(indices.size, dtype=np.float32)
    indptr = np.arange(0, indices.size + 1, length)
    return sp.csr_matrix((data, indices.ravel().astype(np.int32), indptr), shape=(n_rows, n_features))


def documents(seed: int, n_rows: int, n_features: int, length: int) -> sp.csr_matrix:
    """Rows of a given number of words, drawn by Zipf's law, with 1 for each word; every fiftieth has rare ones.

    A word drawn twice is there once, so that rows have fewer non-zeros than words.
    """
    rng = np.random.default_rng(seed)
    words = np.exp(rng.random((n_rows, length), dtype=np.float32) * np.float32(np.log(n_features))).astype(np.int32) - 1
    words[::50, : length // 4] = rng.integers(0, n_features, (len(words[::50]), length // 4))
    words = np.sort(words, axis=1)
    first = np.ones(words.shape, dtype=bool)
    first[:, 1:] = words[:, 1:] != words[:, :-1]
    indptr = np.concatenate([[0], np.cumsum(first.sum(axis=1))])
    indices = np.minimum(words[first], n_features - 1)
    return sp.csr_matrix((np.ones(len(indices), dtype=np.float32), indices, indptr), shape=(n_rows, n_features))


def on_workers(
    client: Any,
    n_shards: int,
    n_rows: int,
    n_features: int,
    length: int,
    make: Callable[[int, int, int, int], sp.csr_matrix] = shard,
) -> Any:
    """A Dask array of CSR blocks, each in the memory of the worker that made it, as many on each worker."""
    import dask.array as da
    from dask import delayed
    from distributed import wait

    workers = sorted(client.scheduler_info(n_workers=-1)["workers"])
    meta = sp.csr_matrix((0, 0), dtype=np.float32)
    made = []
    for seed in range(n_shards):
        one = delayed(make)(seed, n_rows // n_shards, n_features, length)
        made.append(client.persist(one, workers=[workers[seed % len(workers)]]))
    blocks = [
        da.from_delayed(
            made[seed],
            (n_rows // n_shards, n_features),
            dtype=np.float32,
            meta=meta,
        )
        for seed in range(n_shards)
    ]
    with client.as_current():
        kept = client.persist(da.concatenate(blocks, axis=0))
        wait(kept)
    return kept


def together(n_shards: int, n_rows: int, n_features: int, length: int) -> sp.csr_matrix:
    """The same rows in this process."""
    parts = [shard(seed, n_rows // n_shards, n_features, length) for seed in range(n_shards)]
    return sp.vstack(parts, format="csr")


def write(place: Path, n_shards: int, n_rows: int, n_features: int, length: int) -> int:
    """Shards as rows folders, the bytes of their arrays; ten each are one on disk, which takes a tenth of the time."""
    total = 0
    for number in range(n_shards):
        name, original = place / f"{number:04}.rows", place / f"{number - number % 10:04}.rows"
        if name != original:
            name.symlink_to(original)
        else:
            rows = shard(number, n_rows, n_features, length)
            folder.write(name, Table(rows))
        total += rows.data.nbytes + rows.indices.nbytes + 8 * (n_rows + 1)
    return total
