"""A model file that others write to: every load gives one whole model, and a loaded one stays what it was."""

import hashlib
import os
import threading

import numpy as np
import pytest

from ramodo import load
from ramodo.model.file.saving import open_model

pytestmark = pytest.mark.slow

LOADS = 300


def digest(detector):
    """Of all arrays of a model."""
    (learned,) = detector.model_.learned
    arrays = [detector.outlier_scores_, detector.initial_scores_, detector.row_norms_, detector.samples_[0]]
    arrays += [learned.representation.first.weights, learned.detection.rows, learned.origin.rows.data]
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()


@pytest.mark.parametrize("reader", [load, open_model])
def test_a_load_during_saves_gives_one_whole_model(quick, data, tmp_path, reader):
    path = tmp_path / "model.ramodo"
    both = [quick(random_state=seed).fit(data[0]) for seed in (1, 2)]
    known = {digest(detector) for detector in both}
    assert len(known) == 2
    both[0].save(path)
    stop = threading.Event()

    def save_in_turns():
        while not stop.is_set():
            for detector in both:
                detector.save(path)

    writer = threading.Thread(target=save_in_turns)
    writer.start()
    try:
        seen = [digest(reader(path)) for _ in range(LOADS)]
        while set(seen) != known and writer.is_alive():  # a slow disk
            seen.append(digest(reader(path)))
    finally:
        stop.set()
        writer.join()
    assert [i for i, found in enumerate(seen) if found not in known] == []
    assert set(seen) == known


OVERWRITTEN = """
import shutil, sys
import numpy as np
from ramodo import load
from ramodo.model.file.saving import open_model
model, X, others = sys.argv[1], np.load(sys.argv[2]), sys.argv[3:]
loaded, opened = load(model), open_model(model)
for other in others:
    shutil.copyfile(other, model)  # as cp does it: the same file, cut to nothing and filled again
    assert np.array_equal(loaded.outlier_score(X), loaded.outlier_scores_)
    assert np.array_equal(opened.outlier_score(X), loaded.outlier_scores_)
print("as before")
"""


def test_a_loaded_model_stays_when_other_files_are_copied_over_it(fitted, data, tmp_path, python):
    """A mapping of a file that was cut ends the process."""
    path = fitted.save(tmp_path / "model.ramodo")
    fitted.set_params(random_state=3).fit(data[0]).save(tmp_path / "another model")
    (tmp_path / "nothing").write_bytes(b"")
    (tmp_path / "text").write_bytes(b"something else")
    np.save(tmp_path / "X.npy", data[0].toarray())
    others = [tmp_path / name for name in ("another model", "text", "nothing")]
    assert python(OVERWRITTEN, path, tmp_path / "X.npy", *others) == "as before\n"


def test_a_file_that_changes_while_it_is_read_is_refused(fitted, tmp_path, monkeypatch):
    """Or half of it would be of one model and half of another."""
    from ramodo.model.file import tensors as tensor_file

    path = fitted.save(tmp_path / "model.ramodo")
    content = tensor_file._content

    def content_and_a_writer(file, size):
        found = content(file, size)
        os.utime(path, ns=(0, 0))
        return found

    monkeypatch.setattr(tensor_file, "_content", content_and_a_writer)
    with pytest.raises(ValueError, match="changed while it was read"):
        load(path)


# ---- kills -----------------------------------------------------------------------------------------------------------

KILLS = """
import os, random, signal, sys, time, warnings
from pathlib import Path
from ramodo import load
from test_model_file_shared import digest

warnings.simplefilter("ignore")  # newer Pythons warn of every fork beside BLAS's threads, which saving does not use
path, places = Path(sys.argv[1]), sys.argv[2:]
detectors = [load(place) for place in places]
known = {digest(detector) for detector in detectors}
detectors[0].save(path)
delays, found, left = random.Random(0), set(), 0
for i in range(60):
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        detectors[1].save(path)
        os.write(tell, b".")
        while True:
            for detector in detectors:
                detector.save(path)
    os.read(told, 1)  # until it has saved once, however busy the machine is
    os.close(told)
    os.close(tell)
    time.sleep(delays.uniform(0.001, 0.02))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    found.add(digest(load(path)))
    left += len(list(path.parent.iterdir())) - 1
    if i % 5 == 0:
        detectors[0].save(path)
        assert [place.name for place in path.parent.iterdir()] == [path.name]
assert found <= known, "a load gave neither of the models"
assert found == known and left > 0, "no kill came in the midst of a save"
print("whole")
"""


def test_a_save_that_is_killed_leaves_the_old_or_the_new_model(quick, data, tmp_path, python):
    """At any moment; and what it leaves beside it, the next save removes."""
    places = [quick(random_state=seed).fit(data[0]).save(tmp_path / f"model {seed}") for seed in (1, 2)]
    (tmp_path / "folder").mkdir()
    assert python(KILLS, tmp_path / "folder" / "model.ramodo", *places) == "whole\n"
