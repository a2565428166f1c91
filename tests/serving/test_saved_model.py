"""Rows get the bits that `ramodo score` gives them, however they arrive and whatever they arrive with."""

import datetime
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
import scipy.sparse as sp

from ramodo import Consensus, load
from ramodo.datasets import make_access_log
from ramodo.formats import FormatError, Schema, accesslog
from ramodo.options import OptionError
from ramodo.serving import SavedModel
from support.examples import with_outliers
from support.fitted_models import Fitted, command


def scores_of(answers):
    return [answer["score"] for answer in answers]


def test_json_rows_get_the_scores_of_the_command(each):
    model = SavedModel(each.model)
    assert model.score_rows(json.loads(json.dumps(each.rows))) == each.scored


def test_a_row_alone_gets_the_same_bits(each):
    model = SavedModel(each.model)
    assert [model.score_rows([row])[0]["score"] for row in each.rows] == each.scores
    assert scores_of(model.score_rows(each.rows[::-1])) == each.scores[::-1]


def test_several_threads_change_nothing(each):
    assert SavedModel(each.model, n_jobs=2).score_rows(each.rows) == each.scored


def in_arrow(fitted, name):
    each = getattr(fitted, name)
    if name in ("visits", "gaps", "notes"):
        return pyarrow.csv.read_csv(each.data)
    if name == "log":
        return pa.table({"text": each.rows})
    if name == "dense":
        return pa.table({"features": each.rows})
    pairs = [sorted((int(column), value) for column, value in row.items()) for row in each.rows]
    indices = pa.array([[c for c, _ in row] for row in pairs], pa.list_(pa.int32()))
    return pa.table({"indices": indices, "values": [[v for _, v in row] for row in pairs]})


@pytest.mark.parametrize("name", ["mail", "visits", "gaps", "log", "notes", "dense", "sparse"])
def test_record_batches_get_the_scores_of_the_command(fitted, name):
    table, each = in_arrow(fitted, name), getattr(fitted, name)
    model = SavedModel(each.model)
    found = model.score(table)
    assert found.schema.names == ["score", "percentile", "flag"]
    assert found.to_pylist() == [{k: v for k, v in row.items() if k != "id"} for row in each.scored]
    in_pieces = [row["score"] for part in model.batches(table.to_batches(7)) for row in part.to_pylist()]
    assert in_pieces == each.scores
    for start in (0, 5, len(each.rows) - 1):  # slices share the arrays of the whole
        assert model.score(table.slice(start, 1)).column("score").to_pylist() == each.scores[start : start + 1]


@pytest.mark.parametrize("kind", [pa.dictionary(pa.int32(), pa.string()), pa.large_string(), pa.string_view()])
def test_text_of_any_type(fitted, kind):
    table = in_arrow(fitted, "visits")
    place = table.schema.get_field_index("country")
    if pa.types.is_dictionary(kind):
        other = table.column("country").dictionary_encode()
    else:
        other = table.column("country").cast(kind)
    table = table.set_column(place, "country", other)
    assert SavedModel(fitted.visits.model).score(table).column("score").to_pylist() == fitted.visits.scores


def frames_of(path):
    """A table as other libraries have it; pandas leaves dates as text unless it is asked to look for them."""
    pandas, polars, duckdb = (pytest.importorskip(name) for name in ("pandas", "polars", "duckdb"))
    frame = pandas.read_csv(path)
    yield frame
    yield frame.astype({"country": "category", "day": "datetime64[ns]"}).set_index("visit")
    yield polars.read_csv(path, try_parse_dates=True)
    yield polars.read_csv(path).with_columns(polars.col("country").cast(polars.Categorical))
    yield duckdb.connect().sql(f"from '{path}'")


def test_frames_of_other_libraries_get_the_scores_of_the_command(fitted):
    model = SavedModel(fitted.visits.model)
    for frame in frames_of(fitted.visits.data):
        assert model.score(frame).column("score").to_pylist() == fitted.visits.scores, type(frame)


