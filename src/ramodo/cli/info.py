"""`ramodo info`: what a file contains."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import __version__
from ..formats import TableOptions, read
from ..formats.classes import shown
from ..model.file.saving import load_with_header
from ..model.file.tensors import metadata_of
from .console import note, print_facts
from .reading import threads_of


def run_info(path: str, *, format: str | None, as_json: bool) -> None:
    """Print facts about a model, or about data."""
    if format is None and path != "-" and Path(path).is_file() and metadata_of(path).get("format") == "ramodo":
        print_facts(_of_model(path, as_json), as_json)
        return
    table = read(path, format, table=TableOptions(missing="zero"), n_threads=threads_of(None))
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


def _of_model(path: str, as_json: bool) -> dict[str, Any]:
    detector, header = load_with_header(path, verify=True)
    facts: dict[str, Any] = {
        "class": type(detector).__name__,
        "written by": f"ramodo {header.get('ramodo', '?')}, format {header.get('version')} (this is {__version__})",
        "checksum": f"{header['checksum']}, as the bytes of the file say" if "checksum" in header else None,
        "features": detector.n_features_in_,
        "features with weights": len(detector.feature_indices_),
        "training rows": len(detector.outlier_scores_),
        "models": len(detector.model_.learned),
        "normalize": detector.model_.normalize,
        "terms of the score": list(detector.model_.names()),
        "labels in the score": detector.model_.has_labels,
        "cut-off": detector.threshold_,
        "data fingerprint": getattr(detector, "fingerprint_", None),
        "data read as": detector.source_,
        "options": detector.get_params(deep=False),
    }
    if detector.document_frequencies_ is not None:
        facts["tokens weighed"] = len(detector.document_frequencies_.columns)
    evidence = detector.model_.evidence
    if evidence is not None:
        facts["views"] = dict(zip(evidence.names, evidence.agreement, strict=True))
    if not as_json:
        changed = {k: v for k, v in facts["options"].items() if v != type(detector)().get_params(deep=False)[k]}
        facts["terms of the score"] = "; ".join(facts["terms of the score"])
        if evidence is not None:
            shown_views = (f"{name} ({agreement:.2f})" for name, agreement in facts["views"].items())
            facts["views"] = f"{', '.join(shown_views)}: rank correlation with all together"
        facts["options"] = ", ".join(f"{k}={v!r}" for k, v in changed.items()) or "as by default"
        facts["features"], facts["features with weights"] = (
            f"{facts[k]:,}" for k in ("features", "features with weights")
        )
    return facts
