"""Changes bodies of requests at random, and looks for answers that blame the server.

    python tests/fuzz/fuzz_requests.py --count 5000            # Arrow
    python tests/fuzz/fuzz_requests.py --count 3000 --json

A body is scored, or refused with a message that is the client's to act on, which `ramodo serve` answers with 4xx.
Anything else would be a 500. The body that is being tried is in the file `--keep`: also after a crash.
"""

import argparse
import collections
import contextlib
import copy
import datetime
import decimal
import faulthandler
import io
import json
import random
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from ramodo.serving import SavedModel  # noqa: E402
from ramodo.serving.requests import ARROW, JSON, answer_of  # noqa: E402
from ramodo.serving.routes import REFUSED  # noqa: E402
from support.examples import with_outliers  # noqa: E402
from support.fitted_models import command  # noqa: E402
from support.made_files import write_log, write_svmlight, write_visits  # noqa: E402
from support.tampering import other_bytes  # noqa: E402

DATE, TIME = datetime.date(2024, 1, 5), datetime.datetime(2024, 1, 5, 3, 12)
NUMBERS = [0, 1, -1, 0.5, 127, 2**31, 2**62, 1e300, 1e-320, float("nan"), float("inf")]
TEXTS = ["", "a", "NZ", "17", "true", "2024-01-05", "\0", "x" * 5000, "\N{PILE OF POO}", "nan"]
LISTS = [[], [1], [1, 2], [None], [1] * 40, [1, 39, 5]]

UNMADE = (pa.ArrowException, OverflowError, TypeError, ValueError, KeyError, NotImplementedError)
"""What pyarrow says of changes that it cannot make."""


def seeds(folder):
    """Models of all kinds of data, each with rows as Arrow and as JSON have them."""
    rng = np.random.default_rng(0)
    X, y = with_outliers()
    write_visits(folder / "visits.csv")
    write_log(folder / "access.log")
    write_svmlight(folder / "mail.svm", X, y)
    np.save(folder / "dense.npy", X.toarray())
    users = [
        {
            "price": float(rng.integers(9)),
            "user": {"age": int(rng.integers(70)), "city": ["Ulm", "Bonn"][i % 2]},
            "tags": [["red", "blue", "green"][i % 3]] * (i % 2 + 1),
            "place": rng.normal(size=3).round(2).tolist(),
            "note": f"order {i % 7} of {i % 5}",
        }
        for i in range(60)
    ]
    (folder / "users.jsonl").write_text("".join(json.dumps(row) + "\n" for row in users))
    lines = (folder / "access.log").read_text().splitlines()
    sparse = [{str(c + 1): 0.5 for c in range(i % 3, 40, 5)} for i in range(6)]
    pairs = {"indices": [[int(c) for c in row] for row in sparse], "values": [list(row.values()) for row in sparse]}
    visits = pa.csv.read_csv(folder / "visits.csv").slice(0, 6)
    flat = [{k: str(v) if k == "day" else v for k, v in row.items()} for row in visits.to_pylist()]
    made = [
        ("visits.csv", ["--id", "visit", "--label", "truth"], visits, flat),
        ("users.jsonl", ["--missing", "indicator"], pa.Table.from_pylist(users[:6]), users[:6]),
        ("users.jsonl", ["--text", "note"], pa.Table.from_pylist(users[:6]), users[:6]),
        ("access.log", [], pa.table({"text": lines[:6]}), lines[:6]),
        ("mail.svm", [], pa.table(pairs), sparse),
        ("dense.npy", [], pa.table({"features": X.toarray()[:6].tolist()}), X.toarray()[:6].tolist()),
    ]
    found = []
    for number, (data, options, table, rows) in enumerate(made):
        model = folder / f"{number}.ramodo"
        command("fit", folder / data, "-m", model, "-q", *options)
        found.append((SavedModel(model), table, rows))
    return found


# ---- changes ---------------------------------------------------------------------------------------------------------


