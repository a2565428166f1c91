"""Read the data of a command by its flags, or with the columns of a model."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from .. import threads
from ..formats import (
    FORMATS,
    Format,
    FormatError,
    How,
    Schema,
    Table,
    TextOptions,
    all_formats,
    format_named,
    format_of,
    read_as,
)
from ..formats.byte_streams import suffix_of
from ..formats.dialect import delimiter_named
from ..formats.masking import Masks, MasksError
from ..formats.schema import MISSING, SCALES, SessionOptions
from ..formats.sessions import pattern_of
from ..options import OptionError, option_error, option_named
from .console import bar, note
from .flags import Reading

if TYPE_CHECKING:
    from ..model.fitted import FittedDetector

_UNITS = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
"""Seconds in each unit of a window."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """How a command reads data.

    schema : the schema that the flags ask for, or that of a model's data
    format : that of these data, if known
    detector : the model whose columns the data must have, if any
    chooses_scale, chooses_missing : whether to scale numbers, and take missing values, as is usual for the format
    optional : columns of the schema that these data may lack
    beside : columns to pass on unchanged
    """

    schema: Schema
    format: str | None = None
    detector: FittedDetector | None = None
    chooses_scale: bool = False
    chooses_missing: bool = False
    optional: Collection[str] = ()
    beside: Sequence[str] = ()

    @classmethod
    def asked(cls, reading: Reading) -> Self:
        """Return the source for the flags of a command."""
        given = asdict(reading)
        for name, allowed in (("format", FORMATS), ("missing", MISSING), ("scale", SCALES)):
            if given.get(name) not in (None, *allowed):
                raise OptionError(f"--{name} must be one of {', '.join(allowed)}, got {given[name]!r}.")
        if given["delimiter"] is not None:
            delimiter_named(given["delimiter"])
        ranges = {name: _range(f"--{name}", given[name]) for name in ("words", "characters")}
        if not any(last for _, last in ranges.values()):
            raise OptionError(
                "--words or --characters must be above 0, got 0 for both, which leaves nothing of a text."
            )
        given |= {"idf": given.get("idf", False), **ranges}
        masks = _masks(given.pop("mask"))
        asked = {each.name: given.pop(each.name) for each in fields(TextOptions) if each.name in given}
        tokens = TextOptions(**asked, masks=masks)
        if given["multiline"] is not None:
            _compiled("--multiline", given["multiline"])
        by, window = given.pop("group_by", None), given.pop("window", None)
        if by is not None or window is not None:
            given["sessions"] = _sessions(by, window, given["format"])
            given["format"] = "sessions"
        format, chooses_scale = given.pop("format"), given.get("scale", "none") is None
        known = {name: value for name, value in given.items() if value is not None}
        return cls(
            schema=Schema(**known, tokens=tokens),
            format=format,
            chooses_scale=chooses_scale,
            chooses_missing="missing" not in known,
        )

    @classmethod
    def of_model(cls, detector: FittedDetector, format: str | None, id: str | None, label: str | None = None) -> Self:
        """Return how to read data like a model's; ids and labels may be in other columns."""
        schema = Schema.of_model(detector)
        optional = schema.unneeded if label is None else schema.ignore
        schema = replace(schema, id=id or schema.id, label=label or schema.label)
        return cls(schema=schema, format=format, detector=detector, optional=optional)

    def schema_for(self, kind: Format) -> Schema:
        """The schema for a format."""
        chooses = self.chooses_scale and (kind.is_table or kind.are_genes)
        found = replace(self.schema, scale="auto") if chooses else self.schema
        return replace(found, missing="indicator") if self.chooses_missing and kind.lacks_keys else found

    def how(self, kind: Format, n_threads: int) -> How:
        """Return the arguments of a format's reader."""
        frequencies, n_features = None, None
        if self.detector is not None:
            frequencies, n_features = self.detector.document_frequencies_, self.detector.n_features_in_
        return How(
            schema=self.schema_for(kind),
            frequencies=frequencies,
            n_features=n_features,
            optional=self.optional,
            beside=self.beside,
            n_threads=n_threads,
            leaves_out=self.detector is None,
        )

    def for_path(self, path: str) -> Self:
        """Return this source with the format of the model's data, unless the file has another."""
        if self.format is not None or self.detector is None or (path != "-" and suffix_of(path) != self.schema.suffix):
            return self
        return replace(self, format=self.schema.format)

    def format_at(self, path: str) -> Format:
        """Return the format of a file."""
        try:
            return format_named(format_of(path, self.format))
        except FormatError:
            if self.format is None and path != "-" and not Path(path).exists():  # a missing file is the better message
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path) from None
            raise

    def refuse_flags(self, path: str) -> None:
        """Raise for flags that do not apply to a file of this format."""
        kind, schema = self.format_at(path), self.schema
        learned = Schema() if self.detector is None else Schema.of_model(self.detector)
        for option in ("id", "label", "text", "ignore"):
            given, known = getattr(schema, option), getattr(learned, option)
            if not given or given == known or option in kind.columns:
                continue
            name = given if isinstance(given, str) else given[0]
            formats = ", ".join(other.name for other in all_formats() if option in other.columns)
            raise OptionError(
                f"--{option} must be a column of {formats}, got {name!r} for {path}, which is read as {kind.name}."
            )
        if self.detector is None:
            _refuse_of_genes(path, kind, schema)
        if self.detector is None and schema.scale != "none" and kind.has_documents and not kind.is_table:
            raise OptionError(
                f"--scale must be none, since {path} is read as {kind.name}, which has no numbers, got {schema.scale}."
            )

    def refuse_unweighed(self, path: str) -> None:
        """Raise if a model weights tokens and the data are not documents: counts and weights look alike."""
        kind = self.format_at(path)
        weighs = self.detector is not None and self.detector.document_frequencies_ is not None
        if weighs and not kind.has_documents and (not self.schema.text or "text" not in kind.columns):
            name = "standard input" if path == "-" else path
            raise FormatError(
                f"{name} must be documents, since the model weights the tokens of text, got {kind.name}. A model "
                "fitted with --no-idf takes other data."
            )

    def read(self, path: str, n_threads: int, quiet: bool = True) -> Table:
        """Read the whole file, with the columns of the model, if any; show a bar and notes unless quiet."""
        source, schema = self.for_path(path), self.schema
        source.refuse_flags(path)
        kind = source.format_at(path)
        if self.detector is not None and kind.names_rows:
            named = (schema.id, schema.label, *schema.text, *schema.ignore)
            source = replace(source, optional=[name for name in named if name is not None])
        progress = bar("reading", "MB", quiet)
        how = replace(source.how(kind, n_threads), show=progress.show if progress.visible else None)
        table = read_as(kind, path, how)
        progress.clear()
        source.refuse_unweighed(path)
        for text in table.notes:
            note(f"note: {text}", quiet)
        return table


