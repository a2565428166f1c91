"""Integers that mostly increase: as bits they equal the reference, and come back whatever they were."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ramodo import kernels
from reference import gaps_as_bits

RNG = np.random.default_rng(0)
SIZES = (np.uint32, np.uint64)


def rows_of_words(n_rows=2000, n_words=300, n_features=100_000):
    """Sorted words of documents by Zipf's law, row after row."""
    words = np.exp(RNG.random((n_rows, n_words)) * np.log(n_features)).astype(np.int64) - 1
    return np.concatenate([np.unique(row) for row in words])


CASES = {
    "empty": [],
    "one": [7],
    "first": [0, 1, 2, 3],
    "words": rows_of_words(20),
    "spread": np.sort(RNG.integers(0, 2**32 - 1, 3000)),
    "lengths": np.cumsum(RNG.integers(0, 300, 3000)),
    "far": [0, 5, 2**31, 2**31 + 1, 3, *range(100, 110), 2**32 - 2, 2**32 - 1, 1, 2, 3, 4, 5, 6, 7],
    "down": np.arange(500)[::-1] * 3,
    "one in seven down": np.tile(np.arange(7), 100),
    "one in eight down": np.tile(np.arange(8), 100),
}


def unpacked(data, like):
    out = np.empty_like(like)
    kernels.read_gaps(data, out)
    return out


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("case", CASES)
def test_bits_are_those_of_the_reference(case, size):
    values = np.array(CASES[case], dtype=size)
    found, expected = kernels.write_gaps(values), gaps_as_bits(values)
    if 8 * sum(values[1:] <= values[:-1]) > len(values):
        assert found is None
        return
    assert "".join(map(str, np.unpackbits(found, bitorder="little")))[: len(expected)] == expected
    assert len(found) == -(-len(expected) // 8)
    assert unpacked(found, values).tobytes() == values.tobytes()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 100), max_size=300), st.booleans())
def test_any_integers_come_back(values, is_sorted):
    values = np.array(sorted(values) if is_sorted else values, dtype=np.uint64)
    found = kernels.write_gaps(values)
    if found is not None:
        assert len(found) <= values.nbytes
        assert unpacked(found, values).tobytes() == values.tobytes()


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200), st.integers(0, 300), st.sampled_from(SIZES))
def test_bytes_that_are_no_gaps_are_refused_or_read(data, n, size):
    out = np.zeros(n, dtype=size)
    try:
        kernels.read_gaps(np.frombuffer(data, dtype=np.uint8), out)
    except ValueError as error:
        assert "end too early, or are no gaps" in str(error)  # noqa: PT017 - any bytes may also be some gaps


def test_bytes_that_end_too_early_are_refused():
    values = rows_of_words(20).astype(np.uint32)
    found = kernels.write_gaps(values)
    with pytest.raises(ValueError, match="end too early"):
        kernels.read_gaps(found[: len(found) // 2], np.empty_like(values))


def test_words_take_little_more_than_their_entropy():
    values = rows_of_words()
    occur = np.bincount(values) / 2000
    occur = occur[(occur > 0) & (occur < 1)]
    entropy = -(occur * np.log2(occur) + (1 - occur) * np.log2(1 - occur)).sum() * 2000
    assert 8 * len(kernels.write_gaps(values.astype(np.uint32))) < 1.1 * entropy
