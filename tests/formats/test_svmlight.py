"""svmlight text: the same matrix as scikit-learn's reader, bit for bit, and errors with a place."""

import gzip
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from ramodo.formats import FormatError, svmlight
from support.examples import scattered


def bits(values):
    return np.asarray(values, dtype=np.float64).view(np.int64).tolist()


def assert_same(table, X, y):
    """The matrix and labels of another reader, bit for bit."""
    assert table.X.shape == X.shape
    assert table.X.indptr.tolist() == X.indptr.tolist()
    assert table.X.indices.tolist() == X.indices.tolist()
    assert bits(table.X.data) == bits(X.data)
    assert bits(table.classes) == bits(y)


def parse(text, **options):
    """Text without a file."""
    return svmlight.parse("text", np.frombuffer(text, dtype=np.uint8), 0, **options)


@pytest.fixture
def file(tmp_path):
    def write(text, name="data.svm"):
        path = tmp_path / name
        path.write_bytes(text)
        return str(path)

    return write


# ---- what scikit-learn reads -----------------------------------------------------------------------------------------

AWKWARD = {
    "one-based": b"1 1:2 3:4\n-1 2:5\n",
    "zero-based": b"1 0:2 3:4\n-1 2:5\n",
    "first index far out": b"1 7:2\n0 9:1\n",
    "comments": b"# head\n1 1:2 # a:b c\n   # middle\n0 2:3#none\n#",
    "blank lines": b"\n\n1 1:2\n \t\n0 2:3\n\n\n",
    "qid": b"1 qid:3 1:2\n0 qid:3 2:4\n2 qid:7 1:1 4:1\n",
    "carriage returns": b"1 1:2 2:3\r\n0 2:4\r\n\r\n",
    "no final newline": b"1 1:2\n0 2:4",
    "empty rows": b"1\n0 2:4\n3 \n-2 # nothing\n1 1:1\n",
    "first row empty": b"1\n0 5:4\n",
    "tabs and runs of blanks": b"1\t1:2 \t 2:3\t\n0   3:1   \n",
    "blanks before the label": b"  1 1:2\n\t0 2:3\n",
    "exponents": b"1 1:1e5 2:1E-5 3:2.5e+3 4:-1e0\n",
    "signs": b"+1 1:+2 2:-3\n-1 1:-0 2:+0.5\n",
    "no digits on one side": b"1 1:.5 2:5. 3:-.25e1\n",
    "many digits": b"0.1000000000000000055511151231257827 1:3.141592653589793238462643383279502884197 2:0.30000000000000004\n",  # noqa: E501
    "large and small": b"1 1:1.7976931348623157e308 2:2.2250738585072014e-308 3:5e-324 4:1e-400 5:123456789012345678901234567890\n",  # noqa: E501
    "leading zeros": b"01 0001:00002.5 2:0000000000000000000000.1\n",
    "values of zero": b"1 1:0 2:0.0 3:0e9\n0 1:1\n",
    "floats as labels": b"0.1 1:1\n-3e-7 1:2\n1e30 1:3\n",
    "wide": b"1 1:1 2147483600:2\n0 5:1\n",
}


@pytest.mark.parametrize("text", AWKWARD.values(), ids=AWKWARD.keys())
def test_awkward_files(file, text):
    path = file(text)
    assert_same(svmlight.read(path), *load_svmlight_file(path))


@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_files_of_scikit_learn(tmp_path, zero_based, n_threads):
    path = str(tmp_path / "data.svm")
    X, y = sp.csr_matrix(scattered(0, (60, 30))), np.arange(60) % 3
    dump_svmlight_file(X, y, path, zero_based=zero_based, comment="made\nfor this", query_id=np.arange(60))
    table = svmlight.read(path, zero_based=zero_based, n_threads=n_threads)
    assert_same(table, *load_svmlight_file(path, zero_based=zero_based))
    assert np.allclose(table.X.toarray(), X.toarray(), rtol=1e-15)
    assert table.schema.zero_based == zero_based


_NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**25), 10**25).map(str),
    st.floats(-1e6, 1e6).map("{:.4f}".format),
    st.floats(-1e6, 1e6).map("{:+.20e}".format),
)
_BLANKS = st.sampled_from([" ", "  ", "\t", " \t "])


@st.composite
def _lines(draw):
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from(["", "  ", "# only: a comment", "\t#"]))
    indices = draw(st.lists(st.integers(0, 40), unique=True, max_size=6).map(sorted))
    parts = [draw(_NUMBERS), *[f"{i}:{draw(_NUMBERS)}" for i in indices]]
    if draw(st.booleans()):
        parts.insert(1, f"qid:{draw(st.integers(0, 9))}")
    line = parts[0] + "".join(draw(_BLANKS) + part for part in parts[1:])
    return line + draw(st.sampled_from(["", " ", " # 3:4", "#x"]))


@settings(max_examples=200)
@given(lines=st.lists(_lines(), min_size=1, max_size=8), end=st.sampled_from(["\n", "\r\n"]), last=st.booleans())
def test_any_file_that_scikit_learn_reads(tmp_path_factory, lines, end, last):
    path = tmp_path_factory.getbasetemp() / "any.svm"
    path.write_bytes((end.join(lines) + (end if last else "")).encode())
    X, y = load_svmlight_file(str(path))
    if len(y) == 0:
        with pytest.raises(FormatError, match="has no rows"):
            svmlight.read(str(path))
        return
    assert_same(svmlight.read(str(path)), X, y)


# ---- numbers ---------------------------------------------------------------------------------------------------------

_DIGITS = st.text("0123456789", max_size=30)
_DECIMALS = st.builds(
    lambda sign, whole, fraction, point, exponent: sign + whole + (point and f".{fraction}") + exponent,
    st.sampled_from(["", "-", "+"]),
    st.text("0123456789", min_size=1, max_size=30),
    _DIGITS,
    st.booleans().map(lambda has: "." if has else ""),
    st.one_of(st.just(""), st.builds("{}{}".format, st.sampled_from("eE"), st.integers(-420, 420))),
)


@settings(max_examples=2000)
@given(text=_DECIMALS)
@example("9007199254740993")
@example("9007199254740992.5")
@example("179769313486231580793728971405301e276")
@example("2.47e-324")
@example("2.48e-324")
@example("-1e-400")
@example("0e999999999999999999999")
@example("1e-999999999999999999999")
@example("0." + "0" * 400 + "1e395")
@example("1" + "0" * 400 + "e-390")
@example("0.1" + "0" * 700 + "1")
@example("4.4501477170144023e-308")
@example("123456789012345678e-22")
def test_a_decimal_number_is_the_double_that_python_takes_it_for(text):
    expected = float(text)
    if np.isinf(expected):
        with pytest.raises(FormatError, match=r"line 1, column 5: the value must be a finite number"):
            parse(f"0 1:{text}\n".encode())
        return
    table = parse(f"{text} 1:{text}\n".encode())
    assert bits(table.X.data) == bits(table.classes) == bits([expected])


@settings(max_examples=300)
@given(text=_DECIMALS)
def test_single_precision_is_used_exactly_where_it_holds_the_value(text):
    value = float(text)
    if np.isinf(value):
        return
    with np.errstate(over="ignore"):
        exact = float(np.float32(value)) == value
    assert parse(f"0 1:0.5 2:{text} 3:1\n".encode()).X.dtype == (np.float32 if exact else np.float64)


@pytest.mark.parametrize(
    "text", ["", "+", "-", ".", "+-5", "-+5", "--5", "++5", "e5", "1e", "1e+", "1.5.2", "0x10", "1_0", "1,5", "5a", "½"]
)
def test_what_is_no_number(text):
    with pytest.raises(FormatError, match=r"line 1, column 5: a number was expected"):
        parse(f"0 1:{text}\n".encode())
    if text:
        with pytest.raises(FormatError, match=r"line 1, column 1: a label was expected"):
            parse(f"{text} 1:5\n".encode())


