"""Our data for each of the paper's sets."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from ...constraints import either
from ...options import option_error
from ..datasets import LabeledData, data_folder, load_dataset, load_prepared


@dataclass(frozen=True)
class StandIn:
    """A file in the folder of prepared sets, and how close it is to the paper's set."""

    paper: str
    file: str
    kind: str


STAND_INS = (
    StandIn("AD", "AD_dedup", "the paper's, without duplicate rows"),
    StandIn("LC", "LC", "the paper's"),
    StandIn("p53", "p53", "the paper's"),
    StandIn("R8", "R8", "the paper's"),
    StandIn("OT", "Chowdary", "weak stand-in: other gene expression data"),
    StandIn("News20", "News20", "rebuilt from the raw messages"),
    StandIn("URL", "URL_iscx", "stand-in: other URLs"),
    StandIn("Webspam", "Webspam", "the paper's"),
)

_DENSE_FROM = 0.5
"""Share of non-zeros from which rows are kept dense."""


def here(asked: str | None = None) -> list[StandIn]:
    """Return the sets that can be loaded, of those asked for by the paper's name or by ours; all by default."""
    chosen = STAND_INS if asked is None else tuple(_named(name.strip()) for name in asked.split(","))
    found = [stand_in for stand_in in STAND_INS if stand_in in chosen and is_here(stand_in)]
    if not found:
        names = ", ".join(stand_in.file for stand_in in chosen)
        raise FileNotFoundError(f"None of the sets {names} is in the folder that RAMODO_DATA names ({data_folder()}).")
    return found


def _named(name: str) -> StandIn:
    for stand_in in STAND_INS:
        if name in (stand_in.paper, stand_in.file):
            return stand_in
    raise option_error("each of --sets", either(s.paper for s in STAND_INS), repr(name))


def is_here(stand_in: StandIn) -> bool:
    """Return whether there is a ready-made file, or the set from its public source."""
    return _is_ready_made(stand_in.file) or published(stand_in.paper) is not None


def described(stand_in: StandIn) -> str:
    """What its rows are."""
    if _is_ready_made(stand_in.file):
        return f"{stand_in.file}: {stand_in.kind}"
    return f"{stand_in.paper}: from its public source"


def _is_ready_made(file: str) -> bool:
    folder = data_folder()
    return folder is not None and (folder / f"{file}.npz").is_file()


def published(name: str) -> LabeledData | None:
    """Return the paper's own set, where its public source is on this machine already; the network is not asked."""
    try:
        return load_dataset(name, offline=True)
    except OSError:
        return None


def load(file: str) -> LabeledData:
    """Return one set, its rows dense where most of their entries are."""
    found = None if _is_ready_made(file) else published(_named(file).paper)
    data = found or load_prepared(file)
    if sp.issparse(data.X) and data.X.nnz > _DENSE_FROM * data.X.shape[0] * data.X.shape[1]:
        return replace(data, X=data.X.toarray())
    return data


def fingerprint(data: LabeledData) -> str:
    """The same for the same rows, truth and pool."""
    digest = hashlib.blake2b(digest_size=12)
    for part in (data.X, data.y, data.pool):
        arrays = [part] if part is None or isinstance(part, np.ndarray) else [part.data, part.indices, part.indptr]
        for array in arrays:
            digest.update(b"none" if array is None else f"{array.shape}{array.dtype}".encode())
            if array is not None:
                digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
