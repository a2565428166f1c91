"""Weights of tokens: as scikit-learn has them, of a document alone as among others, and back to counts."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

import reference
from ramodo import kernels
from ramodo.formats import How, Schema, TextOptions, read
from ramodo.formats.frequencies import DocumentFrequencies
from ramodo.formats.text import as_table, vectorize

DOCUMENTS = [
    "the cat sat on the mat",
    "the dog sat on the cat, the cat ran",
    "",
    "wget wget wget http://evil.example/x.sh",
    "the mat",
    "the the the the",
]
NEW = ["the unseen token wget wget", "", "nothing known here"]


def rows(matrix):
    """The values of each row, in order of size: columns have other numbers elsewhere."""
    return [np.sort(matrix.data[a:b]) for a, b in zip(matrix.indptr, matrix.indptr[1:], strict=False)]


def theirs(**options):
    return TfidfVectorizer(sublinear_tf=True, norm=None, **options)


def of_model(table, options, **more):
    """How a model that was fitted to a table reads other documents."""
    return How(schema=table.schema, frequencies=table.frequencies, **more)


# ---- as scikit-learn has them ----------------------------------------------------------------------------------------

PLAIN = {
    "words": (TextOptions((1, 2), (0, 0), 40), {"ngram_range": (1, 2)}),
    "characters": (TextOptions((0, 0), (2, 3), 40), {"analyzer": "char", "ngram_range": (2, 3)}),
    "kept words": (TextOptions((1, 2), (0, 0), vocabulary=True), {"ngram_range": (1, 2)}),
}


@pytest.mark.parametrize(("options", "same"), PLAIN.values(), ids=PLAIN.keys())
def test_values_are_those_of_scikit_learn(options, same):
    table, vectorizer = as_table(DOCUMENTS, How(schema=Schema(tokens=options))), theirs(**same)
    expected = vectorizer.fit_transform(DOCUMENTS)
    assert table.X.dtype == np.float32
    for found, known in zip(rows(table.X), rows(expected), strict=True):
        np.testing.assert_allclose(found, known, rtol=2e-7)
    if options.vocabulary:
        np.testing.assert_allclose(table.X.toarray(), expected.toarray(), rtol=2e-7)


def test_other_documents_have_the_weights_of_the_training_documents():
    """scikit-learn drops a token that it does not know, where a hash has a column for it."""
    kept, vectorizer = TextOptions((1, 1), (0, 0), vocabulary=True), theirs().fit(DOCUMENTS)
    found = as_table(NEW, of_model(as_table(DOCUMENTS, How(schema=Schema(tokens=kept))), kept))
    np.testing.assert_allclose(found.X.toarray(), vectorizer.transform(NEW).toarray(), rtol=2e-7)
    hashed = TextOptions((1, 1), (0, 0), 40)
    found = as_table(NEW, of_model(as_table(DOCUMENTS, How(schema=Schema(tokens=hashed))), hashed))
    unseen = np.log(1 + len(DOCUMENTS)) + 1
    known = vectorizer.transform(NEW)
    assert [len(row) for row in rows(found.X)] == [4, 0, 3]
    np.testing.assert_allclose(rows(found.X)[0], np.sort([*known[[0]].data, unseen, unseen]), rtol=2e-7)
    np.testing.assert_allclose(rows(found.X)[2], [unseen] * 3, rtol=2e-7)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("width", [60, 2**30, 2**40])
def test_the_kernels_equal_the_reference(index, width):
    rng = np.random.default_rng(0)
    dense = rng.poisson(0.3, (50, 60)).astype(np.float32)
    expected = reference.weighed(dense, reference.document_frequencies(dense), 50)
    counts = sp.csr_array(dense)
    places = (np.arange(60) * (min(width, 2**31) // 60)).astype(index)
    columns = places[counts.indices]
    found, documents = kernels.document_frequencies(columns, width)
    assert found.tolist() == places.tolist()
    assert documents.tolist() == reference.document_frequencies(dense)
    for n_threads in (1, 2, 3):
        values = counts.data.copy()
        kernels.TokenWeights(found, documents, 50, width).weigh(columns, values, n_threads)
        assert values.tolist() == expected[np.nonzero(expected)].astype(np.float32).tolist()


# ---- a document alone, and on several threads ------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [8, 22, 40])
@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_a_document_alone_is_the_row_that_it_is_among_others(bits, n_threads):
    options = TextOptions(bits=bits)
    table = as_table(DOCUMENTS * 300, How(schema=Schema(tokens=options), n_threads=n_threads))
    assert (table.X != as_table(DOCUMENTS * 300, How(schema=Schema(tokens=options))).X).nnz == 0
    for row, document in enumerate(DOCUMENTS):
        alone = as_table([document], of_model(table, options))
        assert (table.X[[row]] != alone.X).nnz == 0
        assert alone.X.indices.tolist() == table.X[[row]].indices.tolist()


def test_memory_follows_the_tokens_seen_not_the_bits():
    found = as_table(DOCUMENTS, How(schema=Schema(tokens=TextOptions(bits=40)))).frequencies
    assert len(found.columns) == len(found.documents) < 400
    assert (found.columns.dtype, found.documents.dtype) == (np.int64, np.int32)
    assert (found.n_documents, found.n_features) == (len(DOCUMENTS), 2**40)


def test_without_weights_values_are_counts(tmp_path):
    table = as_table(DOCUMENTS, How(schema=Schema(tokens=TextOptions(idf=False))))
    assert table.frequencies is None
    assert (vectorize(DOCUMENTS, TextOptions()) != table.X).nnz == 0


def test_the_documents_of_a_table(tmp_path):
    (tmp_path / "data.csv").write_text("id,words\na,the cat\nb,the dog\n")
    table = read(str(tmp_path / "data.csv"), schema=Schema(id="id", text="words"))
    assert table.ids == ["a", "b"]
    assert (table.X != as_table(["the cat", "the dog"], How()).X).nnz == 0
    assert table.frequencies.n_documents == 2


# ---- back to counts --------------------------------------------------------------------------------------------------


@settings(max_examples=100)
@given(
    counts=st.lists(st.integers(1, 200_000), min_size=1, max_size=20),
    n_documents=st.integers(1, 2**31 - 1),
    data=st.data(),
)
def test_counts_are_found_again(counts, n_documents, data):
    known = np.arange(0, 2 * len(counts), 2)[: len(counts) // 2 + 1]
    documents = [data.draw(st.integers(1, n_documents)) for _ in known]
    found = DocumentFrequencies(known, np.array(documents, dtype=np.int32), n_documents, 100)
    columns, given_counts = np.arange(len(counts)), np.array(counts, dtype=np.float32)
    values = sp.csr_array((given_counts.copy(), columns, [0, len(counts)]), shape=(1, 100))
    found.weigh(values)
    assert found.counts(columns, values.data).tolist() == counts
    assert found.counts(columns, np.zeros(len(counts))).tolist() == [0] * len(counts)


@pytest.mark.parametrize("n", [2, 60])
def test_a_column_that_there_is_not_is_one_that_training_never_saw(n):
    """As of a file that says other bits than its model has features."""
    values = np.ones(n, dtype=np.float32)
    weights = kernels.TokenWeights(np.array([1]), np.array([3], dtype=np.int32), 3, 9)
    weights.weigh(np.array([1, 2**40] * (n // 2)), values, 1)
    assert values.tolist() == pytest.approx([1, np.log(4) + 1] * (n // 2))


# ---- what is refused -------------------------------------------------------------------------------------------------

WRONG = {
    "columns that fall": ([2, 1], [1, 1], "features must increase"),
    "columns that are negative": ([-1, 1], [1, 1], "features must increase"),
    "columns out of range": ([1, 9], [1, 1], "features must increase"),
    "lengths": ([1, 2], [1], "arrays of the wrong size"),
    "no documents": ([1, 2], [1, 0], "document frequency out of range"),
    "more documents than there are": ([1, 2], [1, 6], "document frequency out of range"),
}


@pytest.mark.parametrize(("columns", "documents", "message"), WRONG.values(), ids=WRONG.keys())
def test_frequencies_that_cannot_be(columns, documents, message):
    with pytest.raises(ValueError, match=message):
        kernels.TokenWeights(np.array(columns), np.array(documents, dtype=np.int32), 5, 9)


def test_columns_that_are_not_there():
    for wrong in (-1, 9):
        with pytest.raises(ValueError, match="feature out of range"):
            kernels.document_frequencies(np.array([1, wrong]), 9)
