"""Counts what a server does, for Prometheus."""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from ..insight.drift import Drift

CONTENT_TYPE = CONTENT_TYPE_LATEST

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

_NAMED, _LONGEST = 20, 100
"""How many things that moved have a value of their own, and how many characters of a name are kept."""


class Metrics:
    """Counts requests by path and status, rows, flagged rows, seconds and errors, in a separate registry."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        made = self._registry
        self._requests = Counter("ramodo_requests", "Requests answered.", ["path", "status"], registry=made)
        self._errors = Counter("ramodo_errors", "Requests answered with a status of 400 or more.", registry=made)
        self._rows = Counter("ramodo_rows", "Rows scored.", registry=made)
        self._flagged = Counter("ramodo_flagged_rows", "Rows scored that were flagged.", registry=made)
        self._seconds = Histogram(
            "ramodo_score_seconds", "Seconds from receiving a request to answering it.", buckets=_SECONDS, registry=made
        )

        self._model = Gauge("ramodo_model", "The model in use.", ["checksum", "version"], registry=made)
        self._reloads = Counter("ramodo_reloads", "Times that the model was replaced.", registry=made)
        self._compared = Gauge("ramodo_compared_rows", "Rows scored last that are compared.", registry=made)
        self._shares = Gauge("ramodo_flagged_share", "Share of flagged rows.", ["rows"], registry=made)
        self._moved = Gauge("ramodo_drift_things", "How many things differ from the training rows.", registry=made)
        self._drift = Gauge("ramodo_drift", "Share of rows that moved.", ["what", "name", "kind"], registry=made)

    def uses(self, identity: Mapping[str, str], again: bool = False) -> None:
        """Say which model is in use."""
        self._model.clear()
        self._model.labels(identity["checksum"], identity["version"]).set(1)
        if again:
            self._reloads.inc()

    def compared(self, found: Drift | None) -> None:
        """Say how the rows that were scored last differ from the training rows."""
        self._compared.set(0 if found is None else found.compared)
        moved = () if found is None else found.moved
        self._moved.set(len(moved))
        self._drift.clear()
        for each in moved[:_NAMED]:
            self._drift.labels(each.what, each.name[:_LONGEST], each.kind).set(each.effect)
        if found is not None:
            self._shares.labels("recent").set(found.flagged)
            self._shares.labels("training").set(found.expected)

    def answered(self, path: str, status: int) -> None:
        """Count a request."""
        self._requests.labels(path, str(status)).inc()
        if status >= 400:
            self._errors.inc()

    def scored(self, rows: int, flagged: int, seconds: float) -> None:
        """Count the rows of a request."""
        self._rows.inc(rows)
        self._flagged.inc(flagged)
        self._seconds.observe(seconds)

    def page(self) -> bytes:
        """Return the counts in Prometheus' text format."""
        return generate_latest(self._registry)
