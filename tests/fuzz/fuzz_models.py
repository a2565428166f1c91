"""Changes model files at random, for as long as it is told, and looks for crashes, hangs and answers that differ.

    python tests/fuzz/fuzz_models.py --seconds 60

`load` refuses a changed file, and so does `open_model` in the same words unless an option is wrong; or it is a model:
then it scores rows or says why not, the same way through both, and its diagnosis, what reports say of it and a saved
copy can be had. Most files get a checksum that fits their changes; otherwise nothing behind it would be tried.
"""

import argparse
import copy
import json
import random
import struct
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from safetensors import safe_open

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from ramodo import RAMODO, REPEN, Conformal, KthNeighborREPEN, Layers, TopK, load  # noqa: E402
from ramodo.cli.info import _of_model  # noqa: E402
from ramodo.cli.source import Source  # noqa: E402
from ramodo.data.validation import DataError, open_block  # noqa: E402
from ramodo.formats import FormatError, How, Schema, TextOptions, format_named  # noqa: E402
from ramodo.formats.text import as_table  # noqa: E402
from ramodo.kernels import Phi  # noqa: E402
from ramodo.model.combining import Mean, Normalized  # noqa: E402
from ramodo.model.file.saving import open_model  # noqa: E402
from ramodo.model.file.terms import KINDS  # noqa: E402
from ramodo.model.original import OriginalDistance  # noqa: E402
from ramodo.model.provenance import Provenance  # noqa: E402
from ramodo.model.references import Origin  # noqa: E402
from ramodo.model.saved import ModelFileError  # noqa: E402
from ramodo.model.terms import Model  # noqa: E402
from ramodo.options import OptionError  # noqa: E402
from ramodo.report.reproduction import reproduction  # noqa: E402
from support.examples import with_outliers  # noqa: E402
from support.tampering import other_bytes, sealed  # noqa: E402

VALUES = [None, True, False, 0, 1, -1, 2, 7, 8, 9, 40, 41, 2**31, 2**63 - 1, 2**63, 2**64, 10**400, 0.5, -0.0, 1e-320]
VALUES += [1e300, float("nan"), float("inf"), "", "l2", "auto", "csv", "\x1b[2J", [], [1], [0, 8], {}, {"a": 1}]
VALUES += [{"stage": name, "options": {}} for name in ("TopK", "Conformal", "Sp", "Layers", "os.system")]
VALUES += [{"kind": kind} for kind in KINDS] + list(KINDS)
NUMBERS = [0.0, -0.0, 1.0, -1.0, 1e-320, 3e38, -3e38, 1e300, np.nan, np.inf, -np.inf]
STARTING, PATIENCE = 300, 120
"""Seconds until the first file is judged, and for each."""


def seeds(folder):
    """Models of all kinds, as bytes."""
    X, y = with_outliers()
    quick = {"n_epochs": 1, "random_state": 0}
    named = REPEN(3, n_subsamples=5, **quick).fit(X.toarray())
    named.feature_names_in_ = np.array([f"f{i}" for i in range(40)], dtype=object)
    named.schema_ = Schema(format="csv", ignore=["a"], plain=tuple(named.feature_names_in_))
    named.provenance_ = Provenance(tokens={"1": "t"}, command="ramodo fit")
    lines = [f"two of {i % 7} by {'the' * (i % 5)}" for i in range(39)] + ["five five"]
    texts = as_table(lines, How(schema=Schema(tokens=TextOptions((1, 1), (0, 0), 8))))
    weighing = REPEN(3, n_subsamples=5, normalize="l2", **quick).fit(texts.X)
    weighing.document_frequencies_ = texts.frequencies
    weighing.schema_ = replace(texts.schema, format="text")
    made = [
        named,
        weighing,
        REPEN(3, n_subsamples=5, cutoff=Conformal(held_out=0.2), **quick).fit(X),
        REPEN(3, n_subsamples=5, cutoff=Conformal(), **quick).fit(X, labels=np.where(np.arange(len(y)) % 2, y, 0)),
        REPEN(3, n_subsamples=5, n_estimators=2, normalize="l2", cutoff=TopK(5), **quick).fit(X),
        REPEN(3, n_subsamples=5, **quick).fit(X, labeled_outliers=X[y == 1]),
        KthNeighborREPEN(2, n_subsamples=5, **quick).fit(X),
        RAMODO(representation=Layers((4, 3), "leaky_relu"), **quick).fit(X),
        _of_all_terms(X, y, quick),
    ]
    kept = [path.read_bytes() for path in sorted((HERE.parent / "model" / "file").glob("*.ramodo"))]
    return kept + [detector.save(folder / "seed").read_bytes() for detector in made]