def test_columns_within_columns_of_polars(tmp_path):
    polars = pytest.importorskip("polars")
    rows = [{"user": {"age": i % 9}, "tags": [["a", "b"][i % 2]] * (i % 3)} for i in range(60)]
    (tmp_path / "users.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    made = Fitted.made(tmp_path / "users.jsonl", rows)
    assert SavedModel(made.model).score(polars.DataFrame(rows)).column("score").to_pylist() == made.scores


def test_a_frame_may_have_some_of_the_features_by_number(fitted):
    pandas = pytest.importorskip("pandas")
    rows = fitted.mail.rows[:5]
    frame = pandas.DataFrame(rows)  # NaN where a row has no such feature
    assert SavedModel(fitted.mail.model).score(frame).column("score").to_pylist() == fitted.mail.scores[:5]
    dense = pandas.DataFrame(fitted.dense.rows)[list(reversed(range(40)))]
    assert SavedModel(fitted.dense.model).score(dense).column("score").to_pylist() == fitted.dense.scores


@pytest.mark.parametrize("given", [5, [{"country": "NZ"}], np.zeros((2, 3))], ids=lambda given: type(given).__name__)
def test_what_does_not_speak_arrow_is_refused(fitted, given):
    with pytest.raises(FormatError, match=f"got {type(given).__name__}. For lists of dicts, .* use score_rows"):
        SavedModel(fitted.visits.model).score(given)


def test_a_frame_that_arrow_cannot_have_is_refused(fitted):
    pandas = pytest.importorskip("pandas")
    with pytest.raises(FormatError, match="cannot be read as Arrow"):
        SavedModel(fitted.visits.model).score(pandas.DataFrame({"seconds": [complex(1, 2)]}))


@pytest.mark.parametrize("name", ["visits", "gaps"])
def test_a_loaded_detector_reads_tables(fitted, name):
    pandas = pytest.importorskip("pandas")
    each = getattr(fitted, name)
    assert load(each.model).outlier_score(pandas.read_csv(each.data)).tolist() == each.scores


def test_a_loaded_detector_takes_a_frame_whose_columns_are_its_features(tmp_path, fitted):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(fitted.dense.rows, columns=[f"c{i}" for i in range(40)])
    frame.to_csv(tmp_path / "plain.csv", index=False)
    made = Fitted.made(tmp_path / "plain.csv", [], "--scale", "none")
    assert load(made.model).outlier_score(frame).tolist() == made.scores


def test_kept_columns_and_reasons(fitted):
    table = in_arrow(fitted, "visits")
    model = SavedModel(fitted.visits.model)
    pieces = pa.concat_tables([table.slice(0, 40), table.slice(40)])
    found = model.score(pieces, keep=["visit", "day"], reasons=2)
    assert found.schema.names == ["visit", "day", "score", "percentile", "flag", "reasons"]
    assert found.column("visit").to_pylist() == table.column("visit").to_pylist()
    (first, second) = found.column("reasons").to_pylist()[-1]
    assert {first["feature"], second["feature"]} <= {"country=XX", "day", "day, day of the week", "seconds"}
    assert first["contribution"] >= second["contribution"] > 0
    empty = model.score(table.slice(0, 0), keep=["visit"], reasons=2)
    assert empty.schema == model.score(table, keep=["visit"], reasons=2).schema
    assert empty.num_rows == 0


def test_what_cannot_be_kept(fitted):
    table, model = in_arrow(fitted, "visits"), SavedModel(fitted.visits.model)
    with pytest.raises(OptionError, match="keep must name columns of the table, got 'absent'; it has visit, country"):
        model.score(table, keep=["absent"])
    with pytest.raises(OptionError, match="keep must not name a result, got 'score'"):
        model.score(table.append_column("score", table.column("seconds")), keep=["score"])


@pytest.mark.parametrize("name", ["mail", "visits", "log"])
def test_reasons_are_those_of_the_command(fitted, name, capsys):
    each = getattr(fitted, name)
    last = each.scored[-1]
    capsys.readouterr()
    command("explain", each.model, each.data, "--row", last["id"], "--top", "3", "--json")
    (expected,) = json.loads(capsys.readouterr().out)
    (found,) = SavedModel(each.model).score_rows(each.rows[-1:], reasons=3)
    assert found["score"] == last["score"] == expected["score"]
    names = ("reasons", "lacks", "rest", "nearest")
    assert [found[name] for name in names] == [expected[name] for name in names]


def test_other_columns_are_left_out(fitted):
    rows = [{**row, "more": {"nested": [1]}, "score": "x"} for row in fitted.visits.rows]
    assert scores_of(SavedModel(fitted.visits.model).score_rows(rows)) == fitted.visits.scores
    table = in_arrow(fitted, "visits")
    table = table.append_column("more", pa.array([[1]] * table.num_rows))
    assert SavedModel(fitted.visits.model).score(table).column("score").to_pylist() == fitted.visits.scores


def test_rows_need_no_id_and_no_label(fitted):
    rows = [{k: v for k, v in row.items() if k not in ("visit", "truth")} for row in fitted.visits.rows]
    found = SavedModel(fitted.visits.model).score_rows(rows)
    assert scores_of(found) == fitted.visits.scores
    assert [answer["id"] for answer in found[:2]] == ["0", "1"]
    twice = SavedModel(fitted.visits.model).score_rows([fitted.visits.rows[3]] * 2)
    assert [answer["id"] for answer in twice] == ["v003", "v003"]


def test_the_order_of_features_does_not_matter(fitted):
    backwards = [dict(reversed(row.items())) for row in fitted.mail.rows]
    assert scores_of(SavedModel(fitted.mail.model).score_rows(backwards)) == fitted.mail.scores


def test_numbers_and_dates_may_be_strings(fitted):
    rows = [
        {name: str(value).lower() if name != "country" else value for name, value in row.items()}
        for row in fitted.visits.rows
    ]
    assert scores_of(SavedModel(fitted.visits.model).score_rows(rows)) == fitted.visits.scores
    gaps = [{name: "" if value is None else str(value) for name, value in row.items()} for row in fitted.gaps.rows]
    assert scores_of(SavedModel(fitted.gaps.model).score_rows(gaps)) == fitted.gaps.scores


def test_categories_may_be_numbers(tmp_path, fitted):
    lines = ["code,size", *(f"c{i % 3},{i % 5}" for i in range(40)), "17,9", "true,9"]
    (tmp_path / "codes.csv").write_text("\n".join(lines) + "\n")
    codes = Fitted.made(tmp_path / "codes.csv", [])
    model = SavedModel(codes.model)
    assert scores_of(model.score_rows([{"code": 17, "size": 9}, {"code": True, "size": 9}])) == codes.scores[-2:]
    assert model.score(pa.table({"code": [17], "size": [9]})).column("score").to_pylist() == codes.scores[-2:-1]
    assert model.score(pa.table({"code": [17.0], "size": [9]})).column("score").to_pylist() == codes.scores[-2:-1]
    with pytest.raises(FormatError, match=r"column 'code' must hold text, .*, got timestamp"):
        model.score(pa.table({"code": pa.array([17], pa.timestamp("s")), "size": [9]}))


def test_a_model_of_python_takes_records_by_its_names(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, _ = with_outliers()
    frame = pandas.DataFrame(X.toarray(), columns=[f"c{i}" for i in range(X.shape[1])])
    detector = Consensus(random_state=0).fit(frame)
    detector.save(tmp_path / "m.ramodo")
    model = SavedModel(tmp_path / "m.ramodo")
    expected = detector.outlier_score(frame).tolist()
    assert scores_of(model.score_rows(frame.to_dict("records"))) == expected
    assert model.score(pa.Table.from_pandas(frame)).column("score").to_pylist() == expected
    detector.fit(sp.csr_array(X)).save(tmp_path / "m.ramodo")
    sparse = SavedModel(tmp_path / "m.ramodo")
    assert scores_of(sparse.score_rows([{}])) == detector.outlier_score(sp.csr_array((1, X.shape[1]))).tolist()


@pytest.fixture
def users(tmp_path):
    """A model of JSON lines with columns within a column, and gaps that are filled."""
    rng = np.random.default_rng(0)
    rows = [
        {"price": float(rng.integers(9)), "user": {"age": int(rng.integers(70)), "city": ["Ulm", "Bonn"][i % 2]}}
        for i in range(60)
    ]
    del rows[3]["price"], rows[4]["user"]["city"], rows[5]["user"]
    data = tmp_path / "users.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Fitted.made(data, rows, "--missing", "indicator")


def test_a_row_without_an_entry_is_scored_alone_as_in_company(users):
    model = SavedModel(users.model)
    assert scores_of(model.score_rows(users.rows)) == users.scores
    assert [model.score_rows([row])[0]["score"] for row in users.rows] == users.scores


def test_columns_within_a_column(users):
    model = SavedModel(users.model)
    within = pa.Table.from_pylist(users.rows)
    for batch in (within, within.to_batches()[0], within.flatten()):
        assert model.score(batch).column("score").to_pylist() == users.scores
    flat = [{"price": 1.0, "user.age": 7, "user.city": "Ulm"}, {"price": 1.0, "user": {"age": 7, "city": "Ulm"}}]
    assert len({answer["score"] for answer in model.score_rows(flat)}) == 1


def test_requests_of_a_web_server_are_records(tmp_path):
    lines = make_access_log(60, 2, random_state=0).lines
    (tmp_path / "access.log").write_text("\n".join(lines) + "\n")
    rows = [accesslog.parse(line)._asdict() for line in lines]
    made = Fitted.made(
        tmp_path / "access.log", [{**row, "time": row["time"].isoformat()} for row in rows], "--format", "accesslog"
    )
    model = SavedModel(made.model)
    assert scores_of(model.score_rows(made.rows)) == made.scores
    assert model.score_rows(made.rows[:1])[0]["score"] == made.scores[0]
    assert model.score(pa.Table.from_pylist(rows)).column("score").to_pylist() == made.scores


def visits_at(hours):
    """Rows whose times have offsets from UTC, of clocks that were put forward in the meantime."""
    return [
        {"x": float(hour * hour % 11), "when": f"2026-03-{1 + i % 28:02d}T{hour:02d}:14:05+0{1 + i % 28 // 14}:00"}
        for i, hour in enumerate(hours)
    ]


def test_a_time_is_that_of_the_clock_that_wrote_it(tmp_path):
    """From a file as from a request, in CSV as in JSON, whatever the offset from UTC."""
    rows = visits_at([9 + i % 8 for i in range(60)])
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "a.csv").write_text("x,when\n" + "".join(f"{row['x']},{row['when']}\n" for row in rows))
    made, of_csv = (Fitted.made(tmp_path / name, rows) for name in ("a.jsonl", "a.csv"))
    assert of_csv.scores == made.scores
    for each in (made, of_csv):
        model = SavedModel(each.model)
        assert scores_of(model.score_rows(rows)) == made.scores
        assert model.score(pa.Table.from_pylist(rows)).column("score").to_pylist() == made.scores
        clock = [{**row, "when": row["when"][:-6]} for row in rows]
        assert scores_of(model.score_rows(clock)) == made.scores


@pytest.mark.parametrize("suffix", ["npy", "svm"])
def test_a_scaled_matrix_is_scaled_in_requests_and_streams(tmp_path, suffix, monkeypatch, capsys):
    X = np.random.default_rng(0).normal(5, 1, (60, 4)) * [1e6, 1, 1, 1]
    np.save(tmp_path / "a.npy", X)
    lines = ["0 " + " ".join(f"{i + 1}:{value!r}" for i, value in enumerate(row)) for row in X.tolist()]
    (tmp_path / "a.svm").write_text("\n".join(lines) + "\n")
    rows = X.tolist() if suffix == "npy" else [{str(i + 1): v for i, v in enumerate(row)} for row in X.tolist()]
    made = Fitted.made(tmp_path / f"a.{suffix}", rows, "--scale", "standard")
    assert scores_of(SavedModel(made.model).score_rows(rows)) == made.scores
    if suffix == "svm":
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((tmp_path / "a.svm").read_bytes())))
        capsys.readouterr()
        command("score", made.model, "-", "-q")
        streamed = capsys.readouterr().out.splitlines()[1:]
        assert [float(line.split(",")[1]) for line in streamed] == made.scores


