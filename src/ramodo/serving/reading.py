"""What rows a model takes, as its file remembers the data it was fitted to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..formats import FormatError, How, Table, TableOptions, TextOptions, format_named
from ..formats.aligning import aligned, numbers_of
from ..formats.assembling import assembled
from ..formats.table import MissingValueError

PLACE = "the request"
"""What messages call the rows."""


class RowError(FormatError):
    """A row that cannot be read, and its number."""

    def __init__(self, row: int, problem: str) -> None:
        super().__init__(f"row {row}: {problem}", row)


@dataclass(frozen=True, eq=False)
class ModelReading:
    """How a model reads rows.

    detector : the opened model
    n_threads : for tokens of text
    """

    detector: Any
    n_threads: int = 1

    @cached_property
    def source(self) -> Mapping[str, Any]:
        """What the command that fitted the model wrote down of its data; nothing for a model of Python's."""
        return self.detector.source_ or {}

    @cached_property
    def kind(self) -> str:
        """What a row is: "text", a "record" of named columns, or its "features"."""
        if "words" in self.source:  # as only documents have them
            return "record" if "columns" in self.source else "text"
        name = self.source.get("format")
        is_table = name is None or "ignore" in format_named(name).columns
        return "record" if is_table and self.names is not None else "features"

    @cached_property
    def names(self) -> Sequence[str] | None:
        """Names of the model's features."""
        names = getattr(self.detector, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    @cached_property
    def places(self) -> Mapping[str, int] | None:
        """The column of each feature that has a name."""
        return None if self.names is None else {name: i for i, name in enumerate(self.names)}

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Columns of a table that the model needs, in order: a category is one, however many values it has."""
        if self.source.get("given") or "columns" in self.source:
            return (*self.documents, *self.source.get("given", ()))
        categories = self.table_options.categories  # models of before did not keep the columns that they were given
        found = dict[str, None]()
        for name in self.names or ():
            category = next((each for each in categories if name.startswith(f"{each}=")), None)
            of_gap = name.removesuffix(" is missing")
            found[category or (of_gap if of_gap in categories or of_gap in self._named else name)] = None
        return tuple(found)

    @cached_property
    def documents(self) -> tuple[str, ...]:
        """Columns of documents."""
        given = self.source.get("text") or ()
        if not given and "format" in self.source:
            own = format_named(self.source["format"]).texts
            return tuple(name for name in own if name not in self.source.get("ignore", ()))
        return (given,) if isinstance(given, str) else tuple(given)

    @cached_property
    def _named(self) -> frozenset[str]:
        return frozenset(numbers_of(self.detector))

    @property
    def id(self) -> str | None:
        """The column that names rows."""
        return self.source.get("id")

    @property
    def text(self) -> str:
        """The column of documents; `text` where the model's were lines of a file."""
        return self.documents[0] if self.documents else "text"

    @cached_property
    def first(self) -> int:
        """The number of the first feature, as in the data that the model was fitted to."""
        return int(self.source.get("zero_based") is False)

    @cached_property
    def text_options(self) -> TextOptions:
        """How documents become tokens."""
        if "words" not in self.source:
            return TextOptions(idf=False)
        words, characters = (_range(self.source[name]) for name in ("words", "characters"))
        weighed = self.detector.document_frequencies_ is not None
        return TextOptions(words, characters, self.source["bits"], self.source["vocabulary"], weighed)

    @cached_property
    def table_options(self) -> TableOptions:
        """How columns become features: those with a meaning of their own are not among them."""
        kept = self.source
        return TableOptions(
            text=self.documents if "columns" in kept else (),
            missing=kept.get("missing", "error"),
            categories=kept.get("categories", ()),
            means=kept.get("means", {}),
            numbers=numbers_of(self.detector),
            scale=kept.get("scale", "none"),
            scales=kept.get("scales"),
            dates=kept.get("dates"),
            given=kept.get("given", ()),
        )

    def how(self) -> How:
        """Options for reading columns and documents."""
        names, widths = self.names, self.source.get("widths")
        return How(
            self.table_options,
            self.text_options,
            names=names if names is None or widths is None else names[: sum(widths)],
            frequencies=self.detector.document_frequencies_,
            weights=self.source.get("weights", ()),
            n_threads=self.n_threads,
        )

    def of_table(self, table: Any) -> Table:
        """A table of pyarrow's, without columns that the model does not know, with the model's features."""
        try:
            read = assembled(PLACE, table, self.how())
        except MissingValueError as error:
            raise FormatError(
                f"{error.place}: the value is missing, and the model was fitted with --missing error; fill it in, or "
                "fit again with --missing zero, mean or indicator.",
                error.row,
            ) from None
        return aligned(PLACE, "a table", read, self.detector)

    def described(self) -> dict[str, Any]:
        """What a client should send."""
        said: dict[str, Any] = {"rows": self.kind, "n_features": self.detector.n_features_in_}
        if self.kind == "text":
            return said | {"text": self.text, "id": self.id}
        if self.kind == "record":
            categories = [name for name in self.columns if name in self.table_options.categories]
            return said | {"columns": list(self.columns), "categories": categories, "id": self.id}
        return said | {"named": self.names is not None, "first": self.first}


def _range(given: str) -> tuple[int, int]:
    """1-3 as it is in a model's file, which was checked when it was opened."""
    first, _, last = given.partition("-")
    return int(first), int(last or first)
