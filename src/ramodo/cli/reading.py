"""From the options of a command to a matrix, and from a model to the same columns in other data."""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from .. import threads
from ..formats import (
    FORMATS,
    Format,
    FormatError,
    How,
    Table,
    TableOptions,
    TextOptions,
    all_formats,
    format_named,
    format_of,
    read_as,
)
from ..formats.aligning import aligned, numbers_of, other_data
from ..formats.dialect import delimiter_named
from ..formats.frequencies import DocumentFrequencies
from ..formats.opening import suffixes_of
from ..formats.table import MISSING, SCALES, MissingValueError
from ..options import OptionError, option_named
from .console import bar, note
from .flags import Reading


@dataclass(frozen=True)
class Source(Reading):
    """How to read data, according to the command line, and what was found in the data of a model.

    idf : whether tokens of text are weighted; only when fitting a model, or with one that was fitted so
    scale : how numbers are scaled; None for the usual way with a format, and none where nothing is fitted
    of_model : columns that the model's data had; data in another format need not have them
    names : names of the model's features, or of its tokens if it has a vocabulary
    frequencies : document frequencies by which the model weights tokens
    beside : columns to hand out as they are
    weights : what it multiplies the tokens of each column of documents by
    """

    idf: bool = False
    scale: str | None = "none"
    scales: Mapping[str, Sequence[float]] | None = None
    dates: Mapping[str, int] | None = None
    weights: Sequence[float] = ()
    given: Sequence[str] = ()
    text_only: bool = False
    categories: Sequence[str] = ()
    means: Mapping[str, float] = field(default_factory=dict)
    optional: Sequence[str] = ()
    numbers: Collection[str] = ()
    of_model: Sequence[str] = ()
    names: Sequence[str] | None = None
    frequencies: DocumentFrequencies | None = None
    beside: Sequence[str] = ()

    @classmethod
    def asked(cls, reading: Reading) -> Self:
        """From the flags of a command."""
        return cls(**asdict(reading))

    def __post_init__(self) -> None:
        for name, given, allowed in (
            ("format", self.format, (None, *FORMATS)),
            ("missing", self.missing, MISSING),
            ("scale", self.scale, (None, *SCALES)),
        ):
            if given not in allowed:
                raise OptionError(f"--{name} {given!r} was given; allowed: {', '.join(filter(None, allowed))}.")
        texts = self.text_options()
        if texts.words[1] == texts.characters[1] == 0:
            raise OptionError(
                "--words 0 and --characters 0 were given, which leave nothing of a text; allowed: one of them."
            )

    def table_options(self, kind: Format) -> TableOptions:
        """Options for a table, or another matrix of this format."""
        return TableOptions(
            self.id,
            self.label,
            tuple(self.text or ()),
            tuple(self.ignore or ()),
            self.missing,
            self.categories,
            self.means,
            self.optional,
            self.numbers,
            self.text_only,
            ("auto" if kind.is_table else "none") if self.scale is None else self.scale,
            self.scales,
            self.dates,
            self.given,
            None if self.delimiter is None else delimiter_named(self.delimiter),
            self.header,
            self.beside,
        )

    def text_options(self) -> TextOptions:
        """Options for text."""
        words, characters = _range("--words", self.words), _range("--characters", self.characters)
        return TextOptions(words, characters, self.bits, self.vocabulary, self.idf)

    def how(self, kind: Format, n_threads: int) -> How:
        """The options for a format's reader."""
        return How(
            self.table_options(kind),
            self.text_options(),
            self.zero_based,
            names=self.names,
            frequencies=self.frequencies,
            weights=self.weights,
            n_threads=n_threads,
        )

    def format_at(self, path: str) -> Format:
        """The format of a file."""
        try:
            return format_named(format_of(path, self.format))
        except FormatError:
            if self.format is None and path != "-" and not Path(path).exists():  # which says more than its name
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path) from None
            raise

    def refuse_columns(self, path: str) -> None:
        """Raise if columns are named that a file of this format cannot have."""
        kind = self.format_at(path)
        for option in ("id", "label", "text", "ignore"):
            given = getattr(self, option)
            for name in [given] if isinstance(given, str) else given or []:
                if name in self.of_model or option in kind.columns:
                    continue
                allowed = ", ".join(other.name for other in all_formats() if option in other.columns)
                raise OptionError(
                    f"--{option} {name!r} was given, and {path} is read as {kind.name}, which has no such columns; "
                    f"allowed with it: {allowed}."
                )

    def refuse_flags(self, path: str) -> None:
        """Raise if something is asked for that a file of this format cannot do."""
        self.refuse_columns(path)
        kind = self.format_at(path)
        if self.scale not in (None, "none") and kind.has_documents and not kind.is_table:
            raise OptionError(
                f"--scale {self.scale} was given, and {path} is read as {kind.name}, which has no numbers; allowed "
                "with it: none."
            )

    def refuse_unweighed(self, path: str) -> None:
        """Raise where a model weighs tokens, and data are no documents: nobody can tell counts from weights."""
        kind = self.format_at(path)
        if self.frequencies is not None and not kind.has_documents and (not self.text or "text" not in kind.columns):
            raise FormatError(
                f"{path} is read as {kind.name}, and the model weighs the tokens of text; allowed: documents, or a "
                "model that was fitted with --no-idf."
            )

    def has_text(self, path: str) -> bool:
        """Whether rows are documents, or have some."""
        return bool(self.text) or self.format_at(path).has_documents

    def read(self, path: str, n_threads: int, quiet: bool = True) -> Table:
        """The whole file, with a bar and notes unless quiet."""
        self.refuse_flags(path)
        kind = self.format_at(path)
        progress = bar("reading", "MB", quiet)
        how = replace(self.how(kind, n_threads), show=progress.show if progress.visible else None)
        table = read_as(kind, path, how)
        progress.clear()
        for text in table.notes:
            note(f"note: {text}", quiet)
        return table

    def remembered(self, path: str, table: Table) -> dict[str, Any]:
        """What a model stores, so that similar data are read the same way."""
        kind = self.format_at(path)
        kept: dict[str, Any] = {
            "format": kind.name,
            "suffix": suffix_of(path),
            "id": self.id,
            "label": self.label,
            "text": list(self.text or ()),
        }
        kept |= {"ignore": list(self.ignore or ()), "missing": self.missing, "zero_based": self.zero_based}
        if table.zero_based is not None:
            kept["zero_based"] = table.zero_based
        kept |= {"categories": list(table.categories), "means": dict(table.means or {})}
        kept |= {"scale": self.table_options(kind).scale, "scales": {k: list(v) for k, v in table.scales.items()}}
        kept |= {
            "dates": dict(table.dates),
            "given": list(table.given),
            "delimiter": self.delimiter,
            "header": table.header,
        }
        if table.fields is not None:
            kept |= {"widths": list(table.widths), "weights": list(table.weights)}
            kept["columns"] = list(table.names or ())[sum(table.widths) - table.first_named :]
        if self.has_text(path):
            kept |= {"bits": self.bits, "words": self.words, "characters": self.characters}
            kept["vocabulary"] = self.vocabulary
        return kept