def test_lists_and_sets_are_served(tmp_path):
    rows = [{"v": [i % 5, 1.5], "tags": ["a", "b"][: i % 3]} for i in range(60)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    made = Fitted.made(tmp_path / "a.jsonl", rows)
    model = SavedModel(made.model)
    assert [model.score_rows([row])[0]["score"] for row in rows] == made.scores
    assert model.score(pa.Table.from_pylist(rows)).column("score").to_pylist() == made.scores
    with pytest.raises(FormatError, match=r"row 0: column 'v' must have a list of numbers, got 'x'"):
        model.score_rows([{"v": "x", "tags": []}])
    with pytest.raises(
        FormatError, match=r"column 'v' must hold lists of one length, got .* 2 values and one of 1 in row 0"
    ):
        model.score_rows([{"v": [1], "tags": []}])


def test_halves_of_characters_are_no_characters(fitted):
    visits = fitted.visits.rows[0]
    answers = SavedModel(fitted.visits.model).score_rows(
        [{**visits, "country": "X\ud800"}, {**visits, "country": "X?"}]
    )
    assert len(set(scores_of(answers))) == 1


def test_a_row_of_unknown_names_is_refused(tmp_path):
    """It would look like a row without anything, which is as ordinary as can be."""
    X, _ = with_outliers()
    detector = Consensus(random_state=0).fit(sp.csr_array(X))
    detector.feature_names_in_ = np.array([f"gene{i}" for i in range(X.shape[1])], dtype=object)
    detector.schema_ = Schema(format="h5ad", plain=tuple(detector.feature_names_in_))
    detector.save(tmp_path / "m.ramodo")
    model = SavedModel(tmp_path / "m.ramodo")
    known, some, empty = model.score_rows([{"gene3": 1.0}, {"gene3": 1.0, "other": 2.0}, {}])
    assert known["score"] == some["score"] != empty["score"]
    with pytest.raises(FormatError, match=r"row 1: a feature must be one of the model's, such as gene0.*, got '3'"):
        model.score_rows([{"gene3": 1.0}, {"3": 1.0}])


REFUSED = [
    ("visits", [{"country": "NZ"}], "row 0, column 'seconds': the value is missing, and the model was fitted with"),
    ("visits", [{"other": 1}], "none of the model's columns, which are country, seconds, bot, day"),
    ("visits", ["text"], "row 0: a row must be an object of columns and values, got 'text'"),
    ("visits", [1, 2], "row 0: a row must be an object of columns and values, got 1"),
    ("mail", ["text"], r"row 0: a row must be \{feature: value\} or a list of all values, got 'text'"),
    ("mail", [{"1": 1}, [1]], r"row 1: a row must be \{feature: value\}, as in the first row, got \[1\]"),
    ("mail", [{"1": 1}, {"0": 1}], "row 1: a feature must be a number from 1 to 40, got '0'"),
    ("mail", [{"41": 1}], "row 0: a feature must be a number from 1 to 40, got '41'"),
    ("mail", [{"1": 1}, {"x": 1}], "row 1: a feature must be .*, got 'x'"),
    ("mail", [{"²": 1}], "row 0: a feature must be .*, got '²'"),
    ("mail", [{"9" * 30: 1}], "row 0: a feature must be .*, got '999"),
    ("mail", [{"1": "1"}], "row 0: the feature '1' must have a finite number, got '1'"),
    ("mail", [{"1": True}], "row 0: the feature '1' must have a finite number, got True"),
    ("mail", [{"1": 1}, {"2": float("nan")}], "row 1: the feature '2' must have a finite number, got nan"),
    ("mail", [{"1": 10**400}], "row 0: the feature '1' must have a finite number, got 1000"),
    (
        "dense",
        [[1.0] * 40, [1.0] * 39],
        "row 1: a row must be a list of 40 values, as the model was fitted to, got 39 values",
    ),
    ("dense", [[1.0] * 40, {"0": 1}], r"row 1: a row must be a list of 40 values, .*, got \{'0': 1\}"),
    ("dense", [[None] * 40], "row 0: the feature '0' must have a finite number, got None"),
    ("log", ["a", 5], "row 1: a row must be a string, or an object with a string under 'text', got 5"),
    ("notes", [{"note": None}], "row 0: a row must be a string, or an object with a string under 'note', got"),
    ("log", [], "has no rows"),
]


@pytest.mark.parametrize(("name", "rows", "message"), REFUSED)
def test_bad_rows_are_named(fitted, name, rows, message):
    with pytest.raises(FormatError, match=message):
        SavedModel(getattr(fitted, name).model).score_rows(rows)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seconds": None}, "row 2, column 'seconds': the value is missing, and the model was fitted with --missing"),
        ({"seconds": "soon"}, "column 'seconds' must hold numbers, .*, got text, as 'soon' in row 2"),
        ({"seconds": [1]}, r"row 2: column 'seconds' must have a number, a string or null, got \[1\]"),
        ({"seconds": float("inf")}, "row 2: column 'seconds' must have finite numbers, got inf"),
        ({"country": None}, "row 2, column 'country': the value is missing"),
        ({"country": {}}, "row 2, column 'country': the value is missing"),
    ],
)
def test_bad_values_of_records_are_named(fitted, changed, message):
    rows = [*fitted.visits.rows[:2], {**fitted.visits.rows[2], **changed}, fitted.visits.rows[3]]
    with pytest.raises(FormatError, match=message):
        SavedModel(fitted.visits.model).score_rows(rows)


