"""Write `recorded.json` again: checksums of what the fits give, and where they were made.

NumPy and its BLAS choose their loops by the processor, with other bits from each. Fits that use them run in a process
that is held to what every processor with AVX2 has, so that checksums of one machine hold on another.
"""

import hashlib
import json
import os
import platform
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import scipy
import sklearn
from fits import FITS

from ramodo import kernels

RECORDED = Path(__file__).with_name("recorded.json")

HELD = {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": "X86_V4,AVX512_ICL,AVX512_SPR"}
"""Environment of a process whose bits do not depend on what a processor has beyond AVX2."""


def environment():
    """What results may depend on beside the code: bits differ between instruction sets and compilers."""
    compiler = kernels.compiler() if hasattr(kernels, "compiler") else None
    return {
        "instructions": kernels.instructions(),
        "machine": platform.machine(),
        "compiler": compiler,
        **{module.__name__: ".".join(module.__version__.split(".")[:2]) for module in (np, scipy, sklearn)},
    }


def checksums(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = FITS[name]()
    return {part: _checksum(values) for part, values in found.items()}


def _checksum(values):
    array = np.ascontiguousarray(values)
    return hashlib.blake2b(f"{array.dtype} {array.shape}".encode() + array.tobytes(), digest_size=8).hexdigest()


def made():
    """What a process that is held to AVX2 gives."""
    done = subprocess.run(
        [sys.executable, __file__, "--print"], env=os.environ | HELD, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


if __name__ == "__main__":
    if sys.argv[1:] == ["--print"]:
        print(json.dumps({"environment": environment(), "fits": {name: checksums(name) for name in FITS}}))
    else:
        RECORDED.write_text(json.dumps(made(), indent=1) + "\n", encoding="utf-8")
