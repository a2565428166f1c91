"""Counts what a server does, for Prometheus."""

from __future__ import annotations

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest

CONTENT_TYPE = CONTENT_TYPE_LATEST

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


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
        """The counts in Prometheus' text format."""
        return generate_latest(self._registry)
