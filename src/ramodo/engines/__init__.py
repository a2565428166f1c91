"""Rows that live elsewhere: the same two verbs, map and take, where the blocks are.

dask.py          rows in the partitions of a Dask collection, or of files that workers read
partitions.py    what a partition is: its source, how it becomes a block, what one look at it finds
running.py       tasks on a cluster, or on the threads of this process
loose_pins.py    a scheduler's plugin: tasks whose worker is gone run elsewhere
lazy.py          scores and the like of Dask collections, as Dask collections
tables.py        tables in pieces, whose categories differ from piece to piece, with the same columns
dataset.py       `open_dataset`: globs of files, on any file system that fsspec knows
learning.py      what has to be learned from all files before one of them can be read: scales, document frequencies
carried.py       large arrays of models, which workers keep
wire.py          what travels, as bytes: counted, and narrow where that is cheap
"""

try:
    import dask  # noqa: F401
    import zstandard  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"open_dataset and Dask collections need {error.name}: pip install dask distributed zstandard fsspec",
        name=error.name,
    ) from None
