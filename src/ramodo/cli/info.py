"""`ramodo info`: what a file contains."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from .. import __version__
from ..formats import Schema, read
from ..formats.classes import shown
from ..model.file.saving import load_with_header
from ..model.file.tensors import metadata_of
from ..model.file.tensors import read as read_tensors
from .console import note, print_facts
from .source import threads_of

if TYPE_CHECKING:
    from ..model.fitted import FittedDetector

_TABLES = (
    (r"origin\.", "training rows, unchanged"),
    (r"profile\.", "profile of the training rows, to compare others with"),
    (r"documents\.", "how many documents have each token"),
    (r"sample\.", "training rows in the representation, for maps"),
    (r"feature_names_in_$", "names of columns"),
    (r"references$", "training rows in the representation, to compare with"),
    (r"curve\.", "scores of each view, for evidence"),
    (r"(columns|weights)$|upper\.", "weights of features"),
    (r"loss_curve_$", "losses of training"),
    (r"", "score, length and norm of each training row"),
)
"""Contents of the arrays of a model file, by name; the first pattern that matches counts."""

_SHOWN = 3
"""How many tables are listed with their size."""


def run_info(path: str, *, format: str | None, as_json: bool) -> None:
    """Print facts about a model or about data."""
    if format is None and path != "-" and Path(path).is_file() and metadata_of(path).get("format") == "ramodo":
        said = _of_model(path)
        print_facts(said if as_json else _page(said), as_json)
        return
    table = read(path, format, schema=Schema(missing="zero"), n_threads=threads_of(None))
    for text in table.notes:
        note(f"note: {text}", quiet=False)
    entries = table.X.nnz if sp.issparse(table.X) else int(np.count_nonzero(table.X))
    n_rows, n_features = table.X.shape
    facts: dict[str, Any] = {"rows": n_rows, "features": n_features, "non-zeros": int(entries)}
    if not as_json:
        facts = {name: f"{value:,}" for name, value in facts.items()}
        facts["non-zeros"] += f", {entries / n_rows:.1f} a row"
    if table.classes is not None:
        values, counts = np.unique(table.classes, return_counts=True)
        labels = {shown(v): int(c) for v, c in zip(values[:20], counts[:20], strict=True)}
        facts["labels"] = labels if as_json else ", ".join(f"{v}: {c:,}" for v, c in labels.items())
    if table.names is not None:
        facts["columns"] = list(table.names[:20]) if as_json else ", ".join(table.names[:8])
    print_facts(facts, as_json)


# ---- a model ---------------------------------------------------------------------------------------------------------


def _of_model(path: str) -> dict[str, Any]:
    """Return all facts in a model file."""
    detector, header = load_with_header(path, verify=True)
    provenance, evidence = detector.provenance_, detector.model_.evidence
    frequencies, options = detector.document_frequencies_, detector.get_params(deep=False)
    defaults = type(detector)().get_params(deep=False)
    return {
        "class": type(detector).__name__,
        "fitted": provenance.fitted or None,
        "written by": f"ramodo {header.get('ramodo', '?')}, format {header.get('version')} (this is {__version__})",
        "bytes": os.path.getsize(path),
        "checksum": f"{header['checksum']}, as the bytes of the file say" if "checksum" in header else None,
        "tables": _tables(path),
        "training rows": len(detector.outlier_scores_),
        "features": detector.n_features_in_,
        "features with weights": len(detector.feature_indices_),
        "tokens weighed": None if frequencies is None else len(frequencies.columns),
        "models": len(detector.model_.learned),
        "normalize": detector.model_.normalize,
        "terms of the score": list(detector.model_.names()),
        "views": {} if evidence is None else dict(zip(evidence.names, evidence.agreement, strict=True)),
        "labels in the score": detector.model_.has_labels,
        "cut-off": detector.threshold_,
        "flagged training rows": int((detector.outlier_scores_ >= detector.threshold_).sum()),
        "data fingerprint": getattr(detector, "fingerprint_", None),
        "data read as": None if detector.schema_ is None else _reading(detector.schema_),
        "command": provenance.command,
        "options": options,
        "options not as by default": {k: v for k, v in options.items() if v != defaults[k]},
        "private": _private(detector),
    }


def _reading(schema: Schema) -> dict[str, Any]:
    """Return how data were read; for documents, with all options of tokens."""
    said: dict[str, Any] = json.loads(schema.to_json())
    return said | ({"tokens": asdict(schema.tokens)} if schema.texts else {})


def _tables(path: str) -> dict[str, int]:
    """Return the bytes of each kind of table in a model file, largest first; the rest is its header."""
    _, tensors = read_tensors(path)
    found: dict[str, int] = {}
    for name, array in tensors.items():
        plain = re.sub(r"^term\.(\d+\.)*", "", name)
        kind = next(words for pattern, words in _TABLES if re.match(pattern, plain))
        found[kind] = found.get(kind, 0) + array.nbytes
    found["options, names, tokens and other texts"] = os.path.getsize(path) - sum(found.values())
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _private(detector: FittedDetector) -> dict[str, int]:
    """Return how much of its training data a model file holds."""
    rows = {number for origin in detector.model_.origins() for number in origin.numbers.tolist()}
    return {
        "training rows": len(rows),
        "ids of rows": len(detector.provenance_.reference_ids),
        "tokens of text": len(detector.provenance_.tokens),
        "names of columns": len(getattr(detector, "feature_names_in_", ())),
        "command line": int(bool(detector.provenance_.command)),
    }


def _page(facts: Mapping[str, Any]) -> dict[str, str]:
    """Return the same facts for people, one line each."""
    tables = [f"{words} {_megabytes(size)}" for words, size in list(facts["tables"].items())[:_SHOWN]]
    lines = {
        "model": facts["class"],
        "fitted": facts["fitted"] or "(not kept)",
        "written by": facts["written by"],
        "size": f"{_megabytes(facts['bytes'])}: {', '.join(tables)}{', ...' * (len(facts['tables']) > _SHOWN)}",
        "checksum": facts["checksum"] or "none",
        "training rows": f"{facts['training rows']:,}, {facts['flagged training rows']:,} of them flagged",
        "features": f"{facts['features']:,}, {facts['features with weights']:,} of them with weights",
        "terms of the score": "; ".join(facts["terms of the score"]),
        "views": _views(facts["views"]),
        "labels in the score": "yes" if facts["labels in the score"] else "no",
        "cut-off": f"{facts['cut-off']:.6g}",
        "options": _pairs(facts["options not as by default"]) or "as by default",
        "data read as": _read_as(facts["data read as"] or {}),
        "data fingerprint": facts["data fingerprint"] or "none",
        "holds of the data": _held(facts["private"]),
        "command": facts["command"],
    }
    return {name: value for name, value in lines.items() if value}


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 50_000 else f"{size / 1e3:,.1f} kB"


def _pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in values.items())


def _views(views: Mapping[str, float]) -> str:
    told = ", ".join(f"{name} ({agreement:.2f})" for name, agreement in views.items())
    return told and f"{told}: rank correlation with all of them combined"


def _read_as(source: Mapping[str, Any]) -> str:
    """Return the format and the options of its columns; long lists are given by their length."""
    said = {name: value for name, value in source.items() if name not in ("format", "columns", "tokens") and value}
    said |= source.get("tokens", {})
    kinds = Counter(each.get("kind", "number") for each in source.get("columns", ()))
    said |= {f"columns of kind {kind}": n for kind, n in kinds.items()}
    shown_short = {
        n: f"{len(v):,} of them" if isinstance(v, list | dict) and len(v) > 5 else v for n, v in said.items()
    }
    return ", ".join(filter(None, [str(source.get("format") or ""), _pairs(shown_short)]))


def _held(private: Mapping[str, int]) -> str:
    there = ", ".join(f"{n:,} {what}" for what, n in private.items() if n)
    return "; no ".join(filter(None, [there, ", ".join(what for what, n in private.items() if not n)]))
