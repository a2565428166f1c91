"""Small files as somebody may have them, sound or not, as bytes by name; `fuzz_files.py --odd` runs commands on them.

What makes a file odd is in its name, before the suffix that says how it is read.
"""

import bz2
import codecs
import gzip
import io
import json
import lzma
import zipfile
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import scipy.io
import scipy.sparse as sp
import zstandard
from seed_files import DENSE, SPARSE, SVM, _saved

N = 30
TABLE = "a,b,label\n" + "".join(f"{i % 7},{i * i % 11}.5,{i % 2}\n" for i in range(N))
RECORDS = "".join(f'{{"a": {i % 7}, "b": {{"c": "{i % 3}"}}, "t": "row {i}"}}\n' for i in range(N))
TEXT = "".join(f"line {i % 5} of {i} words\n" for i in range(N))
MTX = "%%MatrixMarket matrix coordinate real general\n"
PACK = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstandard.compress}


def odd_files():
    """All of them."""
    made = {}
    for part in (
        encoded,
        tables,
        numbers,
        records,
        svmlight,
        texts,
        matrices,
        archives,
        market,
        arrow,
        packed,
        misnamed,
    ):
        for name, content in part().items():
            assert name not in made
            made[name] = content.encode() if isinstance(content, str) else content
    return made


def columns(*named):
    """A CSV file of these columns, each a name and a function of the row's number."""
    head = ",".join(name for name, _ in named)
    return f"{head}\n" + "".join(",".join(str(value(i)) for _, value in named) + "\n" for i in range(N))


