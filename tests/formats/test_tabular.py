"""Tables: what each kind of column becomes, and that all file formats give the same matrix."""

import datetime as dt
import decimal

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from ramodo import formats
from ramodo.formats import FormatError, Schema
from ramodo.formats.schema import Column


def dense(table):
    return table.X.toarray() if sp.issparse(table.X) else table.X


def column(table, name):
    return dense(table)[:, table.names.index(name)].tolist()


@pytest.fixture
def csv(tmp_path):
    """Reads a CSV text."""

    def read(content, **options):
        path = tmp_path / "data.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return formats.read(str(path), schema=Schema(**options))

    return read


@pytest.fixture
def arrow(tmp_path):
    """Reads columns of pyarrow through a Parquet file."""

    def read(options=None, **columns):
        pa.parquet.write_table(pa.table(columns), tmp_path / "data.parquet")
        return formats.read(str(tmp_path / "data.parquet"), schema=options)

    return read


WRITERS = {
    ".csv": pa.csv.write_csv,
    ".tsv": lambda table, path: pa.csv.write_csv(table, path, pa.csv.WriteOptions(delimiter="\t")),
    ".parquet": pa.parquet.write_table,
    ".feather": pa.feather.write_feather,
    ".arrow": lambda table, path: pa.feather.write_feather(table, path, compression="uncompressed"),
}


# ---- what columns become ---------------------------------------------------------------------------------------------


def test_numbers_stay_numbers_and_the_matrix_dense(csv):
    table = csv("a,b\n1,0.1\n-2,1e-300\n3,9007199254740993\n")
    assert isinstance(table.X, np.ndarray)
    assert table.names == ["a", "b"]
    assert table.X.tolist() == [[1, 0.1], [-2, 1e-300], [3, float(9007199254740993)]]
    assert table.ids is table.classes is table.texts is None


def test_booleans_are_0_and_1(csv):
    assert csv("a,b\ntrue,False\nfalse,True\n").X.tolist() == [[1, 0], [0, 1]]


def test_dates_are_seconds(csv):
    """Of the clock that wrote them, whatever its offset from UTC."""
    table = csv(
        "day,time,zone\n1970-01-02,1970-01-01 00:00:01.5,1970-01-01T01:00:00+01:00\n2024-02-29,2024-02-29 12:00:00,2024-02-29T12:00:00Z\n"  # noqa: E501
    )
    noon = dt.datetime(2024, 2, 29, 12, tzinfo=dt.UTC).timestamp()
    assert table.X.tolist() == [[86400, 1.5, 3600], [noon - 43200, noon, noon]]
    gap = csv("t\n1970-01-01T01:00:00.5+0100\nNA\n1970-01-01 02:00-0230\n", missing="zero")
    assert gap.X.tolist() == [[3600.5], [0], [7200]]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "Europe/Paris"])
def test_times_of_any_unit_are_seconds(arrow, unit, zone):
    seconds = [0, 1_700_000_000, -5]
    counts = [s * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit] for s in seconds]
    assert column(arrow(t=pa.array(counts, pa.timestamp(unit, zone))), "t") == seconds


def test_times_that_no_microsecond_holds(arrow):
    assert column(arrow(t=pa.array([1_700_000_000_123_456_789], pa.timestamp("ns"))), "t") == [1_700_000_000.1234567]
    assert column(arrow(t=pa.array([10**15], pa.timestamp("s"))), "t") == [1e15]
    assert column(arrow(t=pa.array([86_400_000], pa.date64())), "t") == [86400]


def test_text_is_a_column_for_each_value_and_sparse(csv):
    table = csv("x,country\n1,NZ\n0,FR\n3,NZ\n")
    assert sp.issparse(table.X)
    assert table.names == ["x", "country=FR", "country=NZ"]
    assert dense(table).tolist() == [[1, 0, 1], [0, 1, 0], [3, 0, 1]]
    assert table.schema.categories == ["country"]


def test_values_of_text_stay_as_they_are(csv):
    table = csv('a\n" x"\nnull\nNA\nß=1\n"two\nlines"\nNZ\nnz\n')
    assert sorted(table.names) == sorted(["a= x", "a=null", "a=NA", "a=ß=1", "a=two\nlines", "a=NZ", "a=nz"])
    assert dense(table).sum(axis=1).tolist() == [1] * 7


