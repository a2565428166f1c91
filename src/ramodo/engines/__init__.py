"""Rows on a Dask cluster: `map` and `take` run where the blocks are.

dask_rows.py         rows in the partitions of a Dask collection, or in files that workers read
dask_collections.py  the partitions of the collections that users pass in
partitions.py        a partition: its source, how it becomes a block, what one look at it finds
dask_runner.py       runs tasks on a cluster, or on the threads of this process
loose_pins.py        a plugin of the scheduler: any worker may run a task whose preferred worker is gone
lazy_results.py      scores and other results of Dask collections, as Dask collections
tables.py            tables in pieces, whose categories differ from piece to piece, with the same columns
dataset.py           `open_dataset`: globs of files, on any file system that fsspec knows
learning.py          what must be learned from all files before the first is read: scales, document frequencies
worker_arrays.py     large arrays of models, which workers keep
serialization.py     values as bytes, compressed where that is cheap
"""

try:
    import dask  # noqa: F401
    import zstandard  # noqa: F401
except ModuleNotFoundError as error:
    from ..extras import pip_install

    raise ModuleNotFoundError(
        f"open_dataset and Dask collections need the package {error.name}: {pip_install('dask')}.", name=error.name
    ) from None
