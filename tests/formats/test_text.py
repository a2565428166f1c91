"""Text: which tokens there are, where they are hashed to, and that names can be found again."""

import re
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from ramodo import REPEN
from ramodo.formats import FormatError, TextOptions, file_lines, text
from ramodo.formats.text import token_names, vectorize

WORDS = TextOptions(words=(1, 1), characters=(0, 0))
CHARACTERS = TextOptions(words=(0, 0), characters=(3, 3))

DOCUMENTS = [
    "the cat sat on the mat",
    "The CAT sat, on THE mat!",
    "GET /index.html?q=1&r=2 HTTP/1.1",
    "",
    "   ",
    "naïve Café 北京 東京",
    "a b c",
    "under_score x2 2x 1234",
    "tabs\tand   runs \r of blanks",
]


def counts(document, options):
    """Tokens by their names, and how often they occur."""
    row = vectorize([document], options)
    names = token_names([document], row.indices.tolist(), options)
    assert set(names) == set(row.indices.tolist())
    return {names[column]: int(count) for column, count in zip(row.indices.tolist(), row.data.tolist(), strict=True)}


def lower(document):
    """ASCII letters in lower case, runs of blanks as one."""
    document = re.sub(r"[\x00-\x20]+", " ", document).strip(" ")
    return re.sub("[A-Z]", lambda letter: letter[0].lower(), document)


def slow_counts(document, options):
    """The same in a few obvious lines."""
    document, found = lower(document), {}
    words = [w for w in re.findall(r"[a-z0-9_\u0080-\U0010ffff]+", document) if len(w) >= 2]
    spans = [m.span() for m in re.finditer(r"[a-z0-9_\u0080-\U0010ffff]{2,}", document)]
    assert [document[a:b] for a, b in spans] == words
    for n in range(options.words[0], options.words[1] + 1):
        for i in range(len(spans) - n + 1 if n else 0):
            name = document[spans[i][0] : spans[i + n - 1][1]]
            found[name] = found.get(name, 0) + 1
    for n in range(options.characters[0], options.characters[1] + 1):
        for i in range(len(document) - n + 1 if n else 0):
            name = f"'{document[i : i + n]}'"
            found[name] = found.get(name, 0) + 1
    return found


# ---- tokens ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize(
    "options",
    [
        WORDS,
        CHARACTERS,
        TextOptions(),
        TextOptions(words=(0, 0), characters=(1, 1)),
        TextOptions(words=(0, 0), characters=(2, 5), bits=40),
    ],
    ids=lambda o: f"{o.words} {o.characters} {o.bits}",
)
def test_the_tokens_of_a_document(document, options):
    assert counts(document, options) == slow_counts(document, options)


@settings(max_examples=200)
@given(document=st.text(st.characters(codec="utf-8"), max_size=40))
def test_the_tokens_of_any_document(document):
    options = TextOptions(words=(1, 1), characters=(2, 3), bits=40)
    assert counts(document, options) == slow_counts(document, options)


@pytest.mark.parametrize(("first", "last"), [(1, 1), (1, 2), (2, 2), (2, 3), (3, 3), (1, 16), (9, 9)])
def test_ranges_of_n_grams(first, last):
    document = "one two three four five"
    words = TextOptions(words=(first, last), characters=(0, 0), bits=40)
    assert vectorize([document], words).nnz == sum(max(0, 5 - n + 1) for n in range(first, last + 1))
    names = set(counts(document, words))
    expected = {" ".join(document.split()[i : i + n]) for n in range(first, last + 1) for i in range(5 - n + 1)}
    assert names == expected
    characters = TextOptions(words=(0, 0), characters=(first, last), bits=40)
    assert vectorize(["abcdefghijklmnopq"], characters).nnz == sum(17 - n + 1 for n in range(first, last + 1))


def test_no_tokens_at_all():
    assert vectorize(["some text"], TextOptions(words=(0, 0), characters=(0, 0))).nnz == 0