def test_one_long_value_does_not_widen_all_others(arrow):
    """10^5 values next to one of 10^6 characters: no array of their product."""
    table = arrow(a=pa.array([f"v{i % 3}" for i in range(100_000)] + ["x" * 10**6]))
    assert table.X.shape == (100_001, 4)


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array([1, 2], pa.uint8()), [1, 2]),
        (pa.array([2**63, 2], pa.uint64()), [2.0**63, 2]),
        (pa.array(np.array([0.5, 2], np.float16)), [0.5, 2]),
        (pa.array([0.1, 2], pa.float32()), [float(np.float32(0.1)), 2]),
        (pa.array([decimal.Decimal("1.50"), decimal.Decimal("-2")]), [1.5, -2]),
        (pa.array([True, False]), [1, 0]),
    ],
    ids=lambda value: str(getattr(value, "type", "")),
)
def test_numbers_of_any_type(arrow, array, expected):
    assert column(arrow(a=array), "a") == expected


def test_dictionaries_are_text(arrow):
    table = arrow(a=pa.array(["x", "y", "x"]).dictionary_encode(), b=pa.array(["u", "v", "u"], pa.large_string()))
    assert table.names == ["a=x", "a=y", "b=u", "b=v"]
    assert dense(table).tolist() == [[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]


@pytest.mark.parametrize(
    "array",
    [pa.array([b"x"]), pa.array([1], pa.duration("s"))],
    ids=lambda a: str(a.type),
)
def test_columns_of_other_types_are_refused_by_name(arrow, array):
    with pytest.raises(
        FormatError,
        match=r"data.parquet, column 'odd' must hold numbers, text, lists of them, booleans or dates, got ",
    ):
        arrow(fine=pa.array([1]), odd=array)
    assert arrow(Schema(ignore=["odd"]), fine=pa.array([1]), odd=array).names == ["fine"]


# ---- the same from every format --------------------------------------------------------------------------------------


def mixed(n=40):
    rng = np.random.default_rng(0)
    start = dt.datetime(2024, 1, 1)
    return pa.table(
        {
            "name": [f"r{i}" for i in range(n)],
            "x": rng.normal(size=n),
            "n": rng.integers(-5, 5, n),
            "flag": rng.random(n) < 0.5,
            "kind": [("low", "mid", None, "high, or not")[i % 4] for i in range(n)],
            "gap": [None if i % 7 == 0 else i / 3 for i in range(n)],
            "when": [start + dt.timedelta(hours=i) for i in range(n)],
            "truth": rng.integers(0, 2, n),
        }
    )


@pytest.mark.parametrize("missing", ["zero", "mean", "indicator"])
def test_all_formats_give_the_same(tmp_path, missing):
    found = []
    for suffix, write in WRITERS.items():
        write(mixed(), str(tmp_path / f"data{suffix}"))
        options = Schema(id="name", label="truth", missing=missing)
        found.append(formats.read(str(tmp_path / f"data{suffix}"), schema=options))
    for table in found:
        assert table.names == found[0].names
        assert np.array_equal(dense(table), dense(found[0]))
        assert table.ids == found[0].ids
        assert table.classes.tolist() == found[0].classes.tolist()
    assert found[0].X.shape == (40, 8 + 2 * (missing == "indicator"))


def test_a_wide_table(tmp_path):
    values = np.random.default_rng(0).integers(0, 10, (6, 5000))
    table = pa.table({f"c{i}": values[:, i] for i in range(5000)})
    table = table.append_column("kind", pa.array(list("abcabc")))
    for suffix in (".csv", ".parquet"):
        WRITERS[suffix](table, str(tmp_path / f"wide{suffix}"))
        found = formats.read(str(tmp_path / f"wide{suffix}"))
        assert found.X.shape == (6, 5003)
        assert np.array_equal(dense(found)[:, :5000], values)
        assert found.names[4999:] == ["c4999", "kind=a", "kind=b", "kind=c"]


@settings(max_examples=60)
@given(
    columns=st.dictionaries(
        st.sampled_from("abcdef"),
        st.one_of(
            st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=5, max_size=5),
            st.lists(st.integers(-(2**53), 2**53), min_size=5, max_size=5),
            st.lists(st.sampled_from(["red", "green", 'a "quote"', "a,b", "x\ny", "ü"]), min_size=5, max_size=5),
            st.lists(st.booleans(), min_size=5, max_size=5),
        ),
        min_size=1,
    )
)
def test_any_table_is_the_same_from_csv_and_parquet(tmp_path_factory, columns):
    folder = tmp_path_factory.getbasetemp()
    for suffix in (".csv", ".parquet"):
        WRITERS[suffix](pa.table(columns), str(folder / f"any{suffix}"))
    one, other = (formats.read(str(folder / f"any{suffix}")) for suffix in (".csv", ".parquet"))
    assert one.names == other.names
    assert np.array_equal(dense(one), dense(other))
    for name, values in columns.items():
        for row, value in enumerate(values):
            expected = [1.0] if isinstance(value, str) else [float(value)]
            key = f"{name}={value}" if isinstance(value, str) else name
            assert [column(one, key)[row]] == expected