def test_values_too_large_are_refused(fitted):
    with pytest.raises(
        FormatError, match=r"the request, row 1, column 2: the value must be finite .*, got 1e\+300"
    ) as refused:
        SavedModel(fitted.mail.model).score_rows([{"1": 1}, {"2": 1e300}])
    assert refused.value.row == 1


@pytest.mark.parametrize("changed", [{"seconds": None}, {"country": None}, {"seconds": "soon"}, {"seconds": 1e200}])
def test_the_row_to_blame_is_said_apart(fitted, changed):
    rows = [*fitted.visits.rows[:2], {**fitted.visits.rows[2], **changed}, fitted.visits.rows[3]]
    with pytest.raises(FormatError, match="row 2") as refused:
        SavedModel(fitted.visits.model).score_rows(rows)
    assert refused.value.row == 2


def test_a_column_that_is_absent_is_named_as_the_user_knows_it(fitted):
    table = in_arrow(fitted, "visits").drop_columns(["country", "day"])
    said = "must have all 4 columns .*; it lacks 2, such as 'country', and has 'seconds', 'bot'\\."
    with pytest.raises(FormatError, match=said):
        SavedModel(fitted.visits.model).score(table)


def test_reasons_say_what_there_is_to_say(fitted):
    row = {**fitted.visits.rows[-1], "seconds": 7.2}
    (found,) = SavedModel(fitted.visits.model).score_rows([row], reasons=4)
    reasons = {reason["feature"]: reason for reason in found["reasons"]}
    assert reasons["seconds"]["value"] == 7.2  # and not 7.199999999999999
    assert reasons["seconds"].keys() == {"column", "feature", "value", "contribution", "share", "mean"}
    weekday = next(reason for name, reason in reasons.items() if name.startswith("day, day of the week"))
    assert weekday.keys() == {*reasons["seconds"], "shown", "usual"}
    (found,) = SavedModel(fitted.log.model).score_rows(fitted.log.rows[-1:], reasons=1)
    assert found["reasons"][0].keys() == {*reasons["seconds"], "spans", "rows", "n_rows"}


