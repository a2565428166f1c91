"""What runs on several threads, under gcc's thread sanitizer."""

import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from support.own_process import compiled, compiler

HERE = Path(__file__).parent
NATIVE = HERE.parent.parent / "native"
FLAGS = ("-std=c++17", "-O1", "-g", "-pthread", "-fsanitize=thread", f"-I{NATIVE}")


def build(target, *sources):
    return compiled(target, *FLAGS, "-DRAMODO_ISA=baseline", *sources)


def outcome(program):
    """Of a run at fixed addresses, where the system lets us have those: older sanitizers get lost among others."""
    fixed = ["setarch", platform.machine(), "-R"]
    allowed = shutil.which("setarch") and subprocess.run([*fixed, "true"], capture_output=True).returncode == 0
    return subprocess.run([*(fixed if allowed else []), program], capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def sanitizer(tmp_path_factory):
    """Skips where the compiler has no thread sanitizer that runs here; shows that it finds a race."""
    folder = tmp_path_factory.mktemp("race")
    source = folder / "race.cpp"
    source.write_text("#include <thread>\nint n; int main() { std::thread t([] { ++n; }); ++n; t.join(); }\n")
    command = [compiler("c++"), *FLAGS, str(source), "-o", str(folder / "race")]
    if subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("this compiler has no thread sanitizer")
    found = outcome(folder / "race")
    if "data race" not in found.stderr:
        pytest.skip(f"the thread sanitizer does not run here: {found.stderr.strip()[:200]}")


def test_no_races_and_the_same_bits(sanitizer, tmp_path):
    sources = (HERE / "threads.cpp", NATIVE / "inner_loops.cpp", NATIVE / "inner_loops_isa.cpp")
    done = outcome(build(tmp_path / "threads", *sources))
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 2
    assert len(set(done.stdout.split())) == 1
