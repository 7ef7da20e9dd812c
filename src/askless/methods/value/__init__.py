"""Values of questions in nats, learned by regression (DIME)."""

from askless.methods.value.method import Value

__all__ = ["Value"]