DAY = datetime.date(2024, 1, 5)
ON_MARS = pa.array([0], pa.timestamp("s", "Mars/Olympus"))  # a time zone that Python does not know
VISIT = {"country": ["NZ"], "seconds": [1.5], "bot": [True], "day": [DAY]}

ARROW_REFUSED = [
    ("mail", {"indices": [[1], [2, 3]], "values": [[1.0], [1.0]]}, "row 1: .* got 2 indices and 1 values"),
    (
        "mail",
        {"indices": [[1], [41]], "values": [[1.0], [1.0]]},
        "row 1: a feature must be a number from 1 to 40, got 41",
    ),
    ("mail", {"indices": [[1], None], "values": [[1.0], [1.0]]}, "row 1: column 'indices' must be a list, got null"),
    (
        "mail",
        {"indices": [[1], [1]], "values": [[1.0], [None]]},
        "row 1: column 'values' must hold a list of numbers, got a null in it",
    ),
    (
        "mail",
        {"indices": [["a"]], "values": [[1.0]]},
        "column 'indices' must hold lists of numbers, got list<.*string>",
    ),
    ("dense", {"features": [[1.0] * 40, [1.0]]}, "row 1: there must be 40 values, .*, got 1"),
    ("log", {"line": ["x"]}, "no column 'text', which holds the text; it has line"),
    ("visits", {"line": ["x"]}, "none of the model's columns"),
    ("visits", {**VISIT, "country": [[1]]}, "column 'country' must hold text, .*, got list<.*int64>"),
    ("visits", {**VISIT, "country": ON_MARS.dictionary_encode()}, "column 'country' must hold text, .*, got timestamp"),
    ("visits", {**VISIT, "seconds": [[1.5]]}, "column 'seconds' must hold numbers, .*, got list<"),
    ("visits", {**VISIT, "seconds": [DAY]}, "column 'seconds' must hold numbers, .*, got date32"),
    ("log", {"text": [0.5]}, "column 'text' must hold text, .*, got double"),
    ("log", {"text": ON_MARS.dictionary_encode()}, "column 'text' must hold text, .*, got timestamp"),
    ("mail", {"a": [1]}, "must have lists in the columns 'indices' and 'values', or in 'features'.* got a"),
    ("mail", {"1": ["a"]}, "column '1' must hold numbers, got string"),
]


