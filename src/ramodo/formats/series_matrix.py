"""Series matrices of the Gene Expression Omnibus: lines about the series before and after a table."""

from __future__ import annotations

from typing import Any

_MARK, _BEGIN, _END = b"!", b"!series_matrix_table_begin", b"!series_matrix_table_end"


def of_series(stream: Any) -> Any:
    """The table of a series matrix, as a stream; of any other stream of pyarrow's, the same from its beginning."""
    import pyarrow

    head = bytes(stream.read(len(_MARK)))
    stream.seek(0)
    if head != _MARK:
        return stream
    read = bytes(stream.read())
    begin = read.find(b"\n" + _BEGIN)
    if begin < 0:
        stream.seek(0)
        return stream
    begin, end = read.find(b"\n", begin + 1) + 1, read.find(b"\n" + _END, begin + 1)
    return pyarrow.BufferReader(pyarrow.py_buffer(read[begin : end + 1 if end >= 0 else None]))