# ---- columns with a meaning ------------------------------------------------------------------------------------------


def test_ids_labels_and_what_is_ignored_are_no_features(csv):
    table = csv("key,x,junk,truth\na,1,?,1\nb,2,!,0\n", id="key", label="truth", ignore=["junk"])
    assert table.names == ["x"]
    assert table.ids == ["a", "b"]
    assert table.classes.tolist() == [1, 0]


def test_ids_stay_as_they_are_written(csv):
    """Not the numbers or dates that they look like."""
    assert csv("key,x\n007,1\n7,2\n7.0,3\n2024-01-01,4\ntrue,5\n", id="key").ids == [
        "007",
        "7",
        "7.0",
        "2024-01-01",
        "true",
    ]
    assert csv("key,x\n007,1\n010,2\n", id="key").ids == ["007", "010"]


def test_an_id_given_twice_is_refused(csv):
    with pytest.raises(FormatError, match=r"data.csv, column 'key' must have each id once, got 'b' twice\."):
        csv("key,x\na,1\nb,2\nc,3\nb,4\n", id="key")


@pytest.mark.parametrize("option", ["id", "label", "text"])
def test_a_column_that_is_not_there(csv, option):
    with pytest.raises(FormatError, match=r"data.csv has no column 'nope'; it has a, b\."):
        csv("a,b\n1,2\n", **{option: "nope"})
    with pytest.raises(FormatError, match="has no column 'nope'"):
        csv("a,b\n1,2\n", ignore=["a", "nope"])


def test_columns_that_need_not_be_there(csv):
    known = csv("a,truth,junk,b\n1,0,x,2\n", label="truth", ignore=["junk"]).schema
    table = csv("a,b\n1,2\n", label="truth", ignore=["junk"], columns=known.columns)
    assert table.names == ["a", "b"]
    assert table.classes is None


def test_a_text_column_may_be_all_that_is_taken(csv):
    table = csv("id,words,n\n1,hello there,\n2,,5\n3,0,6\n", text="words", id="id", ignore=["n"])
    assert table.texts == ["hello there", "", "0"]
    assert table.names is None
    assert csv("words\n1\n02\n", text="words").texts == ["1", "02"]


def test_text_of_another_type(arrow):
    assert arrow(Schema(text="a"), a=pa.array([0, None, 2])).texts == ["0", "", "2"]


def test_labels_are_numbers_or_words(csv, arrow):
    assert csv("a,y\n1,1\n2,-1.5\n3,\n", label="y").classes.tolist() == [1, -1.5, 0]
    table = csv("a,y\n1,good\n2,bad\n3,\n4,7\n", label="y")
    assert table.classes.tolist() == ["good", "bad", "", "7"]
    assert table.names == ["a"]
    assert csv("a,y\n1,true\n2,false\n", label="y").classes.tolist() == [1, 0]
    assert arrow(Schema(label="y"), a=pa.array([1, 2]), y=pa.array([None, float("nan")])).classes.tolist() == [
        0,
        0,
    ]


def test_text_that_looks_like_numbers_can_be_asked_for(csv):
    """As the text columns of a model are, in new data that have only some of their values."""
    columns = (Column(name="zip", kind="category", values=("01", "1", "A")), Column(name="x"))
    table = csv("x,zip\n1,01\n2,1\n", columns=columns)
    assert table.names == ["zip=01", "zip=1", "zip=A", "x"]
    assert dense(table).tolist() == [[1, 0, 0, 1], [0, 1, 0, 2]]
    table = csv("zip,x\n,1\n,2\n", columns=columns, missing="zero")
    assert dense(table).tolist() == [[0, 0, 0, 1], [0, 0, 0, 2]]


def test_a_text_column_without_any_value(arrow):
    columns = (Column(name="a", kind="category", values=("x",)), Column(name="b"))
    table = arrow(Schema(columns=columns, missing="zero"), a=pa.nulls(2), b=pa.array([1, 2]))
    assert dense(table).tolist() == [[0, 1], [0, 2]]
    assert table.schema.columns == columns