def _of_all_terms(X, y, quick):
    """A detector whose score is a sum of every kind of term; no fit gives one yet."""
    detector = REPEN(3, n_subsamples=5, **quick).fit(X, labels=y)
    numbers = np.arange(0, 24)
    original = OriginalDistance(Origin.of(open_block(X[numbers]), numbers), 8, Phi(2, average=True))
    learned, direction = detector.model_.terms
    terms = (Mean((learned, original), (1.0, 2.0)), Normalized(original, "l2"), direction)
    detector.model_ = Model(terms, (1.0, 0.5, 0.25))
    return detector


# ---- changes ---------------------------------------------------------------------------------------------------------


def changed(rng, content):
    """A model file with some bytes, some of what its header says, or some values of its arrays changed."""
    if rng.random() < 0.15:
        return other_bytes(rng, content)
    header, values = _parts(content)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        match rng.randrange(4):
            case 0:
                _change_array(rng, header, values)
            case 1:
                _change_entry(rng, header)
            case _:
                _change_said(rng, header["__metadata__"])
    encoded = json.dumps(header, separators=(",", ":")).encode()
    content = struct.pack("<Q", len(encoded)) + encoded + bytes(values)
    return sealed(content) if len(str(header["__metadata__"].get("checksum"))) == 8 else content


def _parts(content):
    length = 8 + int.from_bytes(content[:8], "little")
    return json.loads(content[8:length]), bytearray(content[length:])


def _change_said(rng, metadata):
    """One value of the header, which is mostly JSON in texts."""
    name = rng.choice(sorted(metadata))
    try:
        said = json.loads(metadata[name])
    except ValueError:
        said = metadata[name]
    table, key = {"all": said}, "all"
    while isinstance(table[key], dict | list) and table[key] and rng.random() < 0.9:
        table = table[key]
        key = rng.choice(list(table)) if isinstance(table, dict) else rng.randrange(len(table))
    match rng.randrange(5):
        case 0 if isinstance(table, dict) and "all" not in table:
            del table[key]
        case 1 if isinstance(table, dict) and "all" not in table:
            table[rng.choice(("other", "stage", "k"))] = rng.choice(VALUES)
        case _:
            table[key] = copy.deepcopy(rng.choice(VALUES))
    if "all" in table:
        said = table["all"]
    if rng.random() < 0.02:
        del metadata[name]
    else:
        metadata[name] = said if isinstance(said, str) and rng.random() < 0.5 else json.dumps(said)


def _change_entry(rng, header):
    """Where an array lies, or what it is."""
    names = sorted(set(header) - {"__metadata__"})
    if not names:
        return
    name, other = rng.choice(names), rng.choice(names)
    match rng.randrange(6):
        case 0:
            header[name], header[other] = header[other], header[name]
        case 1:
            header[name]["dtype"] = rng.choice(("F32", "F64", "I64", "I32", "U8", "F16", 5))
        case 2:
            header[name]["shape"] = rng.choice((header[other]["shape"], header[name]["shape"][::-1], [0], [-1], [[1]]))
        case 3:
            header[name]["data_offsets"] = rng.choice((header[other]["data_offsets"], [0, 0], [-8, 8], [2**62, 2**63]))
        case 4:
            del header[name]
        case 5:
            header[rng.choice(("term.1.weights", "term.0.0.weights", "more", "feature_names_in_"))] = copy.deepcopy(
                header[name]
            )


