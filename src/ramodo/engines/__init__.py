"""Rows that live elsewhere: the same two verbs, map and take, where the blocks are.

dask.py          rows in the partitions of a Dask collection, or of files that workers read
partitions.py    what a partition is: its source, how it becomes a block, what one look at it finds
running.py       tasks on a cluster, or on the threads of this process
lazy.py          scores and the like of Dask collections, as Dask collections
tables.py        tables in pieces, whose categories differ from piece to piece, with the same columns
dataset.py       `open_dataset`: globs of files, on any file system that fsspec knows
learning.py      what has to be learned from all files before one of them can be read: scales, document frequencies
carried.py       large arrays of models, which workers keep
wire.py          what travels, as bytes: counted, and narrow where that is cheap
"""
