"""Changes seed files at random, for as long as it is told, and looks for crashes, hangs and wrong answers.

    python tests/fuzz/fuzz_svmlight.py --seconds 60

The native reader must agree with the slow one on every input (tests/support/slow_svmlight.py). It runs in a process of
its own; what made it crash or hang is written to --keep.
"""

import argparse
import mmap
import random
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from ramodo.formats import FormatError, byte_streams, svmlight  # noqa: E402
from support import slow_svmlight  # noqa: E402

SEEDS = HERE / "seeds"
LARGEST, PATIENCE = 1 << 20, 120
TOKENS = b"0 1 -1 +1 1: :1 1:1 qid:1 # \n \r\n \t nan inf -inf 1e400 1e-400 0x1 . - + e 281474976710656:1".split(b" ")
TOKENS += [b" ", b"9" * 19, b"0." + b"0" * 30 + b"1", b"\0", b"\xff", b"1" * 400]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None, help="of the changes; another one each time by default")
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()), help="where to write a bad input")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker is not None:
        work(options.worker, options.seconds, options.seed)
        return 0
    return watch(options)


# ---- the one who watches ---------------------------------------------------------------------------------------------


class Shared:
    """A mapped file: how many inputs there were, and the one that is being read."""

    def __init__(self, path):
        if not path.exists():
            path.write_bytes(bytes(16 + LARGEST))
        with open(path, "r+b") as file:
            self._map = mmap.mmap(file.fileno(), 16 + LARGEST)

    def put(self, count, text):
        self._map[8:16] = len(text).to_bytes(8, "little")
        self._map[16 : 16 + len(text)] = text
        self._map[:8] = count.to_bytes(8, "little")

    def get(self):
        length = int.from_bytes(self._map[8:16], "little")
        return int.from_bytes(self._map[:8], "little"), self._map[16 : 16 + length]


def watch(options):
    seed = random.randrange(2**32) if options.seed is None else options.seed
    with tempfile.TemporaryDirectory() as folder:
        shared = Shared(Path(folder) / "input")
        command = [sys.executable, __file__, "--worker", str(Path(folder) / "input")]
        worker = subprocess.Popen([*command, "--seconds", str(options.seconds), "--seed", str(seed)])
        count, moved = -1, time.monotonic()
        while True:
            try:
                code = worker.wait(timeout=1)
                break
            except subprocess.TimeoutExpired:
                code = None
            except KeyboardInterrupt:
                worker.kill()
                worker.wait()
                return 130
            if shared.get()[0] != count:
                count, moved = shared.get()[0], time.monotonic()
            elif time.monotonic() - moved > PATIENCE:
                worker.kill()
                worker.wait()
                break
        count, text = shared.get()
    if code == 0:
        print(f"{count:,} inputs, seed {seed}: no crash, no hang, no wrong answer")
        return 0
    options.keep.mkdir(parents=True, exist_ok=True)
    kept = options.keep / f"svmlight-{seed}-{count}.svm"
    kept.write_bytes(text)
    print(f"{'a hang' if code is None else f'exit code {code}'} at input {count:,}, seed {seed}: see {kept}")
    return 1


# ---- the one who reads -----------------------------------------------------------------------------------------------


def work(path, seconds, seed):
    shared, corpus = Shared(path), [file.read_bytes() for file in sorted(SEEDS.iterdir())]
    assert corpus, f"{SEEDS} holds no seeds"
    count = 0

    def one(text):
        nonlocal count
        count += 1
        shared.put(count, text)
        return compare(text, count)

    rng, seen, end = random.Random(seed), set(), time.monotonic() + seconds
    for text in corpus:
        seen.add(one(text))
    while time.monotonic() < end:
        text = changed(rng, corpus)
        outcome = one(text)
        if outcome not in seen and len(text) < 2000:  # something new: worth changing further
            seen.add(outcome)
            corpus.append(text)


def changed(rng, corpus):
    """One of the inputs with some bytes or tokens changed, left out, put in, repeated, or taken from another."""
    text = bytearray(rng.choice(corpus))
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        place = rng.randrange(len(text) + 1)
        match rng.randrange(7):
            case 0 if text:
                text[place % len(text)] = rng.randrange(256)
            case 1:
                del text[place : place + rng.choice((1, 2, 8, 40))]
            case 2:
                text[place:place] = rng.choice(TOKENS)
            case 3:
                text[place:place] = rng.choice(b" :\n#\r\t.e-+0123456789").to_bytes(1, "little")
            case 4:
                text[place:place] = text[place : place + rng.choice((1, 5, 30))]
            case 5:
                other = rng.choice(corpus)
                text = text[:place] + other[rng.randrange(len(other) + 1) :]
            case 6 if text:
                text[place % len(text)] ^= 1 << rng.randrange(8)
    if rng.random() < 0.01 and text:  # long enough to be cut into parts
        text = text * (min(LARGEST, 200_000) // len(text))
    return bytes(text[:LARGEST])


def compare(text, count):
    """Read by both; raises where they differ. Gives back what is new about an input, roughly."""
    array = np.frombuffer(text, dtype=np.uint8)
    try:
        expected = slow_svmlight.read(text)
    except slow_svmlight.Refused:
        expected = None
    try:
        table = svmlight.parse("fuzz", array, 0, zero_based=True, n_threads=1 + count % 4)
    except FormatError as error:
        assert expected is None, error  # noqa: PT017
        reason = str(error).split(": ", 1)[1].split(";")[0]
        return reason, min(9, text.count(b"\n"))
    assert expected is not None, "a bad input was read"
    assert [label.hex() for label, _ in expected] == [label.hex() for label in table.classes.tolist()]
    assert [i for _, pairs in expected for i, _ in pairs] == table.X.indices.tolist()
    values = [value.hex() for _, pairs in expected for _, value in pairs]
    assert values == [float(value).hex() for value in table.X.data.tolist()]
    assert [len(pairs) for _, pairs in expected] == np.diff(table.X.indptr).tolist()
    if count % 50 == 0 and expected:
        compare_blocks(text, table)
    return len(expected).bit_length(), len(values).bit_length(), str(table.X.dtype), str(table.X.indices.dtype)


def compare_blocks(text, table):
    """The same in small blocks, from a file."""
    with tempfile.NamedTemporaryFile(suffix=".svm") as file:
        file.write(text)
        file.flush()
        svmlight.line_blocks = partial(byte_streams.line_blocks, size=1 + len(text) // 7)
        blocks = list(svmlight.blocks(file.name))
    assert np.array_equal(np.concatenate([block.labels for block in blocks]), table.classes)
    assert np.array_equal(np.concatenate([block.indices for block in blocks]), table.X.indices)


if __name__ == "__main__":
    sys.exit(main())
