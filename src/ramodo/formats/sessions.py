"""A row for each session of a log: the lines that share a client, a block or a user, perhaps within a window of time.

Lines are masked and become templates. A template of most sessions says nothing about one of them, so a row has, as 1:

    the templates that few sessions have
    `lacks ...`: the templates that most sessions have and this one does not
    figures that few sessions reach: lines, distinct templates, lines a minute, share of errors
    `a template never seen before`, for a session that a model scores

The order and exact counts of templates are left out, because they caused most false alarms in the blocks of HDFS. The
schema keeps which templates are usual, and a model reads the sessions of other logs by it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from .event_lines import clients_of, times_of, windows_of
from .file_lines import lines_of
from .format import Format, How
from .masking import Masks
from .schema import Column, SessionOptions
from .table import FormatError, Table

NEVER, LACKS = "a template never seen before", "lacks "

NEVER_LACKED = f"{LACKS}a template that all sessions had"

_FEW, _FEWER = 0.05, 0.01
"""Maximum shares of sessions with a template, and with a figure, for it to be a feature."""

_BLOCK = r"blk_-?\d+"

_CLIENTS = ("client", "address", "ip")

_NAMES = {"block": _BLOCK, "block_id": _BLOCK, "blk": _BLOCK}

_REQUEST = re.compile(r'[^"]*"([A-Z]{3,20}) ([^" ?]*)[^"]*" (\d{3})')

_PATH = r"(?<![\w<])(?:/[\w.$+-]+){2,}"

_REPEATED = re.compile(r"(<\w+>)(?:[ ,;]+\1)+")

_ERROR = re.compile(
    r"\b(?:ERROR|WARN(?:ING)?|FATAL|SEVERE|CRIT(?:ICAL)?|ALERT|EMERG|[Ee]rrors?|[Ff]ail(?:ed|ures?)|\w*Exception)\b"
    r"|^[A-Z]{3,20} \S* [45]\d\d$"
)
"""Severe lines, and refused requests."""

_LEADING = re.compile(r"^(?:[^\w<]*<(?:time|number|ip)>[^\w<]*)+")
"""The time and the process in front of a line."""

_SHOWN = 200
"""Number of characters of a template in its name."""


class Session(NamedTuple):
    """The name of a session and the numbers of its lines."""

    name: str
    lines: list[int]


def read(path: str, how: How | None = None) -> Table:
    """Return a row for each session, in the order in which they begin; ids are the sessions' names."""
    how = how or How()
    options = how.schema.sessions
    if options is None:
        raise FormatError(f"{path}: sessions need the field that they share; give --group-by client.")
    given = [line for line in lines_of(path, how.show) if line.strip()]
    if not given:
        raise FormatError(f"{path} has no lines.")
    times = times_of(given)
    sessions = _sessions(path, given, times, options)
    template_of = _templates_by(options)
    templates = [template_of(line) for line in given]
    own = [{templates[number] for number in session.lines} for session in sessions]
    if not how.schema.columns:
        options = _learned(options, own)
    said = [
        {*_unusual(has, options), *_figures(session, has, templates, times)}
        for session, has in zip(sessions, own, strict=True)
    ]
    column = how.schema.column("event") or _column(said)
    schema = replace(how.schema, sessions=options, columns=(column,), plain=None)
    return Table(
        _matrix(said, column),
        ids=[session.name for session in sessions],
        schema=schema,
        lines=[[given[number] for number in session.lines] for session in sessions],
        notes=[f"{len(given):,} lines in {len(sessions):,} sessions, by {options.by}."],
    )


# ---- sessions --------------------------------------------------------------------------------------------------------


def _sessions(path: str, given: Sequence[str], times: np.ndarray | None, options: SessionOptions) -> list[Session]:
    if options.window is not None and times is None:
        raise FormatError(f"{path}: --window needs lines with times, and most have none; leave it out.")
    whose = list(map(tuple, _values(given, options.by)))
    numbers = [number for number, values in enumerate(whose) for _ in values]
    if len(set(numbers)) * 2 < len(given):
        raise FormatError(
            f"{path}: {options.by!r} was found in {len(set(numbers)):,} of {len(given):,} lines; --group-by must name "
            "a field of most lines: client, block, a key of key=value or JSON, or a regular expression."
        )
    values = [value for each in whose for value in each]
    codes = {value: code for code, value in enumerate(dict.fromkeys(values))}
    windows = windows_of((codes[value] for value in values), None if times is None else times[numbers], options.window)
    found: dict[tuple[str, int], list[int]] = {}
    for value, window, number in zip(values, windows.tolist(), numbers, strict=True):
        found.setdefault((value, window), []).append(number)
    return [Session(_name(pair, own, times, options), own) for pair, own in found.items()]


def _name(pair: tuple[str, int], own: list[int], times: np.ndarray | None, options: SessionOptions) -> str:
    who, number = pair
    if options.window is None or times is None:
        return who
    began = datetime.fromtimestamp(float(times[own[0]]), UTC)
    return f"{who} {began:%Y-%m-%d %H:%M:%S}{f' ({number + 1})' if number else ''}"