# ---- order, width, base ----------------------------------------------------------------------------------------------


@settings(max_examples=100)
@given(st.lists(st.permutations(list(range(0, 60, 3))).map(lambda p: p[:7]), min_size=1, max_size=6))
def test_unsorted_indices_are_sorted(rows):
    def text(order):
        return "".join("1" + "".join(f" {i}:{i + 0.1 * r}" for i in order(row)) + "\n" for r, row in enumerate(rows))

    found, expected = parse(text(list).encode()), parse(text(sorted).encode())
    assert_same(found, expected.X, expected.classes)
    assert all(
        np.all(np.diff(found.X.indices[a:b]) > 0) for a, b in zip(found.X.indptr, found.X.indptr[1:], strict=False)
    )


def test_unsorted_indices_wider_than_32_bits():
    table = parse(b"1 5000000000:1 4294967297:2 1:3\n")
    assert table.X.indices.tolist() == [0, 4294967296, 4999999999]
    assert table.X.data.tolist() == [3, 2, 1]


@pytest.mark.parametrize("n_features", [None, 50])
def test_the_base_and_the_width_that_are_asked_for(n_features):
    text = b"1 1:2 30:4\n"
    assert parse(text, n_features=n_features).X.shape == (1, n_features or 30)
    assert parse(text, zero_based=False, n_features=n_features).X.indices.tolist() == [0, 29]
    assert parse(text, zero_based=True, n_features=n_features).X.indices.tolist() == [1, 30]
    assert parse(text, zero_based=True).X.shape == (1, 31)


def test_the_base_that_was_found_is_told():
    assert parse(b"1 1:2\n").schema.zero_based is False
    assert parse(b"1 0:2\n").schema.zero_based is True


def test_an_index_0_in_a_file_said_to_begin_at_1():
    with pytest.raises(FormatError, match=r"text must have indices of at least 1, .*, got 0"):
        parse(b"1 0:2 1:2\n", zero_based=False)


def test_features_that_the_model_does_not_know():
    with pytest.raises(FormatError, match=r"text must have indices from 1 to 30, the features of the model, got 31"):
        parse(b"1 1:2 31:4\n", n_features=30)


@pytest.mark.parametrize(
    ("index", "width"), [(2**31 - 1, np.int32), (2**31, np.int64), (2**40, np.int64), (2**48, np.int64)]
)
def test_wide_indices(index, width):
    table = parse(f"1 1:2 {index}:3\n".encode())
    assert table.X.shape == (1, index)
    assert table.X.indices.tolist() == [0, index - 1]
    assert table.X.indices.dtype == width


def test_rows_without_any_feature():
    table = parse(b"1\n2\n")
    assert table.X.shape == (2, 1)
    assert table.X.nnz == 0
    assert table.classes.tolist() == [1, 2]


# ---- blocks and threads ----------------------------------------------------------------------------------------------


def long_text(n_rows=20_000):
    """Rows enough for several parts on several threads, no two alike; some out of order, some empty."""
    rng = np.random.default_rng(0)
    lines = []
    for row in range(n_rows):
        indices = rng.permutation(500)[: row % 5]
        lines.append(f"{row} " + " ".join(f"{i + 1}:{row + i / 7:.9g}" for i in indices))
    return "\n".join(lines).encode() + b"\n"


@pytest.fixture(scope="module")
def long_one():
    return long_text()


