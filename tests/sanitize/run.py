"""Runs pytest with another build of the native module: python tests/sanitize/run.py MODULE [arguments of pytest]."""

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location

import pytest

NAME = "ramodo.kernels._native"


def main(path, *arguments):
    spec = spec_from_file_location(NAME, path)
    sys.modules[NAME] = module_from_spec(spec)
    spec.loader.exec_module(sys.modules[NAME])
    # Processes that tests start load the ordinary module: a sanitizer would find nothing there, and does not survive
    # their limits on memory and their crashes on purpose.
    os.environ.pop("LD_PRELOAD", None)
    return pytest.main(list(arguments))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
