"""A flipped bit is an error: anywhere in a small file, and in a large one on demand."""

from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open

from ramodo import load
from ramodo.model.file import tensors as tensor_file
from ramodo.model.file.saving import open_model
from ramodo.model.saved import ModelFileError
from support.tampering import sealed

MODELS = Path(__file__).parent


def flipped(content, place, bit):
    changed = bytearray(content)
    changed[place] ^= 1 << bit
    return bytes(changed)


def test_a_flipped_bit_anywhere(tmp_path):
    """One bit of every fifth byte; in the header some make it no header."""
    content, path = (MODELS / "saved.ramodo").read_bytes(), tmp_path / "model"
    path.write_bytes(content)
    tensor_file.read(path)
    places = range(0, len(content), 5)
    for place, bit in zip(places, np.random.default_rng(0).integers(0, 8, len(places)).tolist(), strict=True):
        path.write_bytes(flipped(content, place, bit))
        try:
            header, _ = tensor_file.read(path)
        except (ValueError, RecursionError):
            continue
        assert "checksum" not in header, f"bit {bit} of byte {place}"
        with pytest.raises(ModelFileError, match="it has no checksum"):
            load(path)


@pytest.mark.parametrize("n_rows", [120, 3000])
def test_the_checksum_is_the_one_that_is_described(quick, data, tmp_path, n_rows):
    """The slow one of the tests gives the same, for values of less and of more than a block."""
    X = np.tile(data[0].toarray(), (n_rows // 120, 1))
    path = quick().fit(X).save(tmp_path / "model")
    assert sealed(path.read_bytes()) == path.read_bytes()
    with safe_open(path, framework="numpy") as file:
        assert int(file.metadata()["checksum"], 16) > 0


@pytest.mark.parametrize(
    "change",
    [
        lambda v: v[::-1],
        lambda v: np.roll(v, 4096),
        lambda v: np.where(np.arange(len(v)) // 4096 == 2, 0, v).astype(np.uint8),
        lambda v: np.r_[v[4096:8192], v[:4096], v[8192:]],
        lambda v: np.r_[v[:-2], v[-1], v[-2]],
    ],
    ids=["reversed", "moved", "a page of zeros", "two blocks swapped", "two bytes swapped"],
)
def test_other_damage(tmp_path, change):
    path = tmp_path / "values"
    values = np.random.default_rng(0).integers(0, 256, 20_001, dtype=np.uint8)
    tensor_file.save_file({"a": values}, path)
    tensor_file.read(path)
    content = path.read_bytes()
    path.write_bytes(content[: -len(values)] + change(values).tobytes())
    with pytest.raises(ValueError, match=r"its checksum is '[0-9a-f]{8}', but its bytes give"):
        tensor_file.read(path)


@pytest.mark.parametrize("mapped", [False, True])
def test_a_large_file_is_compared_on_demand(fitted, tmp_path, monkeypatch, mapped):
    path = fitted.save(tmp_path / "model")
    content = path.read_bytes()
    header, _ = tensor_file.read(path)
    path.write_bytes(flipped(content, len(content) - 1, 0))
    for reader in (load, open_model):
        with pytest.raises(ModelFileError, match=f"its checksum is '{header['checksum']}'"):
            reader(path)
    monkeypatch.setattr(tensor_file, "VERIFIED_AT_MOST", len(content) - 1)
    monkeypatch.setattr(tensor_file, "READ_AT_MOST", len(content) - mapped)
    load(path)
    with pytest.raises(ModelFileError, match=f"its checksum is '{header['checksum']}'"):
        load(path, verify=True)
    path.write_bytes(content)
    load(path, verify=True)


@pytest.mark.parametrize("code", ["", "0", "00000000", "000000000", "zzzzzzzz", '"'])
def test_checksums_that_are_none(fitted, tmp_path, code):
    path = fitted.save(tmp_path / "model")
    content = path.read_bytes()
    place = content.index(b'"checksum":"') + len(b'"checksum":"')
    header_end = 8 + int.from_bytes(content[:8], "little")
    header = content[8:place] + code.encode() + content[place + 8 : header_end]
    path.write_bytes(len(header).to_bytes(8, "little") + header + content[header_end:])
    with pytest.raises(ModelFileError):
        load(path)
