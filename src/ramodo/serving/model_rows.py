"""The rows that a model accepts, according to its schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from ..formats import How, Schema, Table, format_named
from ..formats.assembling import assembled
from ..formats.table import RowError

if TYPE_CHECKING:
    from ..model.fitted import FittedDetector

PLACE = "the request"
"""What messages call the rows."""

row_error = partial(RowError, PLACE)


@dataclass(frozen=True, eq=False)
class ModelReading:
    """How a model reads rows.

    detector : the opened model
    n_threads : for tokens of text
    """

    detector: FittedDetector
    n_threads: int = 1

    @cached_property
    def learned(self) -> Schema:
        """How the training data were read."""
        return Schema.of_model(self.detector)

    @cached_property
    def schema(self) -> Schema:
        """How columns become features. Rows from programs need no ids, labels or columns that were left out."""
        plain = replace(self.learned, id=None, label=None, text=(), ignore=())
        return plain.for_tables() if self.kind == "record" else plain

    @cached_property
    def kind(self) -> str:
        """What a row is: "text", a "record" of named columns, or its "features"."""
        if self.learned.is_text:
            return "text"
        is_table = self.learned.format is None or format_named(self.learned.format).is_table
        return "record" if is_table and self.learned.n_features is not None else "features"

    @cached_property
    def places(self) -> Mapping[str, int] | None:
        """The number of each feature that has a name."""
        names = self.schema.names
        return None if names is None else {name: i for i, name in enumerate(names)}

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Columns of a table that the model needs, in order."""
        return tuple(column.name for column in self.schema.columns)

    @property
    def text(self) -> str:
        """The column of documents; `text` where the model's were lines of a file."""
        return self.columns[0]

    @cached_property
    def first(self) -> int:
        """The number of the first feature, as in the data that the model was fitted to."""
        return int(self.schema.zero_based is False)

    def how(self) -> How:
        """How to read columns and documents."""
        return How(schema=self.schema, frequencies=self.detector.document_frequencies_, n_threads=self.n_threads)

    def of_table(self, table: Any) -> Table:
        """Return a pyarrow table with the model's features, leaving out columns that the model does not know."""
        return assembled(PLACE, table, self.how())

    def of_matrix(self, X: Any) -> Table:
        """Return a matrix of the model's features as a table, scaled like the training data."""
        return Table(self.schema.scales.apply(X) if self.schema.is_scaled else X, schema=self.schema)

    def described(self) -> dict[str, Any]:
        """Return a description of the rows that a client should send."""
        said: dict[str, Any] = {"rows": self.kind, "n_features": self.detector.n_features_in_}
        if self.kind == "text":
            return said | {"text": self.text, "id": self.learned.id}
        if self.kind == "record":
            return said | {"columns": [*self.columns], "categories": self.schema.categories, "id": self.learned.id}
        return said | {"named": self.schema.names is not None, "first": self.first}
