"""Metrics for Prometheus: requests, their durations, and interviews."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

__all__ = ["Metrics"]

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)  # seconds


class Metrics:
    """The metrics of one service."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        labels = ("method", "route", "status")
        self._requests = Counter("askless_requests", "Requests", labels, registry=self.registry)
        self._seconds = Histogram(
            "askless_request_seconds", "Time to answer", ("route",), buckets=BUCKETS, registry=self.registry
        )
        self._kinds: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self.models = Gauge("askless_models", "Served models", registry=self.registry)
        self.live = Gauge("askless_interviews_in_memory", "Interviews in memory", registry=self.registry)
        self.events = Counter("askless_events", "Stored changes of interviews", ("action",), registry=self.registry)

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        kind = (method, route, status)
        figures = self._kinds.get(kind)
        if figures is None:  # few combinations exist
            figures = self._requests.labels(method, route, str(status)), self._seconds.labels(route)
            self._kinds[kind] = figures
        figures[0].inc()
        figures[1].observe(seconds)

    def text(self) -> bytes:
        """The metrics in the text format of Prometheus."""
        return generate_latest(self.registry)
