"""Writes docs/options.md from the tables of options, flags and formats. `python docs/make_options.py`"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from pathlib import Path

import ramodo
from ramodo.cli.flags import ReadingToFit
from ramodo.formats import all_formats
from ramodo.formats.compression import COMPRESSED
from ramodo.options import OPTIONS, Option

PAGE = Path(__file__).parent / "options.md"

FACTS = ["flag", "default", "allowed", "in the paper", "meaning"]

TEXT = """# Options and formats

`python docs/make_options.py` makes this page from the tables that the code itself reads, and a test compares them.
Invalid values are refused before any work, with a message that says what is valid.

## Options of a detector

`REPEN` takes these by name, and so do its siblings; `Consensus` takes all but {others}.
Those with a flag are also options of `ramodo detect` and `ramodo fit`, if the `--method` has them, with the same
default unless another is given beside the flag.

{detectors}

## Options of single stages

{stages}

## Flags for reading data

`ramodo detect` and `ramodo fit` have all of these, and `ramodo convert`, which writes counts, all but `--idf`. A model
remembers them, for data that are scored later.

{reading}

## Formats

The suffix or `--format` decides. Text files may be compressed: {packings}. Formats that are read line by line can also
be scored from standard input as rows arrive.

{formats}
"""


def page() -> str:
    """The text of the page."""
    own = inspect.signature(ramodo.REPEN).parameters
    others = [f"`{name}`" for name in own if name not in inspect.signature(ramodo.Consensus).parameters]
    return TEXT.format(
        others=", ".join(others),
        detectors=_options(option for option in OPTIONS if option.name in own),
        stages=_stages(option for option in OPTIONS if option.name not in own),
        reading=_reading(),
        packings=", ".join(COMPRESSED),
        formats=_formats(),
    )


def _table(*rows: Iterable[str]) -> str:
    header, *others = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [header, ["---"] * len(header), *others])


def _options(options: Iterable[Option]) -> str:
    rows = [[f"`{option.name}`", *_facts(option)] for option in options]
    return _table(["option", *FACTS], *rows)


def _stages(options: Iterable[Option]) -> str:
    rows = [[f"`{option.name}`", _owners(option), *_facts(option)] for option in options]
    return _table(["option", "of", *FACTS], *rows)


def _facts(option: Option) -> list[str]:
    return [_flag(option), f"`{option.default!r}`", option.in_words, option.paper, _meaning(option)]


def _owners(option: Option) -> str:
    """Public classes that have the option."""
    public = [getattr(ramodo, name) for name in ramodo.__all__]
    owners = [kind for kind in public if inspect.isclass(kind) and option.name in inspect.signature(kind).parameters]
    return ", ".join(f"`{kind.__name__}`" for kind in owners)


def _flag(option: Option) -> str:
    if option.flag is None:
        return ""
    other = option.flag_default != option.default and option.flag_default is not None
    return f"`{option.flag.name}`" + (f" ({option.flag_default})" if other else "")


def _meaning(option: Option) -> str:
    """With what the flag does, where that is not the same."""
    if option.flag is None or option.flag.help is None:
        return option.meaning
    return f"{option.meaning} `{option.flag.name}`: {option.flag.help}"


def _reading() -> str:
    rows = []
    for parameter in ReadingToFit.flags():
        ((told,),) = [parameter.annotation.__metadata__]
        on = told.default.partition("/")[0]  # of a flag that is on unless it is turned off
        shown = on if parameter.default is True else parameter.default
        default = "" if parameter.default in (None, False) else f"`{shown}`"
        rows.append([f"`{told.default}`", default, told.help])
    return _table(["flag", "default", "meaning"], *rows)


def _formats() -> str:
    rows = [
        [
            f"`{format.name}`",
            " ".join(format.suffixes),
            format.meaning,
            ", ".join(f"`--{name}`" for name in format.columns),
            "yes" if format.of_stream else "",
        ]
        for format in all_formats()
    ]
    return _table(["format", "suffixes", "what it is", "columns to name", "scored as it comes"], *rows)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
