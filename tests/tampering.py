"""Model files with parts replaced, for the tests that they are refused."""

import json

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from ramodo import load
from ramodo.model_reading import ModelFileError


def read(path):
    """Header and arrays of a model file."""
    with safe_open(path, framework="numpy") as file:
        return file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def rewrite(path, header=None, tensors=None, facts=None, options=None, member=None):
    """The file again with some parts replaced, or left out where the new value is None.

    `facts`, `options` and `member` (the first model's numbers) replace single values, or leave them out for Ellipsis.
    """
    old_header, old_tensors = read(path)
    for name, changes in (("facts", facts), ("options", options)):
        if changes is not None:
            old_header[name] = json.dumps(_merged(json.loads(old_header[name]), changes))
    if member is not None:
        first, *others = json.loads(old_header["members"])
        old_header["members"] = json.dumps([_merged(first, member), *others])
    new_header = {**old_header, **(header or {})}
    new_tensors = {**old_tensors, **(tensors or {})}
    save_file(
        {name: np.ascontiguousarray(array) for name, array in new_tensors.items() if array is not None},
        path,
        {name: text for name, text in new_header.items() if text is not None},
    )


def _merged(values, changes):
    return {key: value for key, value in {**values, **changes}.items() if value is not Ellipsis}


def assert_refused(path, message=""):
    with pytest.raises(ModelFileError, match=rf"{path.name} is not a ramodo model: .*{message}"):
        load(path)
