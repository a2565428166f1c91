"""Each measured number on a page is the one in docs/numbers.toml, which names the command that prints it."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILE = tomllib.loads((ROOT / "docs" / "numbers.toml").read_text(encoding="utf-8"))
ABOUT = ("command", "version", "runs")
GENERATED = {"experiments.md"}  # by a command, from its own JSON files
PAGES = [ROOT / "README.md", *[page for page in sorted((ROOT / "docs").glob("*.md")) if page.name not in GENERATED]]

NUMBER = re.compile(r"(?<![\w.,/=(-])\(?(\.\d{2,}(?: ± \.\d+)?|\d[\d.,]* (?:s|x)\b(?! \d))")
"""What is taken for a measurement: a decimal such as .91, or a number of seconds or times."""

MARK = re.compile(r"(?P<before>[^|\n]*?)<!--(?P<key>[^>]*?)-->")
SCORE = re.compile(r"(\d?\.\d+)(?: ± (\.\d+))?")
MEASURED = "| what | measured |"


def forms(value):
    """The ways in which a page may write a value: as it is, or an AUC rounded, with its deviation or without."""
    found = {value}
    score = SCORE.fullmatch(value)
    if score:
        for digits in range(2, len(score[1].split(".")[1]) + 1):
            mean, deviation = (f"{float(text or 0):.{digits}f}".removeprefix("0") for text in score.groups())
            found |= {mean, f"{mean} ± {deviation}"} if score[2] else {mean}
    return found


def entry(key):
    group, _, rest = key.partition(".")
    row, _, column = rest.partition(".")
    return FILE[group][row][column]


def without_number(text, key):
    """A text without the number at its end that a mark names; None where it ends with another one."""
    if key.startswith("table:"):
        return text
    allowed = [r"\.\d+"] if key == "paper" else [re.escape(form) for form in forms(entry(key))]
    found = re.search(rf"(?:^|(?<=[^\w.]))(?:{'|'.join(sorted(allowed, key=len, reverse=True))})$", text)
    return text[: found.start()] if found else None


def wrong_marks(text):
    """The marked numbers of a text that are not those of the file."""
    marks = [(found["before"], found["key"]) for found in MARK.finditer(text)]
    return [(before[-30:], key) for before, key in marks if without_number(before, key) is None]


def unmarked(text):
    """Measurements without a mark."""
    rest = MARK.sub(lambda found: without_number(found["before"], found["key"]) or "", text)
    return [found[1] for found in NUMBER.finditer(re.sub(r"`[^`\n]*`", "", rest))]


def tables(text):
    """Name, header and rows of each table that is marked as one of the file."""
    for name, table in re.findall(r"<!--table:(\w+)-->\n+((?:\|.*\n)+)", text):
        header, _, *rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in table.splitlines()]
        yield name, header, rows


def prose(text):
    """A page without code and without tables, but for marked cells of the table of all measurements."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    return "\n".join(line for line in text.splitlines() if not line.startswith("|"))


def measured_rows(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    start = text.index(MEASURED)
    return [line for line in text[start : text.index("\n\n", start)].splitlines()[2:] if line]


def test_every_group_of_numbers_says_what_printed_it():
    for name, group in FILE.items():
        assert all(isinstance(group.get(field), str) and group[field] for field in ABOUT), name
        rows = {row: numbers for row, numbers in group.items() if row not in ABOUT}
        assert rows, name
        assert all(isinstance(value, str) and value for numbers in rows.values() for value in numbers.values()), name


@pytest.mark.parametrize("name", FILE)
def test_the_command_of_each_group_exists(name):
    target = re.fullmatch(r"make bench-(\w+)", FILE[name]["command"])
    if target:
        assert (ROOT / "benchmarks" / f"{target[1]}.py").is_file()
    else:
        assert FILE[name]["command"].startswith("ramodo experiments ")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_marked_numbers_are_those_of_the_file(page):
    assert wrong_marks(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_measurement_in_prose_is_without_a_mark(page):
    assert unmarked(prose(page.read_text(encoding="utf-8"))) == []


ALL_MEASURED = measured_rows("docs/benchmarks.md")


def test_the_readme_shows_five_of_all_measurements():
    shown = measured_rows("README.md")
    assert len(shown) == 5
    assert set(shown) <= set(ALL_MEASURED)


@pytest.mark.parametrize("row", ALL_MEASURED, ids=lambda row: row.split("|")[1].strip()[:40])
def test_each_measurement_is_marked_and_names_its_command(row):
    *cells, command = [cell.strip() for cell in row.strip("|").split("|")]
    keys = [key for cell in cells for key in re.findall(r"<!--(.*?)-->", cell) if key != "paper"]
    assert keys
    assert {FILE[key.partition(".")[0]]["command"] for key in keys} == {command.strip("`")}
    assert [found for cell in cells for found in unmarked(cell)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_tables_are_those_of_the_file(page):
    for name, header, rows in tables(page.read_text(encoding="utf-8")):
        group = {row: numbers for row, numbers in FILE[name].items() if row not in ABOUT}
        columns = list(next(iter(group.values())))
        named = len(header) - len(columns)  # the cells that name a row
        assert header[named:] == columns
        assert {" ".join(row[:named]): dict(zip(columns, row[named:], strict=True)) for row in rows} == group


def test_a_page_that_disagrees_is_noticed():
    assert wrong_marks("AUC .91<!--accuracy.R8.REPEN-->, .909 ± .003<!--accuracy.R8.REPEN-->") == []
    assert [key for _, key in wrong_marks("AUC .92<!--accuracy.R8.REPEN-->")] == ["accuracy.R8.REPEN"]
    assert [key for _, key in wrong_marks("AUC .909 ± .004<!--accuracy.R8.REPEN-->")] == ["accuracy.R8.REPEN"]
    assert [key for _, key in wrong_marks("10.038 s<!--peers.AD_dedup.ramodo-->")] == ["peers.AD_dedup.ramodo"]
    assert unmarked("from .91 to 3.3 s<!--news20.News20.fit and score--> and 20 x") == [".91", "20 x"]
    with pytest.raises(KeyError):
        wrong_marks(".91<!--accuracy.R8.nothing-->")


def test_the_pages_that_hold_tables_hold_them():
    found = [name for page in PAGES for name, _, _ in tables(page.read_text(encoding="utf-8"))]
    assert sorted(found) == [
        "costs",
        "discoveries",
        "instances",
        "labels",
        "logs",
        "moved",
        "rankings",
        "scale",
        "suite_at_hand",
        "suite_new",
        "views",
    ]