def test_words_are_counted_as_scikit_learn_counts_them():
    documents = ["the cat sat on the mat", "a cat, a hat", "mat mat mat_2"]
    vectorizer = CountVectorizer()
    expected = vectorizer.fit_transform(documents)
    found = vectorize(documents, WORDS)
    names = token_names(documents, found.indices.tolist(), WORDS)
    column = {name: i for i, name in names.items()}
    order = [column[name] for name in vectorizer.get_feature_names_out()]
    assert np.array_equal(found[:, order].toarray(), expected.toarray())


def test_a_word_and_the_same_characters_are_two_features():
    assert len(counts("cat", TextOptions(words=(1, 1), characters=(3, 3)))) == 2


def test_words_in_another_order_are_other_n_grams():
    options = TextOptions(words=(2, 2), characters=(0, 0), bits=40)
    one, other = vectorize(["red fox", "fox red"], options).indices
    assert one != other


# ---- hashing ---------------------------------------------------------------------------------------------------------


def test_columns_are_the_same_in_every_run_and_version(python):
    """A model file holds columns: the hash must never change."""
    program = """
from ramodo.formats.text import TextOptions, vectorize
print(vectorize(["the cat sat"], TextOptions(words=(1, 2), characters=(0, 0), bits=40)).indices.tolist())
"""
    known = [301148910521, 833464670496, 856879698052, 963336735674, 1083445272679]
    assert python(program, PYTHONHASHSEED="7").strip() == str(known)
    assert known == sorted(
        column(hash, 1)
        for hash in (chained("the"), chained("cat"), chained("sat"), chained("the", "cat"), chained("cat", "sat"))
    )


_MASK = 2**64 - 1


def fnv(token):
    hash = 0xCBF29CE484222325
    for byte in token.encode():
        hash = (hash ^ byte) * 0x100000001B3 & _MASK
    return hash


def splitmix(z):
    z = z + 0x9E3779B97F4A7C15 & _MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _MASK
    return z ^ z >> 31


def chained(*words):
    hash = fnv("")
    for word in words:
        hash = splitmix(hash) ^ fnv(word)
    return hash


def column(hash, kind, bits=40):
    return splitmix(hash ^ kind) & (2**bits - 1)


@pytest.mark.parametrize("gram", ["abc", "a c", "北京市", "'é'"])
def test_the_column_of_a_character_n_gram_is_its_hash(gram):
    options = TextOptions(words=(0, 0), characters=(3, 3), bits=40)
    assert vectorize([gram], options).indices.tolist() == [column(fnv(gram), 2)]


@pytest.mark.parametrize("bits", [8, 16, 22, 30, 31, 32, 40])
def test_fewer_bits_cut_the_same_hash(bits):
    documents = [d for d in DOCUMENTS if d.strip()]
    wide = vectorize(documents, TextOptions(bits=40))
    found = vectorize(documents, TextOptions(bits=bits))
    assert found.shape == (len(documents), 2**bits)
    assert found.indices.dtype == (np.int32 if bits < 31 else np.int64)
    cut = sp.csr_array((wide.data, wide.indices & (2**bits - 1), wide.indptr), shape=found.shape)
    cut.sum_duplicates()
    assert found.indices.tolist() == cut.indices.tolist()
    assert found.data.tolist() == cut.data.tolist()
    assert found.indptr.tolist() == cut.indptr.tolist()


def test_memory_follows_the_features_seen_not_the_bits():
    """2^40 features would be terabytes, of text and of weights."""
    documents = [f"request number {i % 17} of host {i % 5}" for i in range(80)] + ["select * from users; drop table"]
    X = vectorize(documents, TextOptions(bits=40))
    assert X.shape[1] == 2**40
    assert X.data.nbytes + X.indices.nbytes + X.indptr.nbytes < 200_000
    detector = REPEN(n_components=4, n_epochs=2, normalize="l2", random_state=0).fit(X)
    assert len(detector.feature_indices_) == len(np.unique(X.indices))
    assert np.argmax(detector.outlier_scores_) == 80