@pytest.mark.parametrize(("name", "columns", "message"), ARROW_REFUSED)
def test_bad_record_batches_are_refused(fitted, name, columns, message):
    with pytest.raises(FormatError, match=message):
        SavedModel(getattr(fitted, name).model).score(pa.table(columns))


@pytest.mark.parametrize(
    ("name", "column"), [("visits", "country"), ("visits", "visit"), ("log", "text"), ("mail", "values")]
)
def test_columns_of_one_name_are_refused(fitted, name, column):
    table, model = in_arrow(fitted, name), SavedModel(getattr(fitted, name).model)
    table = table.append_column(column, table.column(column))
    with pytest.raises(FormatError, match=f"one column of each name, got several named '{column}'"):
        model.score(table, keep=["visit"] if name == "visits" else [])


def test_what_a_model_takes(fitted):
    assert SavedModel(fitted.visits.model).reading.described() == {
        "rows": "record",
        "n_features": 11,
        "columns": ["country", "seconds", "bot", "day"],
        "categories": ["country"],
        "id": "visit",
    }
    assert SavedModel(fitted.gaps.model).reading.columns == tuple(f"c{i}" for i in range(40))
    assert SavedModel(fitted.notes.model).reading.described()["text"] == "note"
    assert SavedModel(fitted.mail.model).reading.described()["first"] == 1
    assert SavedModel(fitted.sparse.model).reading.described()["first"] == 0


def test_it_does_without_scikit_learn(python, fitted):
    program = (
        "import sys; from ramodo.serving import SavedModel; SavedModel(sys.argv[1]).score_rows([{}]); "
        "print(sorted({'sklearn', 'typer', 'starlette'} & set(sys.modules)))"
    )
    assert python(program, fitted.mail.model).strip() == "[]"


def test_percentiles_and_flags(fitted):
    model = SavedModel(fitted.visits.model)
    found = model.score_rows(fitted.visits.rows)
    assert [answer["flag"] for answer in found] == [int(score >= model.threshold) for score in fitted.visits.scores]
    assert sum(answer["flag"] for answer in found) > 0
    assert np.argmax(scores_of(found)) == np.argmax([answer["percentile"] for answer in found])