def _change_array(rng, header, values):
    """Some values of one array."""
    entries = [entry for name, entry in sorted(header.items()) if name != "__metadata__" and isinstance(entry, dict)]
    kinds = {"F32": "<f", "F64": "<d", "I64": "<q", "I32": "<i", "U8": "B"}
    entries = [entry for entry in entries if entry["dtype"] in kinds and 0 <= entry["data_offsets"][0] < len(values)]
    if not entries:
        return
    entry = rng.choice(entries)
    kind, (begin, end) = kinds[entry["dtype"]], entry["data_offsets"]
    count = max(1, (min(end, len(values)) - begin) // struct.calcsize(kind))
    for _ in range(rng.choice((1, 1, 5))):
        place = begin + rng.randrange(count) * struct.calcsize(kind)
        if place + struct.calcsize(kind) <= len(values):
            number = rng.choice(NUMBERS) if kind in ("<f", "<d") else rng.choice((0, 1, 39, 40, 119, 120, 127))
            with np.errstate(over="ignore"):
                number = float(np.float32(number)) if kind == "<f" else number
            struct.pack_into(kind, values, place, -1 if kind in ("<q", "<i") and rng.random() < 0.2 else number)


# ---- what must hold --------------------------------------------------------------------------------------------------


def judge(path):
    """'refused' or 'a model'; raises for anything else."""
    refused = _message(load, path)
    by_scoring = _message(open_model, path)
    assert by_scoring in (None, refused), "load and open_model differ"
    if refused is not None:
        assert f"{path} is not a ramodo model: " in refused
        return "refused"
    with safe_open(path, framework="numpy"):  # what we take for safetensors, its own reader does too
        detector, opened = load(path), open_model(path)
    detector.n_jobs = 1  # whatever it says: a thousand threads are no part of this
    d = detector.n_features_in_
    X = sp.csr_array((np.array([1.0, 2.0, 0.5]), np.array([0, d // 2, d - 1]), np.array([0, 2, 2, 3])), shape=(3, d))
    found = _message(detector.outlier_score, X)
    assert found == _message(opened.outlier_score, X), "their scores differ"
    if found is None:
        assert np.array_equal(detector.outlier_score(X), opened.outlier_score(X))
        assert set(detector.predict(X).tolist()) <= {-1, 1}
        _message(detector.explain, X)
    str(detector.diagnose())
    reproduction(detector, "", is_training=False)
    _message(_of_text, detector)
    json.dumps(_of_model(str(path)), default=str)
    again = load(detector.save(path.with_name("again")))
    assert np.array_equal(again.outlier_scores_, detector.outlier_scores_)
    return "a model"


def _of_text(detector):
    """Documents as the model reads them have finite values, and a score where it has their columns."""
    table = as_table(["two five", ""], Source.of_model(detector, None, None).how(format_named("text"), 1))
    assert np.isfinite(table.X.data).all()
    if table.X.shape[1] == detector.n_features_in_:
        detector.outlier_score(table.X)


def _message(call, given):
    try:
        call(given)
    except ValueError as error:
        if isinstance(error, ModelFileError | DataError | FormatError | OptionError):
            return str(error)
        raise
    return None


def run(path, seed, keep_going):
    """Judge changed files, each written to `path`, for as long as `keep_going(count)`; how often there was what."""
    rng, counts = random.Random(seed), {"refused": 0, "a model": 0}
    models = seeds(path.parent)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        while keep_going(sum(counts.values())):
            path.write_bytes(changed(rng, rng.choice(models)))
            counts[judge(path)] += 1
    return counts


def outcome(worker, path):
    """Its exit code, or "a hang" where one file takes too long; a busy machine makes the whole run long."""
    moved, last = time.monotonic(), None
    while True:
        try:
            return worker.wait(timeout=0.2)
        except subprocess.TimeoutExpired:
            written = path.stat().st_mtime_ns if path.exists() else None
        if written != last:
            moved, last = time.monotonic(), written
        elif time.monotonic() - moved > (STARTING if written is None else PATIENCE):
            worker.kill()
            worker.wait()
            return "a hang"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32), help="of the changes")
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()), help="where to write a bad file")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker is not None:
        end = time.monotonic() + options.seconds
        print(run(options.worker, options.seed, lambda _: time.monotonic() < end), f"seed {options.seed}")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "changed.ramodo"
        command = [sys.executable, __file__, "--worker", path, "--seconds", options.seconds, "--seed", options.seed]
        code = outcome(subprocess.Popen(list(map(str, command))), path)
        if code == 0:
            return 0
        kept = options.keep / f"model-{options.seed}.ramodo"
        kept.write_bytes(path.read_bytes())
        print(f"ended with {code}, seed {options.seed}: see {kept}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