def _range(name: str, given: str) -> tuple[int, int]:
    first, _, last = given.partition("-")
    try:
        low, high = int(first), int(last or first)
    except ValueError:
        low, high = 1, 0
    if not (0 <= low <= high <= 16) or (low == 0) != (high == 0):
        raise OptionError(f"{name} {given!r} was given; allowed: from-to, as 1-2, up to 16, or 0 for none.")
    return low, high


def threads_of(given: int | None) -> int:
    """The number of threads asked for, or all cores."""
    return threads.n_threads(-1 if given is None else option_named("n_jobs").of_flag(given))


def source_of(detector: Any, format: str | None, id: str | None, label: str | None = None) -> Source:
    """How a model's data were read, for reading similar data."""
    kept = dict(getattr(detector, "source_", None) or {})
    kept.pop("format", None)
    if kept.get("text"):
        several = not isinstance(kept["text"], str)  # as models of before had one
        kept |= {"text": kept["text"] if several else [kept["text"]], "text_only": "columns" not in kept}
    known = {name: kept[name] for name in kept if name in Source.__dataclass_fields__ and kept[name] is not None}
    known["format"] = format
    named = [name for name in map(known.get, ("id", "label")) if name]
    known["of_model"] = [*named, *known.get("text", ()), *known.get("ignore", ())]
    if id is not None:
        known["id"] = id
    known["optional"] = [name for name in (known.get("label"), *known.get("ignore", ())) if name is not None]
    if label is not None:  # which is asked for, so it must be there
        known |= {"label": label, "optional": known.get("ignore", ())}
    frequencies = getattr(detector, "document_frequencies_", None)
    known |= {"frequencies": frequencies, "idf": frequencies is not None}
    names = getattr(detector, "feature_names_in_", None)
    known["names"] = names[: sum(kept["widths"])] if names is not None and "widths" in kept else names
    return Source(**known)


def for_path(detector: Any, path: str, source: Source) -> Source:
    """The format of the model's own data, where nothing says that a file has another."""
    kept = detector.source_ or {}
    if source.format is not None or (path != "-" and suffix_of(path) != kept.get("suffix")):
        return source
    return replace(source, format=kept.get("format"))


def suffix_of(path: str) -> str:
    """The suffix that tells a format; nothing for standard input, and folders."""
    return "" if Path(path).is_dir() else (suffixes_of(path) or [""])[-1]


def read_for(detector: Any, path: str, source: Source, n_threads: int) -> Table:
    """Data with the columns that the model knows."""
    source = for_path(detector, path, source)
    source.refuse_columns(path)
    kind = source.format_at(path)
    if kind.has_documents and not kind.is_table and source.scale not in (None, "none"):  # the model's are a table
        raise FormatError(other_data(path, kind.name, None, detector))
    if kind.names_rows:
        source = replace(source, optional=source.of_model)
    if kind.takes_width:
        source.refuse_unweighed(path)
        return read_as(kind, path, replace(source.how(kind, n_threads), n_features=detector.n_features_in_))
    table = _read_table(detector, path, source, n_threads)
    if source.vocabulary and table.texts is not None and table.fields is None:
        return table
    found = aligned(path, kind.name, table, detector)
    source.refuse_unweighed(path)
    return found


def read_like(detector: Any, source: Source) -> Source:
    """With the model's columns of numbers, which must not hold text."""
    return replace(source, numbers=numbers_of(detector))


def _read_table(detector: Any, path: str, source: Source, n_threads: int) -> Table:
    """Read a table the way the model does: its treatment of missing values, its columns of numbers."""
    try:
        return read_like(detector, source).read(path, n_threads)
    except MissingValueError as error:
        raise FormatError(
            f"{error.place}: the value is missing, and the model was fitted with --missing error; fill it in, or fit "
            "again with --missing zero, mean or indicator."
        ) from None
