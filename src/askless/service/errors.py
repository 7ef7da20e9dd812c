"""The errors of the service and their JSON form. No message holds an answer's value, and fields are never sent."""

from __future__ import annotations

from typing import Any

from askless.exceptions import CODES, AsklessError

__all__ = ["Problem", "conflict", "invalid", "not_found", "problem_of", "problem_of_status"]

BY_STATUS = {
    400: ("bad_request", "the request cannot be read"),
    401: ("unauthorized", "the service needs its token"),
    404: ("not_found", "there is nothing at this address"),
    405: ("method_not_allowed", "this address does not support this HTTP method"),
    413: ("too_large", "the request is too large"),
    415: ("unsupported_media_type", "the service does not read bodies of this type"),
    422: ("invalid", "the request cannot be used"),
    429: ("too_many_requests", "too many requests; try again in a moment"),
    500: ("internal", "an internal error occurred; see the log of the service"),
    503: ("storage_unavailable", "interviews cannot be stored at the moment; try again"),
}
CONFLICTS = ("interview_done", "cannot_ask", "nothing_to_undo")  # their messages name questions, never values


class Problem(AsklessError):
    """An error with an HTTP status, and the place in the request (such as `answers.age`) where it is known."""

    def __init__(
        self, status: int, message: str, where: str | None = None, *, code: str | None = None, **fields: Any
    ) -> None:
        super().__init__(code or BY_STATUS.get(status, BY_STATUS[400])[0], message, **fields)
        self.args = (status, message, where)  # what pickle and copy call the class with
        self.status, self.where = status, where
        self.headers: dict[str, str] = {}

    def to_json(self) -> dict[str, Any]:
        """The body of the API's response."""
        return {
            "error": {"status": self.status, "code": self.code, "message": self.message, "where": self.where},
        }


def invalid(message: str, where: str | None = None, *, code: str = "invalid", **fields: Any) -> Problem:
    """Status 422: the service can read the request but cannot use it."""
    return Problem(422, message, where, code=code, **fields)


def not_found(message: str) -> Problem:
    """Status 404."""
    return Problem(404, message)


def conflict(message: str, *, code: str, **fields: Any) -> Problem:
    """Status 409: the request does not fit the present state."""
    return Problem(409, message, code=code, **fields)


def problem_of(error: AsklessError) -> Problem:
    """The problem for an error of another layer, with the same code.

    The message is kept if it cannot hold an answer's value; otherwise the code's general explanation replaces it.
    """
    if isinstance(error, Problem):
        return error
    if error.code in CONFLICTS:
        problem = conflict(error.message, code=error.code)
    else:
        problem = invalid(CODES.get(error.code, BY_STATUS[422][1]).rstrip("."), code=error.code)
    problem.fields = {name: field for name, field in error.fields.items() if name != "value"}
    return problem


def problem_of_status(status: int) -> Problem:
    """The problem for a bare HTTP status."""
    known = status if status in BY_STATUS else 400 if status < 500 else 500
    return Problem(known, BY_STATUS[known][1])
