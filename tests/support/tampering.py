"""Model files with parts replaced, for the tests that they are refused."""

import json
import zlib

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from ramodo import load
from ramodo.model.file.saving import open_model
from ramodo.model.saved import ModelFileError


def read(path):
    """Header and arrays of a model file."""
    with safe_open(path, framework="numpy") as file:
        return file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def rewrite(path, header=None, tensors=None, facts=None, options=None, term=None, kind="learned distance"):
    """The file again with some parts replaced, or left out where the new value is None.

    `facts`, `options` and `term` (the facts of the first term of a kind) replace single values, or leave them out for
    Ellipsis.
    """
    old_header, old_tensors = read(path)
    for name, changes in (("facts", facts), ("options", options)):
        if changes is not None:
            old_header[name] = json.dumps(_merged(json.loads(old_header[name]), changes))
    if term is not None:
        tree = json.loads(old_header["terms"])
        found = next(table for table in tables(tree) if table.get("kind") == kind)
        changed = _merged(found, term)
        found.clear()
        found.update(changed)
        old_header["terms"] = json.dumps(tree)
    new_header = {**old_header, **(header or {})}
    write(path, new_header, {**old_tensors, **(tensors or {})})


def tables(tree):
    """The tree of terms, and all that are in it."""
    yield tree
    for inner in tree.get("terms", ()):
        yield from tables(inner)


def write(path, header, tensors):
    """Any header and arrays but those that are None, by safetensors' own writer; with the checksum that fits them."""
    header = {name: text for name, text in header.items() if text is not None}
    kept = {name: np.ascontiguousarray(array) for name, array in tensors.items() if array is not None}
    save_file(kept, path, header)
    if len(header.get("checksum", "")) == 8:
        path.write_bytes(sealed(path.read_bytes()))


def sealed(content):
    """The bytes of a file with a checksum that fits, computed step by step, as a checksum that others can know by."""
    length = 8 + int.from_bytes(content[:8], "little")
    header, values = content[:length], content[length:]
    place = header.index(b'"checksum":"') + len(b'"checksum":"')
    code = zlib.crc32(header[:place] + b"00000000" + header[place + 8 :])
    n_blocks = len(values) // 4096
    for block in (values[4096 * i : 4096 * (i + 1)] for i in range(n_blocks)):
        words = (int.from_bytes(block[i : i + 8], "little") for i in range(0, 4096, 8))
        code = zlib.crc32((sum(words) % 2**64).to_bytes(8, "little"), code)
    code = zlib.crc32(values[4096 * n_blocks :], code)
    return header[:place] + b"%08x" % code + header[place + 8 :] + values


def _merged(values, changes):
    return {key: value for key, value in {**values, **changes}.items() if value is not Ellipsis}


def assert_not_loaded(path, message=""):
    """By `load`: what is wrong may be an option, which scoring has no use for."""
    with pytest.raises(ModelFileError, match=rf"{path.name} is not a ramodo model: .*{message}") as found:
        load(path)
    return found


def assert_refused(path, message=""):
    """By all who read models, in the same words."""
    found = assert_not_loaded(path, message)
    with pytest.raises(ModelFileError) as other:
        open_model(path)
    assert str(other.value) == str(found.value)


def is_model_or_refused(path, X):
    """A file of any content scores the rows of X, or is refused; a model of another width says so."""
    try:
        scores = load(path).outlier_score(X)
    except ModelFileError:
        return
    except ValueError as error:
        assert "features" in str(error)  # noqa: PT017
        return
    assert scores.shape == (X.shape[0],)


def other_bytes(rng, content):
    """Some bytes changed, cut out, put in, or the rest cut off."""
    changed = bytearray(content)
    for _ in range(rng.choice((1, 2, 8))):
        place = rng.randrange(rng.choice((8, 2000, 10**9))) % (len(changed) + 1)
        match rng.randrange(4):
            case 0:
                changed[place : place + 1] = bytes([rng.randrange(256)])
            case 1:
                del changed[place : place + rng.choice((1, 8, 500))]
            case 2:
                changed[place:place] = rng.choice((b"\0", b"9", b'"', b"}", b"\xff" * 8))
            case 3:
                del changed[place:]
    return bytes(changed)
