"""Logs: what their lines are, what is read of them, events of several lines, and what is found in them."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ramodo import Consensus
from ramodo.formats import FormatError, Schema, TextOptions, read
from ramodo.formats.line_reading import reader_of
from ramodo.formats.log_lines import KINDS, recognised

LINES = {
    "access": '203.0.113.7 - - [02/Mar/2026:09:14:05 +0000] "GET /cart?id=17 HTTP/1.1" 200 512 "-" "Mozilla/5.0"',
    "request": "GET http://shop.example:8080/cart.jsp?id=17 HTTP/1.1",
    "syslog": "Dec 10 06:55:46 host sshd[24200]: Invalid user webmaster from 173.234.31.186",
    "syslog-5424": "<34>1 2026-03-02T09:14:05.003Z host app 17 ID47 - disk full",
    "apache-error": "[Sun Dec 04 04:47:44 2005] [error] [client 10.0.0.7] Directory index forbidden",
    "nginx-error": "2026/03/02 09:14:05 [error] 17#0: *1 open() failed",
    "dated": "2026-03-02 09:14:05,123 INFO [main] started 3 workers",
    "numbered": "1117838570 2005.06.03 R02-M1-N0 RAS KERNEL INFO parity error corrected",
    "indented": "  level=info msg=started workers=3",
    "any": "level=info msg=started workers=3",
}
READ = {
    "access": "GET /cart?id=00 HTTP/0.0 000",
    "request": "GET http://shop.example:0000/cart.jsp?id=00 HTTP/0.0",
    "syslog": "sshd[00000]: Invalid user webmaster from <ip>",
    "syslog-5424": "app 00 ID00 - disk full",
    "apache-error": "[error] [client <ip>] Directory index forbidden",
    "nginx-error": "[error] 00#0: *0 open() failed",
    "dated": "INFO [main] started 0 workers",
    "numbered": "RAS KERNEL INFO parity error corrected",
    "indented": "  level=info msg=started workers=0",
    "any": "level=info msg=started workers=0",
}


def _written(folder: Path, lines: list[str], name: str = "x.log") -> str:
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.mark.parametrize("kind", KINDS)
def test_lines_tell_what_they_are_and_what_is_read_of_them(kind: str, tmp_path: Path) -> None:
    assert recognised([LINES[kind]] * 9 + ["something else"]).name == kind
    table = read(_written(tmp_path, [LINES[kind]] * 12))
    assert table.schema.tokens.lines == kind
    assert table.notes[0] == KINDS[kind].note()
    reader = reader_of(table.schema.tokens)
    assert reader is not None
    assert reader.text(LINES[kind]) == READ[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_each_character_that_is_read_knows_what_it_stands_for(kind: str) -> None:
    reader = reader_of(TextOptions(lines=kind, open=("user", "index")))
    assert reader is not None
    line = LINES[kind]
    found = reader(line)
    assert found.text == reader.text(line)
    assert len(found.begins) == len(found.ends) == len(found.text)
    for character, begin, end in zip(found.text, found.begins.tolist(), found.ends.tolist(), strict=True):
        given = line[begin:end]
        assert 0 <= begin < end <= len(line)
        assert given == character or character == " " or given[0].isalnum()  # masked, or between two parts


def test_half_of_the_lines_of_another_kind_make_no_kind() -> None:
    assert recognised([LINES["access"], LINES["syslog"]] * 10).name == "any"


def test_values_that_are_new_nearly_each_time_are_masked_by_their_place(tmp_path: Path) -> None:
    rng = random.Random(0)
    names = ["".join(rng.choices("abcdefghij", k=6)) for _ in range(60)]
    lines = [f"GET /cart?name={name}&step=pay HTTP/1.1" for name in names]
    table = read(_written(tmp_path, lines))
    assert table.schema.tokens.open == ("name=",)
    assert (table.X[[0] * 60] != table.X).nnz == 0
    again = read(_written(tmp_path, ["GET /cart?name=zz&step=pay HTTP/1.1"], "y.log"), schema=table.schema)
    assert (table.X[[0]] != again.X).nnz == 0
    assert read(_written(tmp_path, lines), schema=Schema(tokens=TextOptions(masks=("none",)))).schema.tokens.open == ()


OPEN_VALUES = {
    "GET /a?name=Ana%F1a+de%20la+O&step=pay": "GET /a?name=<any>&step=pay",
    "GET /a?name=Zoe&step=pay": "GET /a?name=<any>&step=pay",
    "GET /a?name=%27+or+1%3D1--&step=pay": "GET /a?name=%27+<any>%3D<any>--&step=pay",
    "GET /a?name=<script>x&step=pay": "GET /a?name=<<any>><any>&step=pay",
    "GET /a?name=&step=pay": "GET /a?name=&step=pay",
    "GET /a?nameA=Zoe&step=pay": "GET /a?nameA=Zoe&step=pay",
}


@pytest.mark.parametrize("line", OPEN_VALUES)
def test_of_a_value_that_is_new_nearly_each_time_other_characters_speak(line: str) -> None:
    reader = reader_of(TextOptions(lines="request", open=("name=",)))
    assert reader is not None
    assert reader.text(line) == OPEN_VALUES[line]
    assert reader(line).text == OPEN_VALUES[line]


def test_paths_are_one_word_in_messages_and_several_where_they_are_asked_for(tmp_path: Path) -> None:
    rng = random.Random(0)
    paths = ["/".join(["", *("".join(rng.choices("abcdefghij", k=5)) for _ in range(3))]) for _ in range(60)]
    lines = [f"2026-03-02 09:14:05 Error loading {path}: no such file" for path in paths]
    table = read(_written(tmp_path, lines))
    assert table.schema.tokens.open == ("loading",)
    assert (table.X[[0] * 60] != table.X).nnz == 0
    asked = read(_written(tmp_path, [f"GET {path} HTTP/1.1" for path in paths], "y.log"))
    assert (asked.X[[0] * 60] != asked.X).nnz > 0


def test_stack_traces_and_blank_lines_are_no_rows_of_their_own(tmp_path: Path) -> None:
    lines = [
        "2026-03-02 09:14:05 INFO started",
        "",
        "2026-03-02 09:14:06 ERROR failed",
        "java.lang.IllegalStateException: no such shard",
        "    at a.b.C.d(C.java:17)",
        "Caused by: java.io.IOException: gone",
        "    ... 12 more",
        "2026-03-02 09:14:07 INFO stopped",
    ]
    table = read(_written(tmp_path, lines))
    assert table.ids == ["0", "2", "7"]
    assert table.texts is not None
    assert table.texts[1] == "\n".join(lines[2:7])


EVENTS = {
    "a statement without a time": [
        "2026-03-02 09:14:05 INFO slow query:\nSELECT *\nFROM orders\nWHERE id = 7",
        "2026-03-02 09:14:07 INFO done",
    ],
    "a trace of Python": [
        'ERROR:root:failed\nTraceback (most recent call last):\n  File "a.py", line 3, in f\n    g()\nKeyError: 7\n'
        "During handling of the above exception, another exception occurred:\nTraceback (most recent call last):\n"
        '  File "a.py", line 5, in f\n    raise Stop\na.Stop: no more',
        "INFO:root:started",
        "ValueError: this is a message",
    ],
    "traces alone": [
        'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    g()\nKeyError: 7',
        'Traceback (most recent call last):\n  File "b.py", line 9, in h\n    g()\nKeyError: 8',
    ],
    "traces of Java": [
        "ERROR no answer\njava.io.IOException: gone\n\tat a.b.C.d(C.java:17)\nCaused by: a.b.Refused\n\t... 12 more",
        "java.io.IOException: gone\n\tat a.b.C.d(C.java:17)",
        "INFO started",
    ],
    "values below their heading": ["request:\n  path: /cart\n  user: ann", "request:\n  path: /pay"],
    "indented lines that are events": ["   17 accepted", "   18 refused", "   19 accepted", "total"],
}


@pytest.mark.parametrize("what", EVENTS)
def test_lines_that_go_on_belong_to_the_event_before(what: str, tmp_path: Path) -> None:
    given = "\n".join(EVENTS[what]).split("\n")
    table = read(_written(tmp_path, given))
    assert table.texts == EVENTS[what]
    begins = np.cumsum([0, *(event.count("\n") + 1 for event in EVENTS[what])])[:-1]
    assert [given[int(table.id_of(row))] for row in range(len(EVENTS[what]))] == [given[begin] for begin in begins]


def test_two_logs_in_one_file_are_not_events_of_the_first(tmp_path: Path) -> None:
    lines = [LINES["dated"], LINES["access"]] * 20
    assert len(read(_written(tmp_path, lines)).texts or ()) == 40


def test_a_pattern_may_say_where_events_begin(tmp_path: Path) -> None:
    table = read(_written(tmp_path, ["# 1", "a", "b", "# 2", "c"]), schema=Schema(multiline="^#"))
    assert table.texts == ["# 1\na\nb", "# 2\nc"]


def test_masks_that_are_no_patterns_are_refused(tmp_path: Path) -> None:
    path = _written(tmp_path, [LINES["any"]] * 3)
    for pattern in ("(", "a*", "(?P<x>a)"):
        with pytest.raises(FormatError, match="a mask must"):
            read(path, schema=Schema(tokens=TextOptions(masks=(pattern,))))


def test_a_schema_with_an_unknown_kind_of_lines_or_a_bad_mask_is_refused() -> None:
    assert TextOptions(lines="access", masks=("auto",)).is_sound
    assert not TextOptions(lines="other").is_sound
    assert not TextOptions(lines="access", masks=("(",)).is_sound


def test_an_empty_log_has_no_lines(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="has no lines"):
        read(_written(tmp_path, ["", " "]))


def _access(rng: random.Random, request: str, status: int = 200) -> str:
    client = ".".join(str(rng.randrange(256)) for _ in range(4))
    clock = f"{rng.randrange(24):02}:{rng.randrange(60):02}:{rng.randrange(60):02}"
    size = rng.randrange(100, 90_000)
    return f'{client} - - [02/Mar/2026:{clock} +0000] "{request} HTTP/1.1" {status} {size} "-" "Mozilla/5.0"'


def test_attacks_come_first_and_what_repeats_is_no_attack(tmp_path: Path) -> None:
    rng = random.Random(1)
    pages = [f"/shop/{word}" for word in ("cart", "pay", "item?id=17", "search?q=blue+shoes", "help", "img/logo.png")]
    lines = [_access(rng, f"GET {rng.choice(pages)}") for _ in range(600)]
    lines += [_access(rng, "GET /health")] * 300
    attacks = [
        "/item?id=1%27%20OR%201=1--",
        "/../../../etc/passwd",
        "/cgi-bin/test.cgi?x=%3Cscript%3Ealert(1)%3C/script%3E",
    ]
    lines += [_access(rng, f"GET {attack}", 404) for attack in attacks]
    table = read(_written(tmp_path, lines))
    scores = Consensus(copies="root", random_state=0).fit(table.X).outlier_scores_
    assert set(np.argsort(-scores)[:3].tolist()) == {900, 901, 902}
    assert scores[600:900].max() < np.median(scores[900:])


def test_a_stream_is_read_as_the_model_was(tmp_path: Path) -> None:
    from ramodo.formats import format_named, read_lines
    from ramodo.formats.format import How

    table = read(_written(tmp_path, [LINES["syslog"]] * 5))
    block = f"{LINES['syslog']}\n\n{LINES['syslog']}\n".encode()
    found = read_lines(format_named("log"), "-", block, 10, How(schema=table.schema, n_features=table.X.shape[1]))
    assert found.ids == ["10", "12"]
    assert (found.X[[0]] != table.X[[0]]).nnz == 0
    assert replace(found.schema, suffix=".log") == table.schema


def test_a_model_of_whole_lines_reads_whole_lines(tmp_path: Path) -> None:
    lines = [LINES["syslog"], "", LINES["access"]]
    table = read(_written(tmp_path, lines), "text")
    again = read(_written(tmp_path, lines), schema=table.schema, frequencies=table.frequencies)
    assert again.texts == lines
    assert (again.X != table.X).nnz == 0