def _refuse_of_genes(path: str, kind: Format, schema: Schema) -> None:
    """Raise for flags of tables and .h5ad files where the file is neither."""
    both = {"transpose": schema.transpose, "top-variable": schema.top_variable, "within": schema.within}
    asked = {"layer": schema.layer} | ({} if kind.is_table else both)
    for option, value in () if kind.are_genes else asked.items():
        if value:
            formats = ".h5ad files" if option == "layer" else "tables and .h5ad files"
            raise OptionError(f"--{option} is for {formats}, and {path} is read as {kind.name}.")


def _sessions(by: str | None, window: str | None, format: str | None) -> SessionOptions:
    """Return how lines are grouped into rows."""
    if by is None:
        raise OptionError("--window needs --group-by, the field that the lines of a session share: --group-by client.")
    if format not in (None, "log", "text", "accesslog", "jsonl", "sessions"):
        raise OptionError(f"--format must be text or jsonl with --group-by, got {format}.")
    pattern_of(by)
    return SessionOptions(by, None if window is None else _seconds(window))


def _seconds(window: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", window)
    seconds = 0.0 if found is None else float(found[1]) * _UNITS[found[2]]
    if not 0 < seconds < 1e9:
        raise OptionError(f"--window must be a time such as 30s, 5m, 2h or 1d, got {window!r}.")
    return seconds


def _masks(given: Sequence[str] | None) -> tuple[str, ...]:
    """Return the masks that `--mask` asks for: types or none, and patterns in addition to the types."""
    if not given:
        return ()
    try:
        Masks.asked(given)
    except MasksError as error:
        raise OptionError(f"--mask: {error}") from None
    return tuple(given)


def _compiled(name: str, pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise option_error(name, "a regular expression", f"{pattern!r}: {error}") from None


def _range(name: str, given: str) -> tuple[int, int]:
    first, _, last = given.partition("-")
    try:
        low, high = int(first), int(last or first)
    except ValueError:
        low, high = 1, 0
    if not (0 <= low <= high <= 16) or (low == 0) != (high == 0):
        raise OptionError(f"{name} must be a range up to 16 such as 1-2, or 0 for none, got {given!r}.")
    return low, high


def threads_of(given: int | None) -> int:
    """Return the requested number of threads, or all cores."""
    return threads.n_threads(-1 if given is None else option_named("n_jobs").of_flag(given))
