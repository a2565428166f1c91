"""What is not standard C++ has a fallback (native/compiler.hpp) of the same bits; no other file has such code."""

import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support.own_process import compiled

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
NATIVE = HERE.parent.parent / "native"

OF_COMPILERS = re.compile(
    r"__builtin_\w+|__attribute__|__atomic_\w+|vector_size|std::from_chars\(|aligned_alloc|__int128"
)
ALLOWED = {
    "compiler.hpp": {
        "__attribute__",
        "__atomic_load_n",
        "__builtin_prefetch",
        "__builtin_popcountll",
        "__builtin_ctzll",
        "__builtin_clzll",
    },
    "vectors.hpp": {"__attribute__", "vector_size", "__builtin_convertvector"},
    "decimal.hpp": {"std::from_chars("},
    "threads.hpp": {"__builtin_ia32_pause"},
    "inner_loops.cpp": {"__builtin_cpu_supports"},
}
"""Each behind a condition, of the compiler or of RAMODO_PORTABLE."""

AS_IN_CMAKE = (
    "-std=c++17",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-Wno-psabi",
    "-Wno-ignored-attributes",
)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Builds a program of this folder, with the fallbacks or without."""

    def build(name, *flags):
        target = tmp_path_factory.mktemp("fallbacks") / name
        return compiled(target, *AS_IN_CMAKE, *flags, f"-I{NATIVE}", HERE / f"{name}.cpp")

    return build


def printed(program, text=""):
    return subprocess.run([program], input=text, capture_output=True, text=True, check=True, timeout=60).stdout


def test_code_of_compilers_is_in_one_place():
    for path in sorted([*NATIVE.glob("*.[ch]pp"), *NATIVE.glob("bindings/*.[ch]pp")]):
        found = set(OF_COMPILERS.findall(path.read_text(encoding="utf-8")))
        assert found == ALLOWED.get(path.name, set()), path.name


def test_fallbacks_give_the_same_bits(program):
    usual = printed(program("fallbacks", "-O2"))
    assert len(usual.splitlines()) == 75
    assert printed(program("fallbacks", "-O2", "-DRAMODO_PORTABLE")) == usual


def texts():
    """Numbers as files have them, and what is almost one."""
    rng = random.Random(0)
    yield from [
        "",
        "-",
        ".",
        "-.",
        "e5",
        "1e",
        "1e+",
        "1.e5",
        ".5e-3x",
        "inf",
        "-INF",
        "infinity",
        "infin",
        "NaN",
        "nanx",
    ]
    yield from [
        "0x10",
        "1e400",
        "-1e400",
        "1e-400",
        "0e400",
        "0.0e9999999999999999999",
        "4.9e-324",
        "2e-324",
        "--1",
        "+1",
    ]
    yield from [
        "2.4703282292062327e-324",
        "2.2250738585072011e-308",
        "1.7976931348623159e308",
        "9007199254740993",
        "1,5",
    ]
    for _ in range(5000):
        yield "".join(rng.choice("0123456789.eE-+ 0000123in") for _ in range(rng.randint(1, 30)))
        digits = [rng.randint(0, 10 ** rng.randint(1, 25)) for _ in range(2)]
        yield f"{digits[0]}.{digits[1]}e{rng.randint(-340, 340)}"


def test_numbers_are_read_alike(program):
    lines = list(texts())
    usual = printed(program("decimals", "-O1"), "\n".join(lines) + "\n")
    assert len(usual.splitlines()) == len(lines)
    assert printed(program("decimals", "-O1", "-DRAMODO_PORTABLE"), "\n".join(lines) + "\n") == usual


@pytest.mark.skipif(shutil.which("clang++") is None, reason="clang is not on this machine")
@pytest.mark.parametrize("library", ["libstdc++", "libc++"])
@pytest.mark.parametrize("portable", [(), ("-DRAMODO_PORTABLE",)], ids=["usual", "portable"])
def test_headers_compile_with_clang(library, portable, tmp_path):
    """Those of libc++ too, where they are installed: it had no from_chars for doubles until 2025."""
    source = tmp_path / "all.cpp"
    headers = sorted(path.name for path in NATIVE.glob("*.hpp"))
    source.write_text("#define RAMODO_ISA baseline\n" + "".join(f'#include "{name}"\n' for name in headers))
    probe = tmp_path / "probe.cpp"
    probe.write_text("#include <vector>\n")
    command = ["clang++", "-std=c++17", f"-stdlib={library}", "-fsyntax-only", *portable]
    if subprocess.run([*command, probe], capture_output=True).returncode:
        pytest.skip(f"clang finds no {library} here")
    done = subprocess.run(
        [*command, "-Wall", "-Wno-psabi", "-Werror", f"-I{NATIVE}", source], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_aarch64_gives_the_bits_of_the_baseline(program, tmp_path):
    """The inner loops in an emulator, where there is one: Debian's g++-aarch64-linux-gnu and qemu-user."""
    other, emulator = shutil.which("aarch64-linux-gnu-g++"), shutil.which("qemu-aarch64")
    if other is None or emulator is None:
        pytest.skip("there is no compiler for aarch64 here, or no emulator")
    target = tmp_path / "fallbacks"
    command = [other, "-static", *AS_IN_CMAKE, "-O2", f"-I{NATIVE}", HERE / "fallbacks.cpp", "-o", target]
    subprocess.run(command, check=True, capture_output=True)
    done = subprocess.run([emulator, target], check=True, capture_output=True, text=True, timeout=120)
    assert done.stdout == printed(program("fallbacks", "-O2"))


@pytest.mark.parametrize("portable", [(), ("-DRAMODO_PORTABLE",)], ids=["usual", "portable"])
def test_the_inner_loops_compile_for_windows(portable, tmp_path):
    """With its headers and types, where there is a compiler for it: Debian's g++-mingw-w64-x86-64-posix."""
    other = shutil.which("x86_64-w64-mingw32-g++-posix")
    if other is None:
        pytest.skip("there is no compiler for Windows here")
    done = subprocess.run(
        [other, *AS_IN_CMAKE, "-fsyntax-only", *portable, f"-I{NATIVE}", HERE / "fallbacks.cpp"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
