"""Text in CSV files that no spreadsheet computes."""

import pytest

from ramodo.files.spreadsheets import guard, unguard


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-2+3", "'-2+3"),
        ("\t=1", "'\t=1"),
        ("＝1+1", "'＝1+1"),
        ("-5", "-5"),
        ("+1e3", "+1e3"),
        ("-", "-"),
        ("GET /=1", "GET /=1"),
        ("", ""),
    ],
)
def test_no_spreadsheet_computes_text(text, shown):
    assert guard(text) == shown
    assert unguard(shown) == text


def test_text_that_is_quoted_already_stays_as_it_is():
    assert unguard("'hello'") == guard("'hello'") == "'hello'"
