"""Load a set by name: prepared, converted before, from the user's files, or downloaded."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import scipy.sparse as sp

from ...constraints import Integer, either
from ...options import option_error
from ...terminal.progress import Bar
from . import webspam
from .cache import cache_folder, downloads, is_offline, place_of
from .checksums import DownloadError, verify
from .download import download
from .prepared import LabeledData, data_folder, read_prepared, write_prepared
from .sources import SOURCES, RawFile, Source

_MODULES = {
    "AD": "advertisements",
    "LC": "lung",
    "p53": "p53",
    "R8": "reuters",
    "OT": "ovarian",
    "News20": "news20",
    "URL": "url",
}
_SEED = Integer(0, 2**64 - 1)


def load_dataset(
    name: str,
    *,
    random_state: int = 0,
    source: str | os.PathLike[str] | None = None,
    cache: str | os.PathLike[str] | None = None,
    offline: bool = False,
    verbose: bool = False,
) -> LabeledData:
    """Return one of the paper's eight sets, as built in its section 6.1; `SOURCES[name]` describes it and its origin.

    A file NAME.npz in the folder that RAMODO_DATA names comes first, unchanged, whatever the seed; then the result of
    an earlier call in the cache; then a download. `source` skips the prepared file.

    Parameters
    ----------
    name : one of `list_datasets()`, in any case
    random_state : seed of the draw of outliers, in the sets whose outliers are 2 % of the rows
    source : a file or folder of the publisher's files, or the http(s) address of a folder that has them
    cache : where files are kept; by default RAMODO_CACHE, or the system's cache folder
    offline : never use the network, as with RAMODO_OFFLINE=1; if a file is missing, say which and where to put it
    verbose : show progress on a terminal
    """
    found = source_named(name)
    if not _SEED.accepts(random_state):
        raise option_error("random_state", _SEED, repr(random_state))
    seed, folder = int(random_state), cache_folder(cache)
    mirror = str(source) if source is not None and str(source).startswith(("http://", "https://")) else None
    if mirror and is_offline(offline):
        raise option_error("source", "a file or folder where offline is set", repr(mirror))
    if source is None and (ready := ready_made(found.name)) is not None:
        return _as_the_set_is(found, read_prepared(ready))
    own = _own_files(found, Path(source)) if source is not None and not mirror else []
    place = place_of(folder, found, seed, own)
    if not _is_there(found, place):
        files = own or [_raw(found, file, folder, mirror, is_offline(offline), verbose) for file in found.files]
        _convert(found, files, seed, place, verbose)
    return _read(found, place)


def source_named(name: str) -> Source:
    """Return the set of this name, in any case."""
    for source in SOURCES.values():
        if isinstance(name, str) and source.name.lower() == name.lower():
            return source
    raise option_error("the name of a set", either(SOURCES), repr(name))


def ready_made(name: str) -> Path | None:
    """Return the npz file of exactly this name in the folder of RAMODO_DATA; a stand-in has another name."""
    folder = data_folder()
    path = None if folder is None else folder / f"{name}.npz"
    return path if path is not None and path.is_file() else None


def is_in_cache(source: Source, cache: Path, seed: int = 0) -> bool:
    """Return whether loading would need neither download nor conversion."""
    return _is_there(source, place_of(cache, source, seed))


def _is_there(source: Source, place: Path) -> bool:
    return webspam.set_folder(place).is_dir() if source.name == "Webspam" else _npz(place).is_file()


def _npz(place: Path) -> Path:
    return place.with_name(place.name + ".npz")


def _read(source: Source, place: Path) -> LabeledData:
    return webspam.load(place) if source.name == "Webspam" else read_prepared(_npz(place))


def _convert(source: Source, files: Sequence[Path], seed: int, place: Path, verbose: bool) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    if source.name == "Webspam":
        bar = _bar("converting", verbose)
        webspam.convert(files, seed, place, bar.show)
        bar.clear()
    else:
        module = importlib.import_module(f".{_MODULES[source.name]}", __package__)
        write_prepared(_npz(place), module.convert(files, seed))


def _as_the_set_is(source: Source, data: LabeledData) -> LabeledData:
    """Dense rows where the set is dense: prepared files are always sparse."""
    return replace(data, X=data.X.toarray()) if source.is_dense and sp.issparse(data.X) else data


def _raw(source: Source, file: RawFile, cache: Path, mirror: str | None, offline: bool, verbose: bool) -> Path:
    """Return a file of the publisher's, from the cache; downloaded if it is not there."""
    folder = downloads(cache, source)
    for name in (file.name, file.unpacked):
        if name is not None and (folder / name).is_file():
            verify(folder / name, file.sha256 if name == file.name else None)
            return folder / name
    if offline:
        raise DownloadError(
            f"{file.name} is missing and must not be downloaded (offline). Put it into {folder}, or give a file or "
            f"folder as source. It is published at {' and '.join(file.addresses)}."
        )
    bar = _bar(file.name, verbose)
    try:
        return download(file, folder, mirror=mirror, show=bar.show)
    finally:
        bar.clear()


def _bar(name: str, verbose: bool) -> Bar:
    return Bar(name, verbose and sys.stderr is not None and sys.stderr.isatty(), "MB")


def _own_files(source: Source, given: Path) -> list[Path]:
    """Return the files of a set among those of the user."""
    if given.is_file():
        if len(source.files) > 1:
            names = " and ".join(file.name for file in source.files)
            raise option_error(f"source for {source.name}", f"a folder with {names}", repr(str(given)))
        return [given]
    if not given.is_dir():
        raise option_error("source", "a file or folder that exists", repr(str(given)))
    found = []
    for file in source.files:
        either_name = [name for name in (file.name, file.unpacked) if name is not None]
        here = [given / name for name in either_name if (given / name).is_file()]
        if not here:
            raise DownloadError(f"{given} has no file {either(either_name)}, which {source.name} is built from.")
        found.append(here[0])
    return found