def test_ascii_letters_are_taken_in_lower_case_and_others_as_they_are():
    same = vectorize(["The CAT", "the cat", "THE Cat"], TextOptions())
    assert (same[[0]] != same[[1]]).nnz == (same[[0]] != same[[2]]).nnz == 0
    other = vectorize(["É", "é"], TextOptions(words=(0, 0), characters=(1, 1)))
    assert (other[[0]] != other[[1]]).nnz > 0


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_a_row_does_not_depend_on_the_others_or_on_threads(n_threads):
    documents = DOCUMENTS * 20
    whole = vectorize(documents, TextOptions(), n_threads=n_threads)
    assert whole.dtype == np.float32
    assert whole.shape[0] == len(documents)
    for row, document in enumerate(documents[:40]):
        assert (whole[[row]] != vectorize([document], TextOptions())).nnz == 0


@settings(max_examples=100)
@given(documents=st.lists(st.text(max_size=20), max_size=8))
def test_rows_are_sorted_and_no_column_is_given_twice(documents):
    X = vectorize(documents, TextOptions(bits=8))
    assert X.shape == (len(documents), 256)
    for a, b in zip(X.indptr, X.indptr[1:], strict=False):
        assert np.all(np.diff(X.indices[a:b]) > 0)
    assert (X.data >= 1).all()


@pytest.mark.parametrize(
    "options", [{"bits": 0}, {"bits": 49}, {"words": (1, 17)}, {"characters": (1, 65)}, {"words": (-1, 2)}], ids=str
)
def test_options_out_of_range(options):
    with pytest.raises(ValueError, match="bits must be|n-grams are too long"):  # noqa: RUF043
        vectorize(["text"], TextOptions(**options))


# ---- names -----------------------------------------------------------------------------------------------------------


def test_names_are_found_again_for_the_columns_asked_for():
    documents = ["alpha beta", "beta gamma"]
    X = vectorize(documents, WORDS)
    beta = int(np.flatnonzero(np.bincount(X.indices, minlength=WORDS.n_features) == 2)[0])
    assert token_names(documents, [beta], WORDS) == {beta: "beta"}
    assert token_names(documents, [beta, 5], WORDS) == {beta: "beta"}
    assert token_names([], [beta], WORDS) == {}
    assert token_names([""], [beta], WORDS) == {}


# ---- files -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path):
    def write(content):
        (tmp_path / "data.txt").write_bytes(content)
        return str(tmp_path / "data.txt")

    return write


def test_a_row_for_each_line_even_an_empty_one(file):
    table = text.read(file(b"first line\n\n   \nfourth line\n\n"))
    assert table.texts == ["first line", "", "   ", "fourth line", ""]
    assert (np.diff(table.X.indptr) > 0).tolist() == [True, False, False, True, False]


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"a\nb", ["a", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"\n", [""]),
        (b"\r\n", [""]),
        (b"a\x0bb\x1cc\xe2\x80\xa8d\n", ["a\x0bb\x1cc\u2028d"]),
        (b"a\0b\n", ["a\0b"]),
    ],
)
def test_lines(file, content, lines):
    assert text.read(file(content)).texts == lines


def test_bytes_that_are_not_utf_8(file):
    table = text.read(file(b"caf\xe9 au lait\nfine line\n\xff\xfe\n"))
    assert table.texts == ["caf\ufffd au lait", "fine line", "\ufffd\ufffd"]
    assert table.X[[1]].indices.tolist() == vectorize(["fine line"], TextOptions()).indices.tolist()


def test_text_that_cannot_be_encoded():
    assert (vectorize(["a\ud800b"], TextOptions()) != vectorize(["a?b"], TextOptions())).nnz == 0


def test_a_file_without_lines(file):
    with pytest.raises(FormatError, match=r"data.txt has no lines\."):
        text.read(file(b""))


@pytest.mark.parametrize("size", [1, 7, 100])
def test_lines_of_a_file_in_blocks(file, monkeypatch, size):
    path = file("".join(f"línea {i} {'x' * (i % 30)}\n" for i in range(100)).encode())
    whole = text.read(path).texts
    assert len(whole) == 100
    monkeypatch.setattr(file_lines, "line_blocks", partial(file_lines.line_blocks, size=size))
    assert file_lines.lines_of(path) == whole
