"""Programs in a process of their own, which end by a time limit where they hang."""

import os
import shutil
import subprocess
import sys

import pytest

HANGS = 120
"""Seconds after which a program of a second or two is taken to hang."""


def run(program, *arguments, **environment):
    """What a Python program printed; fails where it hangs, dies or ends with an error."""
    done = ended(program, *arguments, **environment)
    assert done.returncode == 0, f"ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def ended(program, *arguments, **environment):
    """A Python program, ended by itself."""
    own = {"PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"}
    inherited = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # that of a sanitizer
    environment = {**inherited, **own, **environment}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=HANGS)


def compiler(name):
    """A compiler of this machine; the test skips where there is none."""
    found = shutil.which(os.environ.get({"cc": "CC", "c++": "CXX"}[name], name))
    if found is None:
        pytest.skip(f"no {name} on this machine")
    return found


def compiled(target, *arguments, name="c++"):
    """A program or library built from sources; fails with what the compiler says."""
    done = subprocess.run([compiler(name), "-o", str(target), *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return target