def encoded():
    """Text formats in other encodings, with marks, ends of lines and bytes that are no text."""
    made = {}
    for suffix, text in (("csv", TABLE + "é,1,0\n"), ("jsonl", RECORDS), ("txt", TEXT + "é\n"), ("svm", SVM.decode())):
        made |= {
            f"utf8-mark.{suffix}": codecs.BOM_UTF8 + text.encode(),
            f"utf16.{suffix}": text.encode("utf-16"),
            f"utf16-no-mark.{suffix}": text.encode("utf-16-le"),
            f"utf32.{suffix}": text.encode("utf-32"),
            f"latin1.{suffix}": text.encode("latin-1"),
            f"crlf.{suffix}": text.replace("\n", "\r\n"),
            f"cr.{suffix}": text.replace("\n", "\r"),
            f"mixed-ends.{suffix}": text.replace("\n", "\r\n", 7),
            f"no-last-end.{suffix}": text.rstrip("\n"),
            f"nuls.{suffix}": text.replace("1", "\0"),
            f"nul-at-the-end.{suffix}": text + "\0\0\0",
            f"blank-lines.{suffix}": text.replace("\n", "\n\n"),
            f"empty.{suffix}": "",
            f"one-line-end.{suffix}": "\n",
            f"blanks.{suffix}": "   \n \t \n",
            f"half.{suffix}": text.encode()[: len(text) // 2],
            f"mark-alone.{suffix}": codecs.BOM_UTF8,
            f"bytes.{suffix}": bytes(range(256)) * 8,
            f"half-a-character.{suffix}": text.encode() + b"\xe2\x82",
        }
    return made


def tables():
    """CSV files by their structure."""
    names = ",".join(f"c{i}" for i in range(2000))
    return {
        "header-alone.csv": "a,b,c\n",
        "one-row.csv": "a,b\n1,2\n",
        "one-column.csv": columns(("a", lambda i: i)),
        "two-rows-alike.csv": "a,b\n1,2\n1,2\n",
        "all-alike.csv": columns(("a", lambda i: 1), ("b", lambda i: 2)),
        "ragged-short.csv": TABLE + "1,2\n",
        "ragged-long.csv": TABLE + "1,2,3,4,5\n",
        "repeated-names.csv": columns(("a", lambda i: i), ("a", lambda i: -i)),
        "many-repeated-names.csv": ",".join(["a"] * 2000) + "\n" + ",".join(["1"] * 2000) + "\n",
        "empty-names.csv": columns(("", lambda i: i), ("", lambda i: -i)),
        "one-empty-name.csv": columns(("", lambda i: i), ("b", lambda i: -i)),
        "blank-name.csv": columns((" ", lambda i: i), ("b", lambda i: -i)),
        "names-with-line-breaks.csv": columns(('"a\nb"', lambda i: i), ('"c,d"', lambda i: i % 3)),
        "names-of-controls.csv": columns(("\x1b[31ma", lambda i: i), ("b\x07", lambda i: i % 3)),
        "names-like-options.csv": columns(("--help", lambda i: i), ("-o", lambda i: i % 3)),
        "names-like-made-ones.csv": columns(
            ("a=1", lambda i: i % 3), ("a", lambda i: f"{i % 3}x"), ("a is missing", int)
        ),
        "long-name.csv": columns(("n" * 100_000, lambda i: i)),
        "long-value.csv": columns(("a", lambda i: "v" * 100_000 if i == 3 else "w")),
        "empty-column.csv": columns(("a", lambda i: i), ("b", lambda i: "")),
        "all-empty.csv": columns(("a", lambda i: ""), ("b", lambda i: "")),
        "gaps.csv": columns(("a", lambda i: i if i % 3 else ""), ("b", lambda i: f"x{i % 2}" if i % 4 else "")),
        "unclosed-quote.csv": TABLE + '"1,2,3\n',
        "quote-within.csv": TABLE + '1"2,3,4\n',
        "quotes-alone.csv": '"\n' * 20,
        "delimiters-alone.csv": ",,,\n" * 20,
        "semicolons.csv": TABLE.replace(",", ";"),
        "decimal-commas.csv": TABLE.replace(",", ";").replace(".", ","),
        "bars.csv": TABLE.replace(",", "|"),
        "no-names.csv": TABLE.partition("\n")[2],
        "comment-first.csv": "# made by hand\n" + TABLE,
        "wide.csv": f"{names}\n" + "".join(",".join(str(i * r % 7) for i in range(2000)) + "\n" for r in range(4)),
        "dates.csv": columns(("d", lambda i: date(2024, 1, 1 + i % 28)), ("t", lambda i: f"{i % 24:02}:30:00")),
        "dates-long-ago.csv": columns(("d", lambda i: f"{1 + i:04}-01-01"), ("e", lambda i: f"{9999 - i}-12-31")),
        "dates-with-zones.csv": columns(("d", lambda i: f"2024-01-01T00:{i:02}:00+05:30"), ("n", int)),
        "booleans.csv": columns(("a", lambda i: i % 2 == 0), ("b", lambda i: "TRUE" if i % 3 else "false")),
        "ids-alike.csv": columns(("id", lambda i: 7), ("b", lambda i: i)),
        "tabs.tsv": TABLE.replace(",", "\t"),
        "commas.tsv": TABLE,
        "labels-of-words.csv": columns(("label", lambda i: "bad" if i % 9 == 0 else "good"), ("a", lambda i: i)),
        "emoji.csv": columns(("🙂", lambda i: "👩‍👩‍👧" * (i % 3)), ("מ", lambda i: i)),
        "formulas.csv": columns(("=cmd()", lambda i: f"=A{i % 3}"), ("b", lambda i: i)),
        "html.csv": columns(("<script>a", lambda i: "</script><b>" * (i % 2)), ("b", lambda i: i)),
    }


def numbers():
    """CSV files by the values of a column."""
    spelled = {
        "subnormal": lambda i: f"{5 * (i % 4)}e-324",
        "smallest": lambda i: 2.3e-308 if i % 2 else 5e-324,
        "tiny-and-large": lambda i: 1e30 if i == 4 else 1e-300,
        "tiny-steps": lambda i: 1 + i % 3 * 2e-16,
        "largest-allowed": lambda i: 1e30 * (-1) ** i,
        "too-large": lambda i: 1e300 if i == 4 else i,
        "beyond-double": lambda i: "1e999" if i == 4 else i,
        "hundreds-of-digits": lambda i: "9" * 400 if i == 4 else i,
        "beyond-int64": lambda i: 2**63 + i,
        "beyond-uint64": lambda i: -(2**64) - i,
        "nan": lambda i: ("nan", "NaN", "-nan", "NAN", "1.#QNAN")[i % 5],
        "inf": lambda i: ("inf", "-inf", "Infinity", "+INF", "∞")[i % 5],
        "one-inf": lambda i: "inf" if i == 4 else i,
        "null-words": lambda i: ("NA", "null", "None", "n/a", "-", "?", "")[i % 7],
        "negative-zero": lambda i: "-0.0" if i % 2 else "0",
        "signs": lambda i: f"+{i}" if i % 2 else f"-{i}",
        "points": lambda i: f".{i}" if i % 2 else f"{i}.",
        "hexadecimal": lambda i: hex(i),
        "underscores": lambda i: f"1_{i:03}",
        "thousands": lambda i: f'"{i},000"',
        "percents": lambda i: f"{i}%",
        "money": lambda i: f"${i}.00",
        "blanks-around": lambda i: f"  {i} ",
        "leading-zeros": lambda i: f"{i:05}",
        "arabic-digits": lambda i: "٣٤٥"[i % 3],
        "full-width-digits": lambda i: "０１２"[i % 3],
        "complex": lambda i: f"{i}+2j",
        "mixed-kinds": lambda i: ("1", "x", "2024-01-01", "true", "")[i % 5],
        "one-word": lambda i: "x" if i == 4 else i,
    }
    return {f"{name}.csv": columns(("v", value), ("b", lambda i: i % 5)) for name, value in spelled.items()}


def records():
    """JSON Lines."""

    def lines(value):
        return "".join(json.dumps(value(i)) + "\n" for i in range(N))

    def raw(value):
        return "".join(value(i) + "\n" for i in range(N))

    deep, half = '{"k":1,"a":', '{"k":1,"%s":' % ("x" * 90)
    return {
        "deep.jsonl": raw(lambda i: deep * 300 + str(i) + "}" * 300),
        "deeper.jsonl": raw(lambda i: deep * 900 + str(i) + "}" * 900),
        "deepest.jsonl": '{"a":' * 100_000 + "1" + "}" * 100_000 + "\n",
        "deep-lists.jsonl": raw(lambda i: '{"a":' + "[" * 500 + str(i) + "]" * 500 + "}"),
        "deep-and-long.jsonl": raw(lambda i: half * 800 + str(i) + "}" * 800),
        "long-key.jsonl": lines(lambda i: {"k" * 100_000: {str(j): j for j in range(50)}}),
        "own-keys.jsonl": lines(lambda i: {f"{i} {j}": j for j in range(40)}),
        "lone-surrogates.jsonl": raw(lambda i: rf'{{"\udc00a": {i}, "b": "x\ud80{i % 8}", "c": ["\udfff"]}}'),
        "pairs-of-surrogates.jsonl": raw(lambda i: rf'{{"a": "\ud83d\ude0{i % 10}"}}'),
        "nul-escapes.jsonl": raw(lambda i: rf'{{"a\u0000": "\u0000{i % 3}"}}'),
        "not-a-number.jsonl": raw(lambda i: f'{{"a": NaN, "b": Infinity, "c": {i}}}'),
        "huge-integers.jsonl": raw(lambda i: f'{{"a": {10**400}, "c": {i}}}'),
        "endless-digits.jsonl": raw(lambda i: f'{{"a": {"1" * 5000}}}'),
        "exponents.jsonl": raw(lambda i: f'{{"a": 1e-400, "b": 1e400, "c": {i}}}'),
        "numbers-and-text.jsonl": lines(lambda i: {"a": i if i % 2 else str(i)}),
        "objects-and-numbers.jsonl": lines(lambda i: {"a": {"b": i} if i % 2 else i}),
        "dotted-keys.jsonl": lines(lambda i: {"a.b": i, "a": {"b": -i}}),
        "empty-keys.jsonl": lines(lambda i: {"": i, "b": {"": {"": i}}}),
        "empty-objects.jsonl": lines(lambda i: {}),
        "empty-within.jsonl": lines(lambda i: {"a": {}, "b": []}),
        "nulls.jsonl": lines(lambda i: {"a": None, "b": [None]}),
        "gaps.jsonl": lines(lambda i: {"a": i, "b": "x"} if i % 3 else {"c": True}),
        "lists-of-lengths.jsonl": lines(lambda i: {"a": list(range(i))}),
        "lists-of-kinds.jsonl": lines(lambda i: {"a": [i, "x", None, {"b": 1}]}),
        "lists-of-objects.jsonl": lines(lambda i: {"a": [{"b": i}, {"b": 2}]}),
        "lists-of-booleans.jsonl": lines(lambda i: {"a": [True, False]}),
        "long-lists.jsonl": lines(lambda i: {"a": [float(i)] * 3000}),
        "dates.jsonl": lines(lambda i: {"d": f"2024-01-{1 + i % 28:02}T10:00:00Z", "e": f"0001-01-{1 + i % 28:02}"}),
        "repeated-keys.jsonl": raw(lambda i: f'{{"a": {i}, "a": "x"}}'),
        "trailing-comma.jsonl": raw(lambda i: f'{{"a": {i},}}'),
        "single-quotes.jsonl": raw(lambda i: f"{{'a': {i}}}"),
        "one-array.jsonl": json.dumps([{"a": i} for i in range(N)]),
        "pretty.jsonl": json.dumps({"a": 1, "b": 2}, indent=2),
        "arrays.jsonl": lines(lambda i: [i, i]),
        "long-text.jsonl": lines(lambda i: {"a": "w " * 20_000, "n": i}),
    }


def svmlight():
    """svmlight and libsvm."""
    return {
        "holes.svm": "".join(f"{i % 2} {1 + i * 1000}:1 {10**6 + i}:2\n" for i in range(N)),
        "largest-index.svm": "".join(f"0 {i + 1}:1 281474976710656:{i}\n" for i in range(N)),
        "billionth-index.svm": "".join(f"0 {i + 1}:1 1000000000:{i + 1}\n" for i in range(N)),
        "index-too-large.svm": SVM + b"0 99999999999999999999:1\n",
        "labels-alone.svm": "1\n0\n" * 15,
        "no-labels.svm": "1:1 2:2\n" * 20,
        "unsorted.svm": "0 5:1 2:1 9:3\n" * 20,
        "repeated-index.svm": "0 2:1 2:1\n" * 20,
        "negative-index.svm": "0 -1:1\n" * 20,
        "zeros-alone.svm": "0 1:0 2:0\n" * 20,
        "subnormal.svm": "".join(f"0 1:5e-324 2:{i}\n" for i in range(N)),
        "not-finite.svm": "0 1:nan 2:inf\n" * 20,
        "too-large.svm": "".join(f"0 1:1e300 2:{i}\n" for i in range(N)),
        "comments-alone.svm": "# nothing\n" * 20,
        "queries.svm": "".join(f"{i % 2} qid:{i} 1:{i}\n" for i in range(N)),
        "labels-of-many.svm": "1,2 3:1\n" * 20,
        "words.svm": "good a:1 b:2\n" * 20,
        "one-row.svm": "1 1:1\n",
        "long-row.svm": "0 " + " ".join(f"{j}:1" for j in range(1, 50_000)) + "\n0 1:2\n",
        "blanks-around-colons.svm": "0 1 : 2\n" * 20,
        "all-alike.svm": "0 1:1 2:1\n" * N,
    }


def texts():
    """Text, a document a line."""
    return {
        "one-line.txt": "a single line",
        "long-line.txt": "word " * 200_000 + "\n" + TEXT,
        "no-words.txt": ". , ; !\n" * N,
        "emoji.txt": "🙂🙃 👩‍👩‍👧\n" * N + TEXT,
        "combining.txt": "e\u0301\u0300\u0302" * 1000 + "\n" + TEXT,
        "right-to-left.txt": "\u202eabc שלום\n" * N,
        "controls.txt": "\x1b[2J\x07\x08 bell\n" * N + TEXT,
        "overlong-utf8.txt": b"\xc0\xaf\xed\xa0\x80 \xf4\x90\x80\x80\n" * N + TEXT.encode(),
        "line-separators.txt": "a\u2028b\u2029c\x85d\x0be\n" * N,
        "all-alike.txt": "the same words\n" * N,
        "requests.log": '1.2.3.4 - - [10/Oct/2024:13:55:36 +0000] "GET / HTTP/1.1" 200 5 "-" "-"\n' * N,
    }


def matrices():
    """npy: one array."""
    arrays = {
        "0-d": np.array(3.0),
        "1-d": np.arange(5.0),
        "3-d": np.zeros((3, 4, 5)),
        "no-rows": np.empty((0, 5)),
        "no-columns": np.empty((5, 0)),
        "nothing": np.empty((0, 0)),
        "one-value": np.ones((1, 1)),
        "one-row": np.ones((1, 50)),
        "zeros": np.zeros((N, 4)),
        "all-alike": np.ones((N, 4)),
        "not-finite": np.where(DENSE > 9, np.nan, DENSE),
        "inf": np.where(DENSE > 9, np.inf, DENSE),
        "too-large": DENSE * 1e300,
        "subnormal": DENSE * 5e-324,
        "booleans": DENSE > 0,
        "float16": DENSE.astype(np.float16),
        "longdouble": DENSE.astype(np.longdouble),
        "big-endian": DENSE.astype(">f4"),
        "uint64": np.full((N, 3), 2**64 - 1, dtype=np.uint64),
        "int8": DENSE.astype(np.int8),
        "complex": DENSE.astype(complex),
        "dates": np.full((N, 2), np.datetime64("2024-01-01")),
        "durations": np.full((N, 2), np.timedelta64(5, "s")),
        "text": np.full((N, 2), "word"),
        "bytes": np.full((N, 2), b"word"),
        "named-fields": np.zeros(N, dtype=[("a", "f8"), ("b", "i4")]),
        "void": np.zeros((N, 2), dtype="V8"),
        "by-columns": np.asfortranarray(DENSE),
    }
    made = {f"{name}.npy": _saved(np.save, array) for name, array in arrays.items()}
    sound = made["by-columns.npy"]
    made["objects.npy"] = _saved(np.save, np.array([[1, "x"], [None, 2]], dtype=object), allow_pickle=True)
    made["cut.npy"] = sound[: len(sound) // 2]
    made["empty.npy"] = b""
    made["rows-beyond-counting.npy"] = sound.replace(b"(12, 5)", b"(10**9, 0)").replace(b"10**9", b"99999")
    made["negative-shape.npy"] = sound.replace(b"(12, 5)", b"(-1, 5)")
    made["endless-zero-columns.npy"] = _header((10**12, 0))
    made["endless-rows.npy"] = _header((10**12, 5))
    return made


def _header(shape):
    """An npy file of nothing but its header."""
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return out.getvalue()


def archives():
    """npz: several arrays."""
    parts = {"data": SPARSE.data, "indices": SPARSE.indices, "indptr": SPARSE.indptr, "shape": np.array([12, 5])}
    arrays = {
        "one-of-objects": {"a": np.array([[1, None]], dtype=object)},
        "nothing": {},
        "two-matrices": {"a": DENSE, "b": DENSE},
        "labels-alone": {"y": np.ones(5)},
        "labels-of-words": {"X": DENSE, "y": np.array(["good", "bad"] * 6)},
        "labels-of-another-length": {"X": DENSE, "y": np.ones(5)},
        "labels-of-two-columns": {"X": DENSE, "y": np.ones((12, 2))},
        "labels-without-shape": {"X": DENSE, "y": np.array(3.0)},
        "labels-of-complex": {"X": DENSE, "y": np.ones(12, dtype=complex)},
        "labels-of-dates": {"X": DENSE, "y": np.full(12, np.datetime64("2024-01-01"))},
        "names-of-numbers": {"X": DENSE, "names": np.arange(5)},
        "names-without-shape": {"X": DENSE, "names": np.array("abc")},
        "names-of-bytes": {"X": DENSE, "names": np.array([b"\xff"] * 5)},
        "ids-repeated": {"X": DENSE, "ids": np.array(["a"] * 12)},
        "ids-with-surrogates": {"X": DENSE, "ids": np.array([f"\udc80{i}" for i in range(12)])},
        "float16": {"X": DENSE.astype(np.float16)},
        "longdouble": {"X": DENSE.astype(np.longdouble)},
        "dates": {"X": np.full((N, 2), np.datetime64("2024-01-01"))},
        "sparse-of-complex": {**parts, "data": SPARSE.data.astype(complex)},
        "sparse-of-float16": {**parts, "data": SPARSE.data.astype(np.float16)},
        "sparse-of-longdouble": {**parts, "data": SPARSE.data.astype(np.longdouble)},
        "sparse-big-endian": {**parts, "data": SPARSE.data.astype(">f8"), "indices": SPARSE.indices.astype(">i4")},
        "sparse-by-real-indices": {**parts, "indices": SPARSE.indices.astype(float)},
        "sparse-by-uint64": {**parts, "indices": SPARSE.indices.astype(np.uint64)},
        "sparse-beyond-its-width": {**parts, "shape": np.array([12, 2])},
        "sparse-with-negative-shape": {**parts, "shape": np.array([12, -5])},
        "sparse-of-three-sizes": {**parts, "shape": np.array([12, 5, 1])},
        "sparse-without-shape": {**parts, "shape": np.array(12)},
        "sparse-and-very-wide": {**parts, "shape": np.array([12, 2**47])},
        "sparse-and-beyond-all": {**parts, "shape": np.array([12, 2**62])},
        "sparse-of-another-kind": {**parts, "format": np.array(b"bsr")},
        "sparse-of-a-list-of-kinds": {**parts, "format": np.array([b"csr", b"csc"])},
        "sparse-of-dense-data": {**parts, "data": DENSE},
    }
    allow = {"allow_pickle": True}
    made = {
        f"{name}.npz": _saved(np.savez, **named, **(allow if "objects" in name else {}))
        for name, named in arrays.items()
    }
    for kind in ("coo", "dia", "bsr", "csc"):
        made[f"saved-as-{kind}.npz"] = _saved(sp.save_npz, sp.coo_array(DENSE).asformat(kind))
    made["cut.npz"] = made["two-matrices.npz"][:700]
    made["other-files.npz"] = _saved(_zipped, {"readme.txt": b"words", "a.npy": b"no array"})
    made["grows.npz"] = _saved(np.savez_compressed, np.zeros((10_000, 4000)))
    return made


def _zipped(out, files):
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)


def market():
    """Matrix Market."""
    entries = "".join(f"{i + 1} {i % 5 + 1} {i}.5\n" for i in range(N))
    sound = f"{MTX}{N} 5 {N}\n{entries}"
    return {
        "sound.mtx": sound,
        "dense.mtx": _saved(scipy.io.mmwrite, DENSE),
        "no-header.mtx": sound.partition("\n")[2],
        "header-alone.mtx": MTX,
        "sizes-alone.mtx": f"{MTX}{N} 5 0\n",
        "fewer-entries.mtx": f"{MTX}{N} 5 {N + 5}\n{entries}",
        "more-entries.mtx": f"{MTX}{N} 5 {N - 5}\n{entries}",
        "beyond-its-width.mtx": f"{MTX}{N} 2 {N}\n{entries}",
        "index-zero.mtx": sound.replace("\n1 1 ", "\n0 0 "),
        "negative-sizes.mtx": sound.replace(f"{N} 5 {N}", "-30 -5 30"),
        "very-wide.mtx": sound.replace(f"{N} 5 {N}", f"{N} 1000000000000 {N}"),
        "very-long.mtx": sound.replace(f"{N} 5 {N}", f"100000000000 5 {N}"),
        "sizes-beyond-all.mtx": sound.replace(f"{N} 5 {N}", f"{N} 99999999999999999999999 {N}"),
        "complex.mtx": sound.replace("real", "complex").replace(".5\n", ".5 1\n"),
        "pattern.mtx": sound.replace("real", "pattern").replace(".5\n", "\n"),
        "integer.mtx": sound.replace("real", "integer").replace(".5\n", "\n"),
        "symmetric-not-square.mtx": sound.replace("general", "symmetric"),
        "symmetric.mtx": f"{MTX.replace('general', 'symmetric')}4 4 2\n1 1 5\n3 2 7\n",
        "skew.mtx": f"{MTX.replace('general', 'skew-symmetric')}4 4 1\n3 2 7\n",
        "hermitian.mtx": f"{MTX.replace('general', 'hermitian').replace('real', 'complex')}4 4 1\n3 2 7 1\n",
        "vector.mtx": "%%MatrixMarket vector coordinate real general\n5 1\n1 5\n",
        "array-cut.mtx": "%%MatrixMarket matrix array real general\n30 5\n1\n2\n",
        "not-finite.mtx": sound.replace("7.5", "nan").replace("8.5", "inf"),
        "repeated.mtx": sound.replace("\n2 2 ", "\n1 1 "),
        "blank-lines.mtx": sound.replace("\n", "\n\n"),
    }


def _arrow_columns():
    """Columns of every type of Arrow."""
    types = {
        "null": pa.nulls(N),
        "boolean": pa.array([i % 2 == 0 for i in range(N)]),
        **{f"int{bits}": pa.array(range(N), getattr(pa, f"int{bits}")()) for bits in (8, 16, 32, 64)},
        "uint64": pa.array([2**64 - 1 - i for i in range(N)], pa.uint64()),
        "half": pa.array(np.arange(N, dtype=np.float16)),
        "float": pa.array(np.arange(N, dtype=np.float32)),
        "not-finite": pa.array([float("nan"), float("inf")] * (N // 2)),
        "decimal128": pa.array([Decimal(i) for i in range(N)], pa.decimal128(38, 2)),
        "decimal256": pa.array([Decimal(10) ** 60 + i for i in range(N)], pa.decimal256(76, 2)),
        "string": pa.array([f"x{i % 3}" for i in range(N)]),
        "large-string": pa.array([f"x{i % 3}" for i in range(N)], pa.large_string()),
        "string-view": pa.array([f"x{i % 3}" for i in range(N)], pa.string_view()),
        "binary": pa.array([bytes([i]) for i in range(N)]),
        "fixed-binary": pa.array([bytes([i, i]) for i in range(N)], pa.binary(2)),
        "date32": pa.array([date(2024, 1, 1 + i % 28) for i in range(N)]),
        "date32-far": pa.array([(-1) ** i * 2**31 + (i % 2 == 1) for i in range(N)], pa.int64())
        .cast(pa.int32(), safe=False)
        .cast(pa.date32()),
        "date64": pa.array([date(2024, 1, 1 + i % 28) for i in range(N)], pa.date64()),
        **{
            f"timestamp-{u}": pa.array([datetime(2024, 1, 1, i % 24) for i in range(N)], pa.timestamp(u))
            for u in ("s", "ms", "us", "ns")
        },
        "timestamp-far": pa.array([2**62 - i for i in range(N)], pa.int64()).cast(pa.timestamp("s")),
        "timestamp-zone": pa.array([datetime(2024, 1, 1, i % 24) for i in range(N)], pa.timestamp("us", "Europe/Rome")),
        "timestamp-no-zone": pa.array([datetime(2024, 1, 1, i % 24) for i in range(N)], pa.timestamp("us", "No/Where")),
        "time32": pa.array([time(i % 24) for i in range(N)], pa.time32("s")),
        "time64": pa.array([time(i % 24) for i in range(N)]),
        "duration": pa.array([timedelta(seconds=i) for i in range(N)]),
        "interval": pa.array([(i, i, i) for i in range(N)], pa.month_day_nano_interval()),
        "dictionary": pa.array([f"x{i % 3}" for i in range(N)]).dictionary_encode(),
        "dictionary-of-numbers": pa.array([i % 3 for i in range(N)]).dictionary_encode(),
        "dictionary-of-nulls": pa.nulls(N, pa.dictionary(pa.int8(), pa.string())),
        "list": pa.array([[i, 2.0] for i in range(N)]),
        "list-of-lengths": pa.array([[0.0] * (i % 4) for i in range(N)]),
        "list-of-nulls": pa.array([[None]] * N, pa.list_(pa.null())),
        "list-of-text": pa.array([["x", None, str(i % 2)] for i in range(N)]),
        "list-of-lists": pa.array([[[i]] for i in range(N)]),
        "list-of-structs": pa.array([[{"a": i}] for i in range(N)]),
        "list-of-dates": pa.array([[date(2024, 1, 1)]] * N),
        "list-fixed": pa.array([[i, 1.0] for i in range(N)], pa.list_(pa.float64(), 2)),
        "list-fixed-empty": pa.array([[]] * N, pa.list_(pa.float64(), 0)),
        "large-list": pa.array([[i, 2.0] for i in range(N)], pa.large_list(pa.float64())),
        "struct": pa.array([{"a": i, "b": "x"} for i in range(N)]),
        "struct-empty": pa.array([{}] * N, pa.struct([])),
        "struct-with-gaps": pa.array([{"a": i} if i % 2 else None for i in range(N)]),
        "map": pa.array([[("k", i)] for i in range(N)], pa.map_(pa.string(), pa.int64())),
        "union": pa.UnionArray.from_sparse(pa.array([0] * N, pa.int8()), [pa.array(range(N))]),
        "run-ends": pa.RunEndEncodedArray.from_arrays(pa.array([N], pa.int32()), pa.array([5.0])),
    }
    deep = pa.array(range(N))
    for _ in range(60):
        deep = pa.StructArray.from_arrays([deep], ["a"])
    return types | {"deep-struct": deep}


def arrow():
    """Parquet and Feather: a column of each type alone, as far as the format has it; and odd tables."""
    made = {}
    for name, values in _arrow_columns().items():
        for suffix, write in (("parquet", pa.parquet.write_table), ("feather", pa.feather.write_feather)):
            try:
                made[f"{name}.{suffix}"] = _saved(lambda out, v=values, w=write: w(pa.table({"v": v}), out))
            except (pa.ArrowException, TypeError):  # the format has no such type
                continue
    tables = {
        "no-columns": pa.table({}),
        "no-rows": pa.table({"a": pa.array([], pa.float64())}),
        "repeated-names": pa.Table.from_arrays([pa.array(range(N))] * 2, ["a", "a"]),
        "empty-name": pa.table({"": range(N)}),
        "all-nulls": pa.table({f"c{i}": pa.nulls(N) for i in range(20)}),
        "nulls-and-numbers": pa.table({"a": pa.nulls(N), "b": pa.nulls(N, pa.float64()), "c": range(N)}),
        "many-nulls": pa.table({"a": pa.nulls(40_000_000)}),
        "many-columns": pa.table({f"c{i}": [1.0, i] for i in range(1500)}),
    }
    for name, table in tables.items():
        made[f"{name}.table.parquet"] = _saved(lambda out, t=table: pa.parquet.write_table(t, out))
        made[f"{name}.table.feather"] = _saved(lambda out, t=table: pa.feather.write_feather(t, out))
    sound = made["list.parquet"]
    made["cut.parquet"], made["footer-alone.parquet"] = sound[:-20], sound[-200:]
    made["stream.arrow"] = _saved(_streamed)
    return made


def _streamed(out):
    table = pa.table({"a": range(N)})
    with pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)


def packed():
    """Compressed files."""
    made = {}
    zeros = bytes(1 << 20)
    for suffix, pack in PACK.items():
        sound = pack(TABLE.encode())
        made |= {
            f"sound.csv.{suffix}": sound,
            f"cut.csv.{suffix}": sound[:-10],
            f"head-alone.csv.{suffix}": sound[:6],
            f"twice.csv.{suffix}": pack(sound),
            f"two-after-each-other.svm.{suffix}": pack(SVM) + pack(SVM),
            f"rest-after-the-end.csv.{suffix}": sound + b"rest",
            f"not-packed.csv.{suffix}": TABLE,
            f"nothing.csv.{suffix}": b"",
            f"packed-nothing.csv.{suffix}": pack(b""),
            f"packed-but-named.{suffix}.csv": sound,
            f"utf16.csv.{suffix}": pack(TABLE.encode("utf-16")),
        }
        # Streams after each other are one file: this unpacks to 512 MiB, and is quick to make.
        made |= {f"bomb.{kind}.{suffix}": pack(zeros) * 512 for kind in ("csv", "svm", "jsonl", "txt", "mtx")}
    return made


def misnamed():
    """Sound files under the suffix of another format."""
    array, table = _saved(np.save, DENSE), _saved(lambda out: pa.parquet.write_table(pa.table({"a": range(N)}), out))
    contents = {
        "csv": TABLE,
        "jsonl": RECORDS,
        "svm": SVM,
        "npy": array,
        "parquet": table,
        "html": "<html><p>no</p></html>",
    }
    suffixes = ("csv", "jsonl", "svm", "txt", "npy", "npz", "parquet", "feather", "mtx", "h5ad", "tsv")
    made = {
        f"{kind}-as.{suffix}": content for kind, content in contents.items() for suffix in suffixes if kind != suffix
    }
    return made | {"unknown.xyz": TABLE, "no-suffix": TABLE, "zip.csv.zip": _saved(_zipped, {"a.csv": TABLE})}