def _values(given: Iterable[str], by: str) -> Iterable[tuple[str, ...]]:
    """Yield the values of a field in each line, each once; a request to delete can name several blocks."""
    if by in _CLIENTS:
        return ((who,) if who is not None else () for who in clients_of(given))
    pattern = pattern_of(by)
    return (
        tuple(dict.fromkeys(found[-1] or found[0] for found in map(_groups, pattern.finditer(line)))) for line in given
    )


def _groups(found: re.Match[str]) -> tuple[str, ...]:
    return (found[0], *(group or "" for group in found.groups()[:1]))


def pattern_of(by: str) -> re.Pattern[str]:
    """Return a pattern for a field, given one of our names, a key of key=value or JSON, or a regular expression."""
    if by in _NAMES:
        return re.compile(_NAMES[by])
    if re.fullmatch(r"[\w.@-]+", by):
        return re.compile(rf"""(?<![\w.]){re.escape(by)}["']?\s*[=:]\s*["']?([^\s"',;&\]}})]+)""")
    try:
        return re.compile(by)
    except re.error as error:
        raise FormatError(f"--group-by must name a field or be a regular expression, got {by!r}: {error}.") from None


# ---- templates -------------------------------------------------------------------------------------------------------


def _templates_by(options: SessionOptions) -> Callable[[str], str]:
    """Return a function from a line to its template: method, path and status of a request, else the masked line."""
    own = [] if options.by in _CLIENTS else [re.sub(r"\((?!\?)", "(?:", pattern_of(options.by).pattern)]
    masks, requests = Masks([*own, _PATH]), Masks()

    def template(line: str) -> str:
        request = _REQUEST.match(line)
        if request is not None:
            return f"{request[1]} {requests.line(request[2])} {request[3]}"[:_SHOWN]
        return _REPEATED.sub(r"\1", _LEADING.sub("", masks.line(line)))[:_SHOWN]

    return template


def _learned(options: SessionOptions, own: Sequence[set[str]]) -> SessionOptions:
    """Learn which templates most sessions have, and which are neither rare nor rarely lacked."""
    counts, n = Counter(template for has in own for template in has), len(own)
    usual = tuple(sorted(template for template, count in counts.items() if 2 * count > n))
    common = [template for template, count in counts.items() if _FEW * n < count <= n / 2]
    common += [f"{LACKS}{template}" for template in usual if n - counts[template] > _FEW * n]
    return replace(options, usual=usual, common=tuple(sorted(common)))


def _unusual(has: set[str], options: SessionOptions) -> set[str]:
    """Return the templates that few sessions have, and usual ones that few lack."""
    usual = set(options.usual)
    return ((has - usual) | {f"{LACKS}{template}" for template in usual - has}) - set(options.common)


def _figures(session: Session, has: set[str], templates: Sequence[str], times: np.ndarray | None) -> set[str]:
    """Return every power of two that a figure reaches."""
    n = len(session.lines)
    found = {f"{2**power} lines or more" for power in range(1, n.bit_length())}
    found |= {f"{2**power} templates or more" for power in range(1, len(has).bit_length())}
    errors = sum(_is_error(templates[number]) for number in session.lines)
    found |= {f"{share} % errors or more" for share in (25, 50, 75, 100) if 100 * errors >= share * n and errors > 1}
    if times is not None and n > 1:
        own = times[session.lines]
        rate = int(60 * n / max(60.0, float(own.max() - own.min())))
        found |= {f"{2**power} lines a minute or more" for power in range(1, rate.bit_length())}
    return found


@cache
def _is_error(template: str) -> bool:
    return _ERROR.search(template) is not None


_FIGURE = re.compile(r"\d+ (?:lines|templates|% errors|lines a minute) or more")


def _column(said: Sequence[set[str]]) -> Column:
    """Return a column with a value for each unusual template or figure, and two for those of other sessions only."""
    figures = Counter(token for tokens in said for token in tokens if _FIGURE.fullmatch(token))
    usual = {figure for figure, count in figures.items() if count > max(1, _FEWER * len(said))}
    return Column(name="event", kind="set", values=tuple(sorted({NEVER, NEVER_LACKED}.union(*said) - usual)))


def _matrix(said: Sequence[set[str]], column: Column) -> sp.csr_array:
    place = {value: number for number, value in enumerate(column.values)}
    pairs = sorted({(row, place[name]) for row, tokens in enumerate(said) for name in _known(tokens, place)})
    rows, columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return sp.csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=(len(said), len(place)))


def _known(tokens: set[str], place: Mapping[str, int]) -> Iterator[str]:
    """Yield the tokens that a model knows, and one if there are unknown templates; unknown figures are skipped."""
    for token in tokens:
        if token in place:
            yield token
        elif not _FIGURE.fullmatch(token):
            yield NEVER_LACKED if token.startswith(LACKS) else NEVER


FORMATS = (
    Format(
        "sessions",
        (),
        "The lines of a log, grouped by `--group-by`: a row for each client, block or user.",
        read,
        names_rows=True,
        is_table=True,
    ),
)
