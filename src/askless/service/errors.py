"""One kind of error, and the one shape in which the API tells it. Neither ever holds an answer."""

from __future__ import annotations

from typing import Any

__all__ = ["Problem", "conflict", "invalid", "not_found", "problem_of_status"]

CODES = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    413: "too_large",
    415: "unsupported_media_type",
    422: "invalid",
    429: "too_many_requests",
    500: "internal",
    503: "unavailable",
}
WORDS = {
    404: "there is nothing at this address",
    405: "this address does not take this method",
    500: "something went wrong in the service; its log has more",
}


class Problem(Exception):
    """What went wrong, for the caller: an HTTP status, a sentence, and the place in the request where it is known."""

    def __init__(self, status: int, message: str, where: str | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.where = status, message, where
        self.headers: dict[str, str] = {}

    @property
    def code(self) -> str:
        """The kind of problem, for programs."""
        return CODES[self.status]

    def to_json(self) -> dict[str, Any]:
        """The canonical error body."""
        return {
            "error": {"status": self.status, "code": self.code, "message": self.message, "where": self.where},
        }


def invalid(message: str, where: str | None = None) -> Problem:
    """The request was understood, but cannot be used."""
    return Problem(422, message, where)


def not_found(message: str) -> Problem:
    """There is no such thing."""
    return Problem(404, message)


def conflict(message: str) -> Problem:
    """It does not fit what has happened meanwhile."""
    return Problem(409, message)


def problem_of_status(status: int) -> Problem:
    """The problem behind a bare status."""
    known = status if status in CODES else 400 if status < 500 else 500
    return Problem(known, WORDS.get(known, CODES[known].replace("_", " ")))
