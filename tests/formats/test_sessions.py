"""Lines as sessions: which belong together, what is said of them, and how a model reads others."""

import numpy as np
import pytest

from ramodo.formats import FormatError, Schema, read
from ramodo.formats.schema import SessionOptions
from ramodo.formats.sessions import LACKS, NEVER, NEVER_LACKED

ORDINARY = ["opened {0}", "wrote 5 bytes to {0}", "closed {0}"]


def log(tmp_path, sessions, name="some.log"):
    """A log in which the lines of all sessions take turns."""
    lines, second = [], 0
    for place in range(max(map(len, sessions.values()))):
        for who, told in sessions.items():
            if place < len(told):
                second += 1
                clock = f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
                lines.append(f"2026-03-02 {clock} {told[place].format(who)}")
    path = tmp_path / name
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def sessions(path, by="user", window=None, like=None):
    schema = Schema(sessions=SessionOptions(by, window)) if like is None else like.schema
    return read(path, "sessions", schema=schema)


def said(table, name):
    row = table.X[[table.ids.index(name)]]
    return {table.schema.columns[0].values[column] for column in row.indices}


@pytest.fixture
def ordinary():
    return {f"user={number:02d}": ORDINARY for number in range(40)}


def test_what_few_sessions_have_is_said_and_what_most_have_is_not(tmp_path, ordinary):
    found = sessions(log(tmp_path, ordinary | {"user=odd": [*ORDINARY, "disk of {0} is full"]}))
    assert len(found.ids) == 41
    assert said(found, "00") == set()
    assert said(found, "odd") == {"disk of <custom> is full", "4 lines or more", "4 templates or more"}
    assert found.lines[found.ids.index("odd")][-1].endswith("disk of user=odd is full")


def test_what_most_sessions_have_is_missed(tmp_path, ordinary):
    found = sessions(log(tmp_path, ordinary | {"user=odd": ORDINARY[:2]}))
    assert said(found, "odd") == {f"{LACKS}closed <custom>"}


def test_a_model_knows_what_is_new(tmp_path, ordinary):
    fitted = sessions(log(tmp_path, ordinary))
    other = {"user=a": ORDINARY, "user=b": [*ORDINARY, "kernel panic of {0}"], "user=c": ORDINARY[1:]}
    found = sessions(log(tmp_path, other, "other.log"), like=fitted)
    assert [said(found, name) for name in "abc"] == [set(), {NEVER}, {NEVER_LACKED}]


def test_a_window_ends_a_session(tmp_path):
    path = tmp_path / "some.log"
    path.write_text("".join(f"2026-03-02 09:{minute:02d}:00 user=a pinged\n" for minute in range(0, 20, 2)))
    found = sessions(str(path), window=300.0)
    assert found.ids == [
        "a 2026-03-02 09:00:00",
        "a 2026-03-02 09:06:00 (2)",
        "a 2026-03-02 09:12:00 (3)",
        "a 2026-03-02 09:18:00 (4)",
    ]
    assert [len(lines) for lines in found.lines] == [3, 3, 3, 1]


FIELDS = {
    "key=value": ("user", "user=ann did it", "ann"),
    "quoted": ("user", 'user="ann" did it', "ann"),
    "json": ("user", '{"user": "ann", "n": 1}', "ann"),
    "number": ("EventID", '{"EventID":4624,"n":1}', "4624"),
    "client": ("client", "Invalid login from 10.0.0.7 port 5", "10.0.0.7"),
    "block": ("block", "Received block blk_-16 of size 5", "blk_-16"),
    "expression": (r"worker (\d+)", "worker 17 died", "17"),
}


@pytest.mark.parametrize(("by", "line", "name"), FIELDS.values(), ids=FIELDS)
def test_fields_by_which_lines_are_grouped(tmp_path, by, line, name):
    path = tmp_path / "some.log"
    path.write_text(f"{line}\n" * 3)
    assert sessions(str(path), by).ids == [name]


def test_a_line_about_several_blocks_belongs_to_each(tmp_path):
    path = tmp_path / "some.log"
    path.write_text("Received blk_1\nReceived blk_2\nask to delete blk_1 blk_2\n")
    found = sessions(str(path), "block")
    assert [len(lines) for lines in found.lines] == [2, 2]
    assert np.array_equal(found.X[[0]].indices, found.X[[1]].indices)


REFUSED = {
    "absent": ("host", None, "'host' was found in 0 of 3 lines; --group-by must name a field of most lines"),
    "expression": ("(", None, "--group-by must name a field or be a regular expression, got '('"),
    "times": ("user", 5.0, "--window needs lines with times, and most have none"),
}


@pytest.mark.parametrize(("by", "window", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_grouped_is_refused(tmp_path, by, window, message):
    path = tmp_path / "some.log"
    path.write_text("user=a\nuser=b\nuser=c\n")
    with pytest.raises(FormatError) as error:
        sessions(str(path), by, window)
    assert message in str(error.value)
