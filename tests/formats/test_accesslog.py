"""Logs of web servers: what each line says, lines that say something else, and what becomes of the columns."""

from datetime import datetime

import numpy as np
import pytest

from ramodo.datasets import make_access_log
from ramodo.formats import FormatError, Schema, read
from ramodo.formats.accesslog import parse

COMMON = '127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326'
COMBINED = COMMON + ' "http://www.example.com/start.html" "Mozilla/4.08 [en] (Win98; I)"'


def test_the_common_format():
    assert parse(COMMON) == ("GET", "/apache_pb.gif", "200", 2326, "", "", datetime(2000, 10, 10, 13, 55, 36))


def test_the_combined_format():
    found = parse(COMBINED)
    assert found.referrer == "http://www.example.com/start.html"
    assert found.agent == "Mozilla/4.08 [en] (Win98; I)"


@pytest.mark.parametrize(
    ("line", "path", "agent"),
    [
        (COMBINED.replace("/apache_pb.gif", r"/a\"b"), r"/a\"b", "Mozilla/4.08 [en] (Win98; I)"),
        (
            COMBINED.replace("GET /apache_pb.gif HTTP/1.0", r"\x16\x03\x01"),
            r"\x16\x03\x01",
            "Mozilla/4.08 [en] (Win98; I)",
        ),
        (COMBINED + ' "10.0.0.1" 0.003', "/apache_pb.gif", "Mozilla/4.08 [en] (Win98; I)"),
        (COMMON.replace("2326", "-") + ' "-" "-"', "/apache_pb.gif", ""),
        ("www.example.com:443 " + COMBINED, "/apache_pb.gif", "Mozilla/4.08 [en] (Win98; I)"),
        (COMMON.replace("127.0.0.1", "::1"), "/apache_pb.gif", ""),
    ],
    ids=["quotes", "no HTTP", "more behind", "nothing given", "host before", "IPv6"],
)
def test_lines_as_servers_write_them(line, path, agent):
    found = parse(line)
    assert (found.path, found.agent) == (path, agent)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "hello",
        COMMON.replace("Oct", "Okt"),
        COMMON.replace("10/Oct", "99/Oct"),
        COMMON[:60],
        '"' * 5000,
        "\\" * 5000,
    ],
)
def test_other_lines_are_none(line):
    assert parse(line) is None


def written(path, lines):
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_columns_of_a_log(tmp_path):
    log = make_access_log(200, 10, random_state=0)
    table = read(written(tmp_path / "a.log", log.lines), "accesslog", schema=Schema(scale="auto"))
    assert table.X.shape == (200, 3 * 2**22 + len(table.names))
    assert list(table.fields) == ["path", "referrer", "agent"]
    assert {"method=GET", "status=200", "size", "time hour (sine)"} <= set(table.names)
    assert table.texts == log.lines
    assert table.ids is None
    assert [parse(line).path for line in log.lines] == table.fields["path"]


def test_columns_can_be_left_out(tmp_path):
    path = written(tmp_path / "a.log", make_access_log(50, 2, random_state=0).lines)
    table = read(path, "accesslog", schema=Schema(ignore=["time", "agent"]))
    assert list(table.fields) == ["path", "referrer"]
    assert not any(name.startswith("time") for name in table.names)


def test_a_few_lines_that_are_no_requests_are_told_and_skipped(tmp_path):
    lines = make_access_log(100, 2, random_state=0).lines
    lines[3:3] = ["-- rotated --", ""]
    table = read(written(tmp_path / "a.log", lines), "accesslog")
    assert table.X.shape[0] == 100
    assert table.skipped == 1
    assert table.ids[:5] == ["0", "1", "2", "5", "6"]
    assert table.notes == ["1 line is not a request and was left out: line 4: '-- rotated --'."]


def test_many_such_lines_are_another_format(tmp_path):
    lines = [*make_access_log(50, 2, random_state=0).lines, *["level=info msg=started"] * 30]
    with pytest.raises(
        FormatError, match=r"line 51: a request was expected.*found 'level=info msg=started', and 29 more"
    ):
        read(written(tmp_path / "a.log", lines), "accesslog")


def test_a_line_without_an_end_does_not_take_forever():
    line = COMMON[:-4] + '"' + "\\a" * 20_000
    assert parse(line) is None or np.isfinite(parse(line).size)
