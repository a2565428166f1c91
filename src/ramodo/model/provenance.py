"""Information for people about a fit, kept in the model file; no score depends on it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Self

from .saved import require, shown


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where a model comes from, and the names in its explanations.

    command, fitted : the command line that fitted it, and when; empty if not kept
    reference_ids : ids of training rows that explanations may name, by their numbers
    tokens : names of hashed tokens that most reference documents have, by the numbers of their features
    """

    command: str = ""
    fitted: str = ""
    reference_ids: Mapping[str, str] = field(default_factory=dict)
    tokens: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> str:
        """Return the text to keep in a model file."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, given: str | None) -> Self:
        """Read and check the text of `to_json`; raise `ModelFileError` for anything else."""
        said = {} if given is None else json.loads(given)
        known = cls.__dataclass_fields__
        require(isinstance(said, dict) and set(said) <= set(known), f"its provenance says {shown(said)}")
        for name, value in said.items():
            is_table = isinstance(getattr(cls(), name), dict)
            texts = value.values() if isinstance(value, dict) else [value]
            fits = isinstance(value, dict) == is_table and all(isinstance(text, str) for text in texts)
            require(fits, f"its provenance says {name}={shown(value)}")
        return cls(**said)

    def id_of(self, row: int) -> str:
        """Return the id of a training row, or its number."""
        return self.reference_ids.get(str(row), str(row))
