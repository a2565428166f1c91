"""Damaged, encrypted and oddly packed files: an error that names the file and says what to do."""

import io
import lzma
import subprocess
import sys
import zipfile
from pathlib import Path

import anndata
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pyarrow.parquet.encryption as encryption
import pytest

from ramodo.formats import FormatError, h5ad_check, read
from ramodo.paper.datasets.archives import file_in_zip

pytestmark = pytest.mark.slow

LOOPING = Path(__file__).with_name("looping.h5ad.xz")


def npz(tmp_path, offset_in_file, offset_in_list, value):
    """An archive whose entries say something else in one field."""
    packed = io.BytesIO()
    np.savez_compressed(packed, np.eye(3))
    content = bytearray(packed.getvalue())
    content[content.index(b"PK\3\4") + offset_in_file] = value
    content[content.index(b"PK\1\2") + offset_in_list] = value
    path = tmp_path / "data.npz"
    path.write_bytes(content)
    return path


# ---- archives --------------------------------------------------------------------------------------------------------


def test_an_encrypted_archive(tmp_path):
    path = npz(tmp_path, 6, 8, 1)
    with pytest.raises(FormatError, match=r"data.npz .*: it is encrypted; unpack it with its password, and save"):
        read(str(path))
    with (
        pytest.raises(FormatError, match=r"data.npz cannot be unpacked: .*encrypted"),
        file_in_zip(path, "arr_0.npy", 999),
    ):
        pass


def test_an_archive_of_unknown_compression(tmp_path):
    path = npz(tmp_path, 8, 10, 97)
    with pytest.raises(FormatError, match=r"data.npz .*: its compression is unknown here; save it again with"):
        read(str(path))
    with pytest.raises(FormatError, match=r"data.npz cannot be unpacked: "), file_in_zip(path, "arr_0.npy", 999):
        pass


@pytest.mark.parametrize("suffix", ["zip", "7z", "lz4", "tar", "Z"])
def test_a_packing_that_is_not_opened(tmp_path, suffix):
    path = tmp_path / f"data.csv.{suffix}"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data.csv", "a\n1\n")
    with pytest.raises(FormatError, match=rf"data.csv.{suffix} must be a plain .*, got \.{suffix.lower()}\. Unpack it"):
        read(str(path))


# ---- tables ----------------------------------------------------------------------------------------------------------


class Keys(encryption.KmsClient):
    """Wraps keys in nothing."""

    def wrap_key(self, key_bytes, master_key_identifier):
        return key_bytes

    def unwrap_key(self, wrapped_key, master_key_identifier):
        return wrapped_key


def test_an_encrypted_table(tmp_path):
    path, table = tmp_path / "data.parquet", pa.table({"a": [1.0, 2.0]})
    factory, connection = encryption.CryptoFactory(lambda _: Keys()), encryption.KmsConnectionConfig()
    how = encryption.EncryptionConfiguration(footer_key="key", column_keys={"key": ["a"]})
    properties = factory.file_encryption_properties(connection, how)
    with pa.parquet.ParquetWriter(path, table.schema, encryption_properties=properties) as writer:
        writer.write_table(table)
    with pytest.raises(FormatError, match=r"data.parquet is not a parquet file that can be read, as it is encrypted; "):
        read(str(path))


def test_offsets_that_lead_beyond_the_text(tmp_path):
    """pyarrow reads such a file without a word, and crashes where its text is used."""
    path = tmp_path / "data.feather"
    pa.feather.write_feather(pa.table({"sound": ["ab", "cd"]}), path, compression="uncompressed")
    content = path.read_bytes()
    sound, damaged = (np.array([0, 2, end], dtype=np.int32).tobytes() for end in (4, 2**30))
    assert content.count(sound) == 1
    path.write_bytes(content.replace(sound, damaged))
    with pytest.raises(FormatError, match=r"data.feather is not a feather file: Column 0: .*"):
        read(str(path))


# ---- h5ad ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def h5ad(tmp_path):
    anndata.AnnData(np.eye(4)).write_h5ad(tmp_path / "data.h5ad")
    return tmp_path / "data.h5ad"


def test_a_file_that_leads_hdf5_into_a_loop(tmp_path, monkeypatch):
    monkeypatch.setattr(h5ad_check, "SECONDS", 2.0)
    path = tmp_path / "looping.h5ad"
    path.write_bytes(lzma.decompress(LOOPING.read_bytes()))
    with pytest.raises(FormatError, match=r"looping.h5ad is not an AnnData file, or is damaged: .* Get or write it"):
        read(str(path))


def test_a_reader_that_crashes_or_has_no_end(h5ad, tmp_path, monkeypatch):
    script = tmp_path / "check.py"
    monkeypatch.setattr(h5ad_check, "__file__", str(script))
    script.write_text("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    with pytest.raises(FormatError, match=r"data.h5ad .*: the HDF5 library crashed \(exit code -11\)"):
        read(str(h5ad))
    script.write_text("import time; time.sleep(100)")
    monkeypatch.setattr(h5ad_check, "SECONDS", 0.5)
    with pytest.raises(FormatError, match=r"data.h5ad .*: reading it did not finish within 1 s"):
        read(str(h5ad))


def test_a_sound_file_passes_also_where_its_arrays_are_large(h5ad, monkeypatch):
    assert h5ad_check.what_is_wrong(str(h5ad)) is None
    monkeypatch.setattr(h5ad_check, "_SMALL", 0)
    h5ad_check._look_at(str(h5ad))
    assert np.array_equal(read(str(h5ad)).X, np.eye(4))


def test_what_is_wrong_is_said(h5ad):
    h5ad.write_bytes(h5ad.read_bytes()[:1500])
    with pytest.raises(FormatError, match=r"data.h5ad is not an AnnData file, or is damaged: .*truncated"):
        read(str(h5ad))


# ---- any -------------------------------------------------------------------------------------------------------------


def fuzz(*options):
    """What the fuzzer says at its end."""
    fuzzer = Path(__file__).parents[1] / "fuzz" / "fuzz_files.py"
    done = subprocess.run([sys.executable, fuzzer, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def test_damage_at_random():
    """A few of each format; `make fuzz` tries thousands."""
    said = fuzz("--count", "15", "--formats", "feather,parquet,npz,npy,mtx,rows,csv,svm.xz,svm.zst")
    assert said == "135 damaged files of 9 formats, seed 0: none of them bad"


def test_every_command_on_odd_files():
    """A few of them; `make fuzz` tries all."""
    assert fuzz("--odd", "--count", "12") == "108 runs of 9 commands on 12 odd files: none of them bad"
