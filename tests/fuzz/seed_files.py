"""Small sound files of every format, as bytes by name, for `fuzz_files.py` to damage."""

import bz2
import gzip
import io
import lzma
import tempfile
from datetime import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import scipy.io
import scipy.sparse as sp
import zstandard

from ramodo.formats import Table, folder

DENSE = np.where(np.random.default_rng(0).random((12, 5)) < 0.5, np.arange(60.0).reshape(12, 5) + 0.5, 0)
SPARSE = sp.csr_array(DENSE)
NAMED = {"y": np.ones(12), "names": np.array(list("abcde")), "ids": np.array(list("abcdefghijkl"))}
SVM = b"".join(b"%d 1:%d %d:0.5 # c\n" % (i % 2, i, i % 7 + 2) for i in range(40))


def seeds(formats):
    """Sound files by format; each is read as a file of that suffix. A rows folder is a dict of its files."""
    return {name: MADE[name]() for name in formats}


def _saved(save, *arguments, **named):
    buffer = io.BytesIO()
    save(buffer, *arguments, **named)
    return buffer.getvalue()


def _frame():
    n = 12
    return pa.table(
        {
            "number": pa.array(DENSE[:, 0]),
            "count": pa.array([None, *range(n - 1)], pa.int16()),
            "flag": pa.array([i % 2 == 0 for i in range(n)]),
            "when": pa.array([datetime(2024, 1, 1 + i) for i in range(n)]),
            "word": pa.array([None, *(f"word {i % 3}" for i in range(n - 1))]),
            "coded": pa.array([f"kind {i % 2}" for i in range(n)]).dictionary_encode(),
            "price": pa.array(range(n), pa.int64()).cast(pa.decimal128(21, 2)),
        }
    )


def _parquet():
    ways = [(packing, coded) for packing in ("none", "snappy", "zstd") for coded in (True, False)]
    return [
        _saved(lambda out, w=way: pa.parquet.write_table(_frame(), out, compression=w[0], use_dictionary=w[1]))
        for way in ways
    ]


def _feather():
    return [
        _saved(lambda out, p=packing: pa.feather.write_feather(_frame(), out, compression=p, chunksize=5))
        for packing in ("uncompressed", "lz4", "zstd")
    ]


def _npz():
    return [
        _saved(sp.save_npz, SPARSE),
        _saved(sp.save_npz, sp.csc_array(DENSE), compressed=False),
        _saved(np.savez, data=SPARSE.data, indices=SPARSE.indices, indptr=SPARSE.indptr, shape=(12, 5), **NAMED),
        _saved(np.savez_compressed, DENSE, **NAMED),
    ]


def _h5ad():
    import anndata  # takes seconds
    import pandas as pd

    names = [f"cell {i}" for i in range(12)]
    obs = pd.DataFrame({"kind": pd.Categorical(["a", "b"] * 6), "n": np.arange(12), "id": names}, index=names)
    var = pd.DataFrame(index=[f"gene {i}" for i in range(5)])
    made = []
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "made.h5ad"
        for matrix in (DENSE, sp.csr_matrix(DENSE), sp.csc_matrix(DENSE)):
            for packing in (None, "gzip"):
                anndata.AnnData(matrix, obs, var).write_h5ad(path, compression=packing)
                made.append(path.read_bytes())
    return made


def _folder():
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "made.rows"
        folder.write(path, Table(SPARSE, classes=np.arange(12.0)))
        return [{file.name: file.read_bytes() for file in sorted(path.iterdir())}]


MADE = {
    "svm": lambda: [SVM],
    "svm.gz": lambda: [gzip.compress(SVM)],
    "svm.bz2": lambda: [bz2.compress(SVM)],
    "svm.xz": lambda: [lzma.compress(SVM), lzma.compress(SVM, check=lzma.CHECK_NONE)],
    "svm.zst": lambda: [zstandard.compress(SVM), zstandard.ZstdCompressor(write_checksum=True).compress(SVM)],
    "txt": lambda: [b"a line of words\nanother \xc3\xa9\n\nlast"],
    "csv": lambda: [
        b"a,b,c\n1,x,2024-01-01\n2.5,y,\n-3,x,2024-02-01 10:00:00\n",
        b'id,t\n1,"q, ""so"""\n2,"two\nlines"\n',
    ],
    "tsv": lambda: [b"a\tb\n1\tx\n2\ty\n"],
    "npy": lambda: [_saved(np.save, DENSE), _saved(np.save, np.asfortranarray(DENSE.astype(np.float32)))],
    "npz": _npz,
    "mtx": lambda: [_saved(scipy.io.mmwrite, SPARSE), _saved(scipy.io.mmwrite, DENSE)],
    "parquet": _parquet,
    "feather": _feather,
    "h5ad": _h5ad,
    "rows": _folder,
}
