"""Problems: codes, statuses, and that no answer's value is in them."""

import copy
import pickle

import pytest

from askless.exceptions import CODES, AsklessError, InterviewError
from askless.service.errors import BY_STATUS, Problem, conflict, invalid, not_found, problem_of, problem_of_status
from tests.coded import raises


def test_a_problem_is_an_askless_error():
    with raises(AsklessError, "bad_answer", name="age"):
        raise invalid("'age' takes a number", "answers.age", code="bad_answer", name="age")
    problem = Problem(409, "another one", "question", code="question_changed", name="age")
    assert problem.to_json() == {
        "error": {"status": 409, "code": "question_changed", "message": "another one", "where": "question"}
    }
    for again in (copy.copy(problem), pickle.loads(pickle.dumps(problem))):
        assert again.to_json() == problem.to_json()
        assert again.fields == {"name": "age"}
    assert not_found("gone").code == "not_found"


def test_the_default_codes_are_listed():
    assert {code for code, _ in BY_STATUS.values()} <= set(CODES)


@pytest.mark.parametrize(
    ("status", "known", "code"), [(404, 404, "not_found"), (418, 400, "bad_request"), (502, 500, "internal")]
)
def test_a_bare_status(status, known, code):
    problem = problem_of_status(status)
    assert (problem.status, problem.code) == (known, code)


def test_an_error_of_another_layer_keeps_its_code_but_not_a_value():
    problem = problem_of(InterviewError("bad_answer", "'age' is 31337", feature="age", value=31337, where="x"))
    assert (problem.status, problem.code, problem.where) == (422, "bad_answer", None)
    assert "31337" not in f"{problem} {problem.fields} {problem.to_json()}"
    assert problem.fields["feature"] == "age"
    done = problem_of(InterviewError("interview_done", "the interview is done (asked 3 features)"))
    assert (done.status, done.code) == (409, "interview_done")
    assert "asked 3 features" in done.message
    same = conflict("x", code="too_many_events")
    assert problem_of(same) is same