def test_any_number_of_threads_gives_the_same(long_one):
    assert len(long_one) > 4 << 16
    one, two = parse(long_one), parse(long_one, n_threads=2)
    assert_same(two, one.X, one.classes)
    assert one.classes.tolist() == list(range(20_000))


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_the_first_error_of_the_file_is_told_by_any_number_of_threads(long_one, n_threads):
    lines = long_one.split(b"\n")
    lines[7_000] = b"7 12:3 x"
    lines[15_000] = b"bad"
    with pytest.raises(
        FormatError, match=r"text, line 7001, column 8: an index was expected, digits alone; found 'x'\."
    ):
        parse(b"\n".join(lines), n_threads=n_threads)


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_tiny_blocks_give_the_whole(file, monkeypatch, size):
    text = b"# head\n\n" + long_text(60).rstrip(b"\n")
    whole = svmlight.read(file(text))
    packed = file(gzip.compress(text), "data.svm.gz")
    monkeypatch.setattr(svmlight, "line_blocks", partial(svmlight.line_blocks, size=size))
    assert len(list(svmlight.blocks(packed))) > (1 if size == 1000 else 10)
    assert_same(svmlight.read(packed), whole.X, whole.classes)
    assert sum(len(block.labels) for block in svmlight.blocks(packed)) == 60


@pytest.mark.parametrize("size", [1, 7, 64])
def test_an_error_in_a_later_block_has_the_line_of_the_file(file, monkeypatch, size):
    path = file(gzip.compress(b"1 1:2\n# comment\n\n1 2:3\r\n1 3:x\n"), "data.svm.gz")
    monkeypatch.setattr(svmlight, "line_blocks", partial(svmlight.line_blocks, size=size))
    with pytest.raises(FormatError, match=r"data.svm.gz, line 5, column 5: a number was expected; found 'x'\."):
        svmlight.read(path)


def test_a_block_may_need_another_type_than_the_one_before(file, monkeypatch):
    path = file(gzip.compress(b"1 1:0.5\n1 3000000000:0.1\n1\n1 2:1\n"), "data.svm.gz")
    monkeypatch.setattr(svmlight, "line_blocks", partial(svmlight.line_blocks, size=1))
    table = svmlight.read(path)
    assert table.X.indices.tolist() == [0, 2999999999, 1]
    assert table.X.data.tolist() == [0.5, 0.1, 1.0]


# ---- errors ----------------------------------------------------------------------------------------------------------

WRONG = {
    "bad label": (b"abc 1:2", 1, "a label was expected"),
    "no label": (b"1:2 3:4", 1, "a label was expected"),
    "label nan": (b"nan 1:2", 1, "a label was expected, a finite number"),
    "label inf": (b"-inf 1:2", 1, "a label was expected, a finite number"),
    "label too large": (b"1e999 1:2", 1, "a label was expected, a finite number"),
    "two labels": (b"1,2 1:2", 1, "a label was expected"),
    "missing colon": (b"1 1:2 5", 8, "index:value was expected"),
    "missing colon in the middle": (b"1 1:2 5 6:1", 8, "index:value was expected"),
    "missing value": (b"1 1:2 5:", 9, "a number was expected"),
    "missing index": (b"1 :2", 3, "an index was expected"),
    "negative index": (b"1 1:2 -3:4", 7, "an index was expected, digits alone"),
    "index with a sign": (b"1 +3:4", 3, "an index was expected, digits alone"),
    "index of letters": (b"1 x:4", 3, "an index was expected, digits alone"),
    "index with a point": (b"1 1.5:4", 4, "index:value was expected"),
    "index 10^18": (b"1 1:2 1000000000000000000:4", 7, "the index must be from 0 to 2"),
    "index 2^48 + 1": (b"1 281474976710657:4", 3, "the index must be from 0 to 2"),
    "index of many digits": (b"1 " + b"9" * 100 + b":4", 3, "the index must be from 0 to 2"),
    "value nan": (b"1 1:2 2:nan", 9, "the value must be a finite number"),
    "value inf": (b"1 1:inf", 5, "the value must be a finite number"),
    "value -infinity": (b"1 1:-infinity", 5, "the value must be a finite number"),
    "value too large": (b"1 1:1e309", 5, "the value must be a finite number"),
    "value of letters": (b"1 1:abc", 5, "a number was expected"),
    "value with a rest": (b"1 1:2x", 5, "a number was expected"),
    "two colons": (b"1 1:2:3", 5, "a number was expected"),
    "qid and more": (b"1 qid:1:2 1:1", 8, "index:value was expected"),
    "qid without a number": (b"1 qid: 1:1", 3, "an index was expected"),
    "qid in the middle": (b"1 1:1 qid:3", 7, "an index was expected"),
    "repeated, adjacent": (b"1 3:1 3:2", 7, "the index is given twice"),
    "repeated, not adjacent": (b"1 3:1 5:2 3:4", 11, "the index is given twice"),
    "repeated, unsorted": (b"1 9:1 3:1 5:2 5:4 9:1", 15, "the index is given twice"),
    "repeated, other digits": (b"1 3:1 03:2", 7, "the index is given twice"),
    "a byte 0": (b"1 1:2\x003", 5, "a number was expected"),
    "not UTF-8": (b"1 \xff\xfe:2", 3, "an index was expected"),
    "a form feed": (b"1\x0c1:2", 1, "a label was expected"),
}


