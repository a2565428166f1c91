"""Damages small files of every format at random, and looks for crashes, hangs and errors that are none of ours.

    python tests/fuzz/fuzz_files.py --count 3000 --formats feather,h5ad
    python tests/fuzz/fuzz_files.py --odd

Damage number i of a format is the same for the same seed. With --odd, every command runs on the files of odd_files.py.
Files are read in a process of its own; where that crashes, hangs or raises what no reader may raise, the file is kept
(--keep) and the next one is tried.
"""

import argparse
import contextlib
import io
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
COMMANDS = {
    "info": "info {data}",
    "convert": "convert {data} {made}.rows",
    "fit": "fit {data} --model {made}.ramodo --quiet",
    "detect": "detect {data} --model {model} --output {made}.csv --missing indicator --reasons 2",
    "score": "score {model} {data} --reasons 3",
    "explain": "explain {model} {data} --row 0 --top 2",
    "evaluate": "evaluate {model} {data}",
    "transform": "transform {model} {data} --output {made}.npz",
    "report": "report {model} {data} --output {made}.html",
}
"""What --odd runs on each file; `model` is of the file itself where `detect` could fit one, else of a small table."""

FINE = (0, 2, 3)
"""Exit codes: done, bad usage, bad data."""

STARTING = 300
"""Seconds until the first file is read: packages are loaded and files made."""

NUMBERS = (0, 1, 2, 7, 8, 127, 128, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**64 - 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000, help="damaged files of each format, or odd files")
    parser.add_argument("--seconds", type=float, default=1e9, help="in all, where that is sooner")
    parser.add_argument("--seed", type=int, default=0, help="of the damage, or of the choice of odd files")
    parser.add_argument("--formats", default="", help="separated by commas; all by default")
    parser.add_argument("--odd", nargs="?", const="", help="every command on odd files, those with this in their name")
    parser.add_argument("--patience", type=float, default=60, help="seconds that a file may take")
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()), help="where to write bad files")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    from odd_files import odd_files
    from seed_files import MADE

    options.names = options.formats.split(",") if options.formats else list(MADE)
    if options.odd is not None:
        found = [name for name in odd_files() if options.odd in name]
        options.names = random.Random(options.seed).sample(found, min(options.count, len(found)))
    if options.worker is not None:
        work(options, int(options.worker[0]), Path(options.worker[1]))
        return 0
    return watch(options)


def items(options):
    """Which damage of which format, or which command on which odd file, in order."""
    if options.odd is not None:
        return [(name, command) for name in options.names for command in COMMANDS]
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
    if options.odd is not None:
        of = f"{first:,} runs of {len(COMMANDS)} commands on {len(options.names):,} odd files"
    print(f"{of}: {n_bad or 'none'} of them bad", flush=True)
    return min(1, n_bad)


def run_worker(options, first, place, end):
    """What is wrong with the file that the worker ended at, or None where all is well."""
    command = [sys.executable, __file__, "--seed", str(options.seed), "--count", str(options.count)]
    command += ["--formats", options.formats, *([] if options.odd is None else ["--odd", options.odd])]
    command += ["--worker", str(first), str(place)]
    with open(place / "errors", "wb") as errors:
        worker = subprocess.Popen(command, stderr=errors)
    moved, last = time.monotonic(), -1
    try:
        while (code := poll(worker)) is None:
            now = time.monotonic()
            if current(place) != last:
                moved, last = now, current(place)
            if now - moved > (options.patience if last >= first else STARTING):
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
    options.keep.mkdir(parents=True, exist_ok=True)
    kept = options.keep / (name if options.odd is not None else f"damaged-{options.seed}-{number}.{name}")
    write(kept, content_of(options, sources(options), name, number))
    return kept


def sources(options):
    """What files are made of."""
    from odd_files import odd_files
    from seed_files import seeds

    return seeds(options.names) if options.odd is None else odd_files()


def content_of(options, made, name, number):
    return made[name] if options.odd is not None else damaged(made[name], name, options.seed, number)


# ---- the one who reads -----------------------------------------------------------------------------------------------


def work(options, first, place):
    """Read the files one after the other; whatever is not one of our errors ends the process."""
    from ramodo.formats import h5ad_check

    h5ad_check.SECONDS = 5.0  # files are tiny, and many of them lead HDF5 into loops
    made = sources(options)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    progress = os.open(place / "number", os.O_CREAT | os.O_WRONLY)
    for at, (name, number) in list(enumerate(items(options)))[first:]:
        os.pwrite(progress, b"%20d" % at, 0)
        path = place / (f"data.{name}" if options.odd is None else name)
        if options.odd is None or number == next(iter(COMMANDS)) or not path.exists():
            write(path, content_of(options, made, name, number))
        if options.odd is None:
            use(path)
        else:
            run_on(path, number)


def run_on(path, command):
    """Run a command on a file: it ends with one of our exit codes, and says nothing of Python."""
    model = path.with_name(f"{path.name}.model")
    if command != "detect" and not model.exists():
        model = path.with_name("other.ramodo")
        if not model.exists():
            from odd_files import TABLE

            other = path.with_name("other.csv")
            other.write_text(TABLE)
            called(f"fit {other} --model {model}".split())
    names = {"data": path, "model": model, "made": path.with_name("made")}
    code, said = called([word.format(**names) for word in COMMANDS[command].split()])
    assert code in FINE, f"{command}: exit code {code}: {said[-500:]}"
    assert "Traceback" not in said, f"{command}: {said[-500:]}"
    assert "Warning: " not in said, f"{command}: {said[-500:]}"
    named = any(path.name in said for path in names.values())
    assert named or code != FINE[-1], f"{command}: the message does not name the file: {said[-500:]}"


def called(arguments):
    """Exit code and output of the command, in this process."""
    from ramodo.cli import main

    output, before = io.StringIO(), sys.argv
    sys.argv = ["ramodo", *arguments]
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            main()
    except SystemExit as end:
        return end.code or 0, output.getvalue()
    finally:
        sys.argv = before
    return 0, output.getvalue()


def use(path):
    """Read a file, and hand its matrix on as a fit would."""
    import warnings

    from ramodo.data.validation import DataError, open_rows
    from ramodo.formats import FormatError, Schema, read

    warnings.simplefilter("ignore")
    try:
        table = read(str(path), schema=Schema(missing="indicator"))
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
