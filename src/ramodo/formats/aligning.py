"""From the columns of data to those that a model was fitted with."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .table import FormatError, Table


def named_columns(detector: Any) -> Sequence[str] | None:
    """Names of the model's columns that are no tokens; None if it knows no names."""
    of_fields: Sequence[str] | None = (detector.source_ or {}).get("columns")
    return getattr(detector, "feature_names_in_", None) if of_fields is None else of_fields


def numbers_of(detector: Any) -> Collection[str]:
    """The model's columns of numbers; a column from text also has a value in its name."""
    names = named_columns(detector)
    return () if names is None else frozenset(map(str, names))


def aligned(path: str, kind: str, table: Table, detector: Any) -> Table:
    """The model's columns, by name if it has names; those of tokens, which come first, stay where they are."""
    names, n_tokens = named_columns(detector), sum(table.widths)
    if names is None or (table.names is None and not _is_text_of_a_table(detector, table)):
        if table.X.shape[1] != detector.n_features_in_:
            raise FormatError(other_data(path, kind, table.X.shape[1], detector))
        return table
    own = list(table.names or ())[n_tokens - table.first_named :]
    place = {name: i for i, name in enumerate(own)}
    absent = [name for name in names if name not in place and not _may_be_absent(name, place, table.categories)]
    if absent:
        raise FormatError(_lacking(path, kind, table, names, absent, detector))
    known = [i for i, name in enumerate(names) if name in place]
    taken = _placed(table.X, n_tokens, [place[names[i]] for i in known], known, len(names))
    tokens = list(table.names or ())[: n_tokens - table.first_named]
    return replace(table, X=taken, names=[*tokens, *names])


def _placed(X: Any, n_tokens: int, columns: list[int], places: list[int], width: int) -> Any:
    """Tokens as they are; of the columns after them those asked for, each in its place among `width`."""
    others = sp.csc_array(X[:, n_tokens:]) if sp.issparse(X) else X
    taken = others[:, columns]
    if len(places) < width and sp.issparse(taken):
        spread = (np.ones(len(places)), (np.arange(len(places)), places))
        taken = sp.csr_array(taken) @ sp.csr_array(spread, shape=(len(places), width))
    elif len(places) < width:  # and stays so: whether a row's neighbours lack a value must not change its last bits
        filled = np.zeros((taken.shape[0], width))
        filled[:, places] = taken
        return filled
    if n_tokens:
        taken = sp.hstack([X[:, :n_tokens], taken], format="csr")
    return sp.csr_array(taken) if sp.issparse(taken) else taken


def _is_text_of_a_table(detector: Any, table: Table) -> bool:
    """Whether a table has documents and nothing else, where the model has more."""
    return "columns" in (detector.source_ or {}) and table.texts is not None


def _lacking(path: str, kind: str, table: Table, names: Sequence[str], absent: Sequence[str], detector: Any) -> str:
    """That columns of the model are absent, named as in its data: `country`, and not its feature `country=NZ`."""
    source = detector.source_ or {}
    if "words" in source and "columns" not in source:  # tokens of documents, no columns that people know
        return other_data(path, kind, None, detector)
    own, given = table.given or table.names or (), source.get("given", ())
    if not set(given) <= set(own):
        names, absent = given, [name for name in given if name not in own]
    has = f"{', '.join(map(repr, own[:5]))}{', ...' * (len(own) > 5)}" if own else "none of them"
    return (
        f"{path} lacks {len(absent):,} of the {len(names):,} columns that the model was fitted with, as "
        f"{absent[0]!r}; allowed: all of them, by their names. It has {has}."
    )


def other_data(path: str, kind: str, n: int | None, detector: Any) -> str:
    """That data have not the columns of a model: what they are, what it was fitted to, and what to do."""
    source, width = detector.source_ or {}, detector.n_features_in_
    fitted, name = source.get("format"), "standard input" if path == "-" else path
    if "words" in source:  # as only documents have them
        given = source.get("text") or ()
        named = ", ".join(map(repr, [given] if isinstance(given, str) else given))  # models of before had one
        if not named:
            fitted, advice = "text, a document a line", "a file of such lines, with --format text if its name says else"
        else:
            fitted, advice = f"documents, the column {named} of a table", "a table with that column"
        return f"{name} is read as {kind}, and the model was fitted to {fitted}; allowed: {advice}."
    columns, all_of = ("", " columns") if n is None else (f", with {n:,} columns", "")
    if fitted not in (None, kind):
        return (
            f"{name} is read as {kind}{columns}, and the model was fitted to {fitted}, with {width:,}{all_of}; "
            f"allowed: data like those of the model, with --format {fitted} if these are."
        )
    return (
        f"{name} has {n or 0:,} columns, and the model was fitted to {width:,}; allowed: the same columns in the same "
        "order. To rank these data by themselves: ramodo detect."
    )


def _may_be_absent(name: str, place: Mapping[str, int], categories: Sequence[str]) -> bool:
    """Whether data may lack this column of the model: a category's value, or an indicator of missing values."""
    marked = name.removesuffix(" is missing")
    return (marked != name and (marked in place or marked in categories)) or any(
        name.startswith(f"{category}=") for category in categories
    )