# ---- text that a user may not have meant -----------------------------------------------------------------------------


def test_a_word_among_numbers_is_told(csv):
    table = csv(
        "key,x,y\n" + "".join(f"S{i},{i / 7:.3f},{i % 2}\n" for i in range(9)) + "S9,NA,0\nS10,n.d.,1\n", id="key"
    )
    (note,) = table.notes
    assert note.startswith("column 'x' is read as text, for 'n.d.' in row 'S10' is not a number: it became 11 columns")
    assert "--ignore x" in note
    assert "--missing" in note
    assert "'?' in row 2 is" in csv("day,y\n2024-01-01,1\n2024-01-02,2\n?,3\n").notes[0]
    assert "'n.d.' in row 2 is" in csv("x,y\n1,1\n2,2\nn.d.,3\n").notes[0]


def test_names_of_rows_are_told(csv):
    names = "".join(f"user{min(i, 18)}\n" for i in range(20))
    (note,) = csv("x,who\n" + "".join(f"1,{name}\n" for name in names.split())).notes
    assert note.startswith("column 'who' is text with 19 values in 20 rows: it became 19 columns, one for each value.")
    assert "--id who" in note
    assert "--ignore who" in note


def test_text_as_it_should_be_is_not_told(csv):
    assert csv("kind,x\n" + "".join(f"{'abc'[i % 3]},{i}\n" for i in range(30))).notes == []
    assert csv("code,x\n" + "".join(f"{['1', 'b', 'c'][i % 3]},{i}\n" for i in range(30))).notes == []
    assert csv("who,x\n" + "".join(f"u{i},{i}\n" for i in range(19))).notes == []
    assert csv("who,x\n" + "".join(f"u{i % 18},{i}\n" for i in range(20))).notes == []


def test_text_that_a_model_knows_as_text_is_not_told(csv):
    assert csv("x,y\n1,1\n2,2\nn.d.,3\n", columns=(Column(name="x", kind="category", values=("1",)),)).notes == []


def test_text_where_a_model_has_numbers_is_refused(csv, arrow):
    with pytest.raises(FormatError, match=r"data.csv, column 'x' must hold numbers, .*, got text, as 'n.d.' in row 1"):
        csv("x,y\n1,1\nn.d.,2\n", columns=(Column(name="x"), Column(name="y")))
    with pytest.raises(FormatError, match=r"column 'x' must hold numbers, .*, got list<"):
        arrow(Schema(columns=(Column(name="x"),)), x=pa.array([["1"], ["2"]]))


def test_numbers_and_dates_of_a_model_may_be_written_as_text(arrow):
    columns = (Column(name="x"), Column(name="day", kind="date"))
    texts = {"x": ["1", "NA", " 2.5"], "day": ["1970-01-02", "1970-01-01T01:00+02:00", ""]}
    table = arrow(Schema(columns=columns, missing="zero"), **texts)
    assert table.X.tolist() == [[1, 86400], [0, 3600], [2.5, 0]]
    again = arrow(Schema(columns=columns, missing="zero"), x=pa.array(texts["x"]).dictionary_encode(), day=texts["day"])
    assert again.X.tolist() == table.X.tolist()


# ---- missing values --------------------------------------------------------------------------------------------------

GAPS = "n,kind,day\n1,a,1970-01-02\n,b,\n3,,1970-01-03\n"


@pytest.mark.parametrize(
    ("text", "row", "name"),
    [
        ("n,m\n1,1\n2,\n", 1, "m"),
        ("n,k\n1,a\n2,b\n3,\n", 2, "k"),
        ("n,d\n1,\n2,2024-01-01\n", 0, "d"),
        ("n,e\n1,\n2,\n", 0, "e"),
        ("n,f\n1,nan\n2,1\n", 0, "f"),
    ],
)
def test_a_missing_value_is_an_error_with_a_place(csv, text, row, name):
    with pytest.raises(
        FormatError, match=rf"data.csv, row {row}, column '{name}': the value is missing; say what to do"
    ):
        csv(text)


def test_the_place_of_a_missing_value_has_the_id_of_its_row(csv):
    with pytest.raises(FormatError, match=r"data.csv, row 'S07', column 'm': the value is missing"):
        csv("key,m\nS06,1\nS07,\n", id="key")