def changed_arrow(rng, table):
    """A stream whose columns are others, or that has other bytes."""
    changes = rng.choice((0, 1, 1, 1, 2, 3))
    for _ in range(changes):
        with contextlib.suppress(*UNMADE):
            table = _other_columns(rng, table)
    body = io.BytesIO()
    codec = rng.choice((None, None, None, "lz4", "zstd"))
    with pa.ipc.new_stream(body, table.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as stream:
        stream.write_table(table, max_chunksize=rng.choice((1, 4, 100)))
    if changes and rng.random() < 0.7:
        return body.getvalue()
    return _other_lengths(rng, body.getvalue()) if rng.random() < 0.3 else other_bytes(rng, body.getvalue())


def _other_columns(rng, table):
    names = table.schema.names
    place = rng.randrange(len(names))
    match rng.randrange(8):
        case 0 | 1 | 2:
            return table.set_column(place, names[place], other_column(rng, table.num_rows))
        case 3:
            values = [None if rng.random() < 0.5 else value for value in table.column(place).to_pylist()]
            return table.set_column(place, names[place], pa.array(values, table.schema.types[place]))
        case 4:
            new = rng.choice(("", "other", "score", names[0], "a.b", "features", "indices", "text", "\0"))
            return table.rename_columns([new if i == place else name for i, name in enumerate(names)])
        case 5:
            return table.remove_column(place)
        case 6:
            name = rng.choice(("", "other", "flag", names[place], "indices", "features"))
            return table.append_column(name, other_column(rng, table.num_rows))
        case _:
            order = rng.sample(range(table.num_rows), rng.randrange(table.num_rows + 1))
            return table.take(pa.array(order, pa.int64()))


def other_column(rng, n):
    """A column of any type that Arrow has, with some nulls."""
    for _ in range(20):
        kind, values = rng.choice(list(_columns()))
        given = [None if rng.random() < 0.1 else rng.choice(values) for _ in range(n)]
        with contextlib.suppress(*UNMADE):
            made = pa.array(given, kind)
            return made.dictionary_encode() if rng.random() < 0.1 else made
    return pa.nulls(n)


def _columns():
    whole, texts = [0, 1, 39, 127], TEXTS
    for kind in (pa.int8(), pa.uint8(), pa.int16(), pa.int32(), pa.int64(), pa.uint64(), pa.decimal128(38, 2)):
        yield kind, whole
    yield pa.decimal256(70, 3), [decimal.Decimal("1e60"), decimal.Decimal("0.5")]
    for kind in (pa.float16(), pa.float32(), pa.float64()):
        yield kind, [np.float16(x) if kind == pa.float16() else x for x in NUMBERS]
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        yield kind, texts
    for kind in (pa.binary(), pa.large_binary(), pa.binary_view()):
        yield kind, [b"", b"\xff\xfe", b"NZ"]
    yield pa.binary(2), [b"NZ", b"\xff\xfe"]
    for kind in (pa.date32(), pa.date64(), pa.timestamp("s"), pa.timestamp("ns", "Europe/Berlin"), pa.timestamp("us")):
        yield kind, [DATE if pa.types.is_date(kind) else TIME]
    yield pa.timestamp("s", "Mars/Olympus"), [TIME]
    yield pa.timestamp("s"), [2**62, -(2**62)]
    for kind in (pa.time32("s"), pa.time64("ns")):
        yield kind, [datetime.time(3, 12)]
    yield pa.duration("ms"), [datetime.timedelta(1)]
    yield pa.month_day_nano_interval(), [pa.MonthDayNano([1, 2, 3])]
    yield pa.bool_(), [True, False]
    yield pa.null(), [None]
    for inner in (pa.int32(), pa.float64(), pa.null(), pa.uint64()):
        yield pa.list_(inner), LISTS
        yield pa.large_list(inner), LISTS
    yield pa.list_(pa.int64(), 3), [[1, 2, 3]]
    yield pa.list_(pa.string()), [["a"], [], [None], ["red", "NZ"]]
    yield pa.list_(pa.list_(pa.int8())), [[[1]], [[]], []]
    yield pa.list_(pa.struct({"a": pa.int8()})), [[{"a": 1}]]
    yield pa.list_(pa.bool_()), [[True]]
    yield pa.list_view(pa.int64()), LISTS
    yield pa.struct({}), [{}]
    yield pa.struct({"a": pa.int8(), "b": pa.string()}), [{"a": 1, "b": "x"}]
    yield pa.struct({"city": pa.struct({"a": pa.list_(pa.int8())})}), [{"city": {"a": [1]}}]
    yield pa.map_(pa.string(), pa.int8()), [{"a": 1}.items(), {}.items()]
    yield pa.dictionary(pa.int8(), pa.string()), ["a", "NZ"]
    yield pa.dictionary(pa.int32(), pa.float64()), [0.5, 1.5]
    yield pa.dictionary(pa.int32(), pa.binary()), [b"\xff"]
    yield pa.run_end_encoded(pa.int32(), pa.float64()), [1.0]


def _other_lengths(rng, content):
    """The lengths that a stream says of its columns are small numbers of eight bytes: one of them is another."""
    changed = bytearray(content)
    places = [i for i in range(0, len(changed) - 8, 8) if 0 < int.from_bytes(changed[i : i + 8], "little") < 100]
    for place in rng.sample(places, min(len(places), rng.choice((1, 1, 2)))):
        changed[place : place + 8] = rng.choice((0, 1, 2, 5, 7, 40, 2**31, 2**62, 2**64 - 1)).to_bytes(8, "little")
    return bytes(changed)


def changed_json(rng, rows):
    """JSON with other values, names or bytes."""
    rows = copy.deepcopy(rows)
    for _ in range(rng.choice((0, 1, 1, 2))):
        row = rng.randrange(len(rows))
        values = [*NUMBERS, *TEXTS, *LISTS, None, True, {}, {"a": {"b": 1}}, 10**400, "\ud800", "2024-13-45T99:99"]
        match rng.randrange(6):
            case 0:
                rows[row] = rng.choice(values)
            case 1 if isinstance(rows[row], dict) and rows[row]:
                del rows[row][rng.choice(list(rows[row]))]
            case 2 if isinstance(rows[row], dict):
                rows[row][rng.choice(("", "other", "0", "41", "9" * 30, "user.city", "user"))] = rng.choice(values)
            case _ if isinstance(rows[row], dict) and rows[row]:
                rows[row][rng.choice(list(rows[row]))] = rng.choice(values)
            case _ if isinstance(rows[row], list) and rows[row]:
                rows[row][rng.randrange(len(rows[row]))] = rng.choice(values)
    body = json.dumps(rows if rng.random() < 0.5 else {"rows": rows}).encode()
    return other_bytes(rng, body) if rng.random() < 0.4 else body


# ---- what must hold --------------------------------------------------------------------------------------------------


def judge(model, body, media_type, reasons):
    """'scored' or 'refused'; raises for anything else."""
    try:
        answer_of(model, body, media_type, reasons)
    except REFUSED:
        return "refused"
    return "scored"


def run(folder, seed, count, *, as_json=False, keep=None, stop=True):
    """Judge changed bodies: how often there was what, and what failed."""
    rng, counts, failed = random.Random(seed), {"scored": 0, "refused": 0}, []
    made = seeds(folder)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for _ in range(count):
            model, table, rows = rng.choice(made)
            body = changed_json(rng, rows) if as_json else changed_arrow(rng, table)
            if keep is not None:
                keep.write_bytes(body)
            try:
                counts[judge(model, body, JSON if as_json else ARROW, rng.choice((0, 0, 2)))] += 1
            except Exception as error:
                if stop:
                    raise
                place = traceback.extract_tb(error.__traceback__)
                ours = [frame for frame in place if "ramodo" in frame.filename][-1]
                failed.append(f"{type(error).__name__} in {ours.name}: {str(error)[:90]}")
    return counts, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--json", action="store_true", help="JSON instead of Arrow")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32), help="of the changes")
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "body", help="the body being tried")
    options = parser.parse_args()
    faulthandler.enable()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        counts, failed = run(
            Path(folder), options.seed, options.count, as_json=options.json, keep=options.keep, stop=False
        )
    print(f"{counts}, {len(failed)} of {options.count} failed")
    for said, n in collections.Counter(failed).most_common():
        print(f"{n:6}  {said}")
    return min(1, len(failed))


if __name__ == "__main__":
    sys.exit(main())