@pytest.mark.parametrize(("line", "column", "message"), WRONG.values(), ids=WRONG.keys())
@pytest.mark.parametrize(
    "before", [b"", b"1 1:2 2:3\n", b"# comment\r\n\n1 1:2\r\n"], ids=["first", "second", "fourth"]
)
def test_errors_have_a_place(file, before, line, column, message):
    path = file(before + line + b"\n1 1:1\n")
    with pytest.raises(FormatError) as raised:
        svmlight.read(path)
    number = before.count(b"\n") + 1
    assert str(raised.value).startswith(f"{path}, line {number}, column {column}: {message}")
    assert str(raised.value).endswith(".")


@pytest.mark.parametrize(("line", "column", "message"), WRONG.values(), ids=WRONG.keys())
def test_the_last_line_may_be_wrong_too(line, column, message):
    with pytest.raises(FormatError, match=f"line 1, column {column}: {message}"):
        parse(line)


@pytest.mark.parametrize("text", [b"", b"\n\n", b"# nothing\n", b"#", b" \r\n\t\n# x"])
def test_files_without_rows(file, text):
    with pytest.raises(FormatError, match=r"data.svm has no rows\."):
        svmlight.read(file(text))


def test_an_error_speaks_of_the_line_in_a_stream():
    with pytest.raises(FormatError, match=r"standard input, line 12, column 5"):
        svmlight.parse("standard input", np.frombuffer(b"1 1:2\n1 1:x\n", dtype=np.uint8), 10)


def test_a_file_that_is_not_there(tmp_path):
    for name in ("none.svm", "none.svm.gz", "none.svm.zst"):
        with pytest.raises(FileNotFoundError, match=name):
            svmlight.read(str(tmp_path / name))


# ---- writing ---------------------------------------------------------------------------------------------------------


@settings(max_examples=100)
@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_what_is_written_is_read_again(tmp_path_factory, values):
    path = tmp_path_factory.getbasetemp() / "written.svm"
    X = sp.csr_array((values, (np.zeros(len(values), dtype=int), np.arange(len(values)))), shape=(2, len(values)))
    with open(path, "wb") as file:
        svmlight.write(file, X, np.array([values[0], -1.0]))
    assert_same(svmlight.read(str(path)), X, [values[0], -1.0])
    assert_same(svmlight.read(str(path)), *load_svmlight_file(str(path)))


def test_single_precision_is_written_as_the_double_that_it_is(tmp_path):
    X = sp.csr_array(np.array([[0.1, 0], [0, 3]], dtype=np.float32))
    with open(tmp_path / "data.svm", "wb") as file:
        svmlight.write(file, X, None)
    assert (tmp_path / "data.svm").read_text() == "0 1:0.10000000149011612\n0 2:3\n"
    assert svmlight.read(str(tmp_path / "data.svm")).X.dtype == np.float32