def test_a_blank_line_is_no_row(csv):
    assert csv("n\n1\n\n2\n\n").X.tolist() == [[1], [2]]


def test_missing_values_as_zero(csv):
    table = csv(GAPS, missing="zero")
    assert table.names == ["n", "kind=a", "kind=b", "day"]
    assert dense(table).tolist() == [[1, 1, 0, 86400], [0, 0, 1, 0], [3, 0, 0, 172800]]


def test_missing_values_as_the_mean(csv):
    table = csv(GAPS, missing="mean")
    assert dense(table).tolist() == [[1, 1, 0, 86400], [2, 0, 1, 129600], [3, 0, 0, 172800]]
    assert {column.name: column.mean for column in table.schema.columns} == {"n": 2, "kind": None, "day": 129600}
    assert csv("a,b\n,1\n,2\n", missing="mean").X.tolist() == [[0, 1], [0, 2]]


def test_a_mean_is_made_only_where_it_is_wanted(csv):
    """The sum of these values does not fit: warnings are errors here."""
    huge = "a,b\n1.7e308,\n1.6e308,1\n"
    assert csv(huge, missing="zero").X[:, 0].tolist() == [1.7e308, 1.6e308]
    with pytest.raises(FormatError, match=r"row 0, column 'a': the value must be finite and at most 1e\+30"):
        csv(huge, missing="mean")


def test_a_mean_that_is_known_is_not_made_again(csv):
    columns = (Column(name="n", mean=2.5), Column(name="m", mean=7.0))
    table = csv("n,m\n10,\n,5\n", missing="mean", columns=columns)
    assert table.X.tolist() == [[10, 7], [2.5, 5]]
    assert table.schema.columns == columns


def test_missing_values_as_a_column_of_their_own(csv):
    table = csv(GAPS, missing="indicator")
    assert table.names == ["n", "n is missing", "kind=a", "kind=b", "kind is missing", "day", "day is missing"]
    assert dense(table).tolist() == [[1, 0, 1, 0, 0, 86400, 0], [0, 1, 0, 1, 0, 0, 1], [3, 0, 0, 0, 1, 172800, 0]]


def test_a_way_that_is_unknown(csv):
    with pytest.raises(FormatError, match=r"missing must be one of error, zero, mean, indicator, got 'median'\."):
        csv(GAPS, missing="median")


# ---- files that are wrong --------------------------------------------------------------------------------------------

WRONG = {
    "empty": b"",
    "blank": b"\n\n\n",
    "only a header": b"a,b\n",
    "rows of other lengths": b"a,b\n1,2\n3\n",
    "names that are not UTF-8": "prénom,b\n1,2\n".encode("latin-1"),
    "values that are not UTF-8": "a,b\n1,2\n2,ü\n".encode("latin-1"),
    "UTF-16 without a mark": "a,b\n1,é\n".encode("utf-16-le"),
    "two encodings": "a\né\n".encode() + "é\n".encode("latin-1"),
    "the same name twice": b"a,b,a\n1,2,3\n",
    "binary": bytes(range(256)) * 4,
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG.keys())
def test_csv_files_that_are_wrong(csv, text):
    with pytest.raises(FormatError, match=r"data\.csv"):
        csv(text)
    with pytest.raises(FormatError, match=r"data\.csv"):
        csv(text, id="a")


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow"])
@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"PAR1", b"ARROW1\0\0" + b"\xff" * 50])
def test_other_files_that_are_wrong(tmp_path, suffix, content):
    path = tmp_path / f"data{suffix}"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=rf"data\{suffix} is not a (parquet|feather) file: ."):
        formats.read(str(path))


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_file_that_is_not_there(tmp_path, suffix):
    with pytest.raises(FileNotFoundError):
        formats.read(str(tmp_path / f"none{suffix}"))


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
@pytest.mark.parametrize("part", [0.2, 0.7, 0.99])
def test_truncated_files(tmp_path, suffix, part):
    path = tmp_path / f"data{suffix}"
    WRITERS[suffix](mixed(), str(path))
    content = path.read_bytes()
    path.write_bytes(content[: int(part * len(content))])
    with pytest.raises(FormatError, match=rf"data\{suffix} is not a"):
        formats.read(str(path), schema=Schema(missing="zero"))


def test_a_table_with_nothing_but_ids(csv):
    with pytest.raises(FormatError, match=r"data.csv has no columns besides a, b\."):
        csv("a,b\n1,2\n", id="a", label="b")
