"""Damages small files of every format at random, and looks for crashes, hangs and errors that are none of ours.

    python tests/fuzz/fuzz_files.py --count 3000 --formats feather,h5ad

Damage number i of a format is the same for the same seed. Files are read in a process of its own; where that crashes,
hangs or raises what no reader may raise, the damaged file is written to --keep and the next one is tried.
"""

import argparse
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
MEMORY = 4 << 30
NUMBERS = (0, 1, 2, 7, 8, 127, 128, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**64 - 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000, help="damaged files of each format")
    parser.add_argument("--seconds", type=float, default=1e9, help="in all, where that is sooner")
    parser.add_argument("--seed", type=int, default=0, help="of the damage")
    parser.add_argument("--formats", default="", help="separated by commas; all by default")
    parser.add_argument("--patience", type=float, default=60, help="seconds that a file may take")
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()), help="where to write bad files")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    from seed_files import MADE

    options.names = options.formats.split(",") if options.formats else list(MADE)
    if options.worker is not None:
        work(options, int(options.worker[0]), Path(options.worker[1]))
        return 0
    return watch(options)


def items(options):
    """Which damage of which format, in order."""
    return [(name, number) for number in range(options.count) for name in options.names]


# ---- the one who watches ---------------------------------------------------------------------------------------------


def watch(options):
    """Whether any file made its reader crash, hang or raise what it may not."""
    n_bad, first, end, given = 0, 0, time.monotonic() + options.seconds, items(options)
    with tempfile.TemporaryDirectory() as folder:
        while first < len(given) and time.monotonic() < end:
            reason = run_worker(options, first, Path(folder), end)
            at = current(Path(folder))
            if at < first:
                print(f"no file was read: {reason}")
                return 1
            first = at + 1
            if reason is not None:
                n_bad += 1
                print(f"{' '.join(map(str, given[at]))}: {reason}; kept as {keep(options, *given[at])}", flush=True)
    of = f"{first:,} damaged files of {len(options.names)} formats, seed {options.seed}"
    print(f"{of}: {n_bad or 'none'} of them bad", flush=True)
    return min(1, n_bad)


def run_worker(options, first, place, end):
    """What is wrong with the file that the worker ended at, or None where all is well."""
    command = [sys.executable, __file__, "--seed", str(options.seed), "--count", str(options.count)]
    command += ["--formats", ",".join(options.names), "--worker", str(first), str(place)]
    with open(place / "errors", "wb") as errors:
        worker = subprocess.Popen(command, stderr=errors)
    moved, last = time.monotonic(), -1
    try:
        while (code := poll(worker)) is None:
            now = time.monotonic()
            if current(place) != last:
                moved, last = now, current(place)
            if now - moved > options.patience:
                return f"no end after {options.patience:g} s"
            if now > end and last > first:  # one file is looked at, however little time there is
                return None
    finally:
        worker.kill()
        worker.wait()
    if code == 0:
        return None
    said = (place / "errors").read_text(errors="replace").strip().splitlines()
    return f"exit code {code}" if code < 0 or not said else said[-1]


def poll(worker):
    try:
        return worker.wait(timeout=0.2)
    except subprocess.TimeoutExpired:
        return None


def current(place):
    """The place in `items` of the file that is being read; -1 before the first."""
    try:
        return int((place / "number").read_bytes() or b"-1")
    except FileNotFoundError:
        return -1


def keep(options, name, number):
    from seed_files import seeds

    options.keep.mkdir(parents=True, exist_ok=True)
    kept = options.keep / f"damaged-{options.seed}-{number}.{name}"
    write(kept, damaged(seeds([name])[name], name, options.seed, number))
    return kept


# ---- the one who reads -----------------------------------------------------------------------------------------------


def work(options, first, place):
    """Read the files one after the other; whatever is not one of our errors ends the process."""
    from seed_files import seeds

    from ramodo.formats import h5ad_check

    h5ad_check.SECONDS = 5.0  # files are tiny, and many of them lead HDF5 into loops
    sound = seeds(options.names)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    progress = os.open(place / "number", os.O_CREAT | os.O_WRONLY)
    for at, (name, number) in list(enumerate(items(options)))[first:]:
        os.pwrite(progress, b"%20d" % at, 0)
        write(place / f"data.{name}", damaged(sound[name], name, options.seed, number))
        use(place / f"data.{name}")


def use(path):
    """Read a file, and hand its matrix on as a fit would."""
    import warnings

    from ramodo.data.validation import DataError, open_rows
    from ramodo.formats import FormatError, TableOptions, read

    warnings.simplefilter("ignore")
    try:
        table = read(str(path), table=TableOptions(missing="indicator"))
    except FormatError as error:
        assert path.name in str(error), f"the message does not name the file: {error}"  # noqa: PT017
        return
    except MemoryError:
        return
    try:
        rows = open_rows(table.X)
    except (DataError, MemoryError):
        return
    assert rows.n_rows == table.X.shape[0]


def write(path, content):
    if isinstance(content, bytes):
        path.write_bytes(content)
        return
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    for name, part in content.items():
        (path / name).write_bytes(part)


# ---- damage ----------------------------------------------------------------------------------------------------------


def damaged(sound, name, seed, number):
    """One of the sound files with some of its bytes changed."""
    rng = random.Random(f"{seed} {name} {number}")
    chosen = rng.choice(sound)
    if isinstance(chosen, bytes):
        return changed(rng, chosen)
    part = rng.choice(sorted(chosen))
    return {**chosen, part: changed(rng, chosen[part])}


def changed(rng, content):
    content = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
        if not content:
            break
        place = rng.randrange(len(content))
        match rng.randrange(8):
            case 0:
                content[place] ^= 1 << rng.randrange(8)
            case 1:
                content[place] = rng.randrange(256)
            case 2:
                del content[place : place + rng.choice((1, 2, 8, 64))]
            case 3:
                content[place:place] = rng.randbytes(rng.choice((1, 4, 8, 64)))
            case 4:
                del content[place:]
            case 5 | 6:
                size = rng.choice((1, 2, 4, 8))
                number = rng.choice(NUMBERS) % (1 << 8 * size)
                content[place : place + size] = number.to_bytes(size, rng.choice(("little", "big")))
            case 7:
                size, source = rng.choice((4, 16, 64)), rng.randrange(len(content))
                content[place : place + size] = content[source : source + size]
    return bytes(content)


if __name__ == "__main__":
    sys.exit(main())
