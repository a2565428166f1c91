"""Write `recorded.json` again: checksums of what the fits give, and where they were made."""

import hashlib
import json
import platform
import warnings
from pathlib import Path

import numpy as np
import scipy
import sklearn
from fits import FITS

from ramodo import kernels

RECORDED = Path(__file__).with_name("recorded.json")


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


if __name__ == "__main__":
    made = {"environment": environment(), "fits": {name: checksums(name) for name in FITS}}
    RECORDED.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
