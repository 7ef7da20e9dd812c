import io
import re
import subprocess
import sys

import numpy as np
import pytest

from askless import DynamicClassifier
from askless.acquisition import Candidate
from askless.acquisition.schema import Part
from askless.cli import main
from askless.cli.session import HELP, Session, explain, known_values, parse_value
from askless.cli.views import alternatives, choices_of, picture, prediction_text, shown_value, summary, title
from askless.cli.wording import Wording
from askless.exceptions import InterviewError
from askless.methods import FixedOrder
from askless.model_file import read_model
from tests.cli.cli_helpers import messy_frame, spawn
from tests.coded import raises

PLAIN = Wording({})


@pytest.fixture
def session(model):
    fitted = read_model(model)
    return Session(fitted.interview(max_features=5), fitted.encoder, PLAIN)


def answer_to(part):
    return {"number": "50", "boolean": "yes"}.get(part.kind) or str(part.choices[0])


def walk_to(session, name):
    """Answer until the feature is asked."""
    while session.interview.question.name != name:
        assert session.take(answer_to(session.part)).kind in ("moved", "part")


def answered(session):
    return [event.feature for event in session.interview.history]


def test_to_the_end(session):
    start = session.interview.prediction
    while session.part is not None:
        session.take(answer_to(session.part))
    assert len(session.interview.history) == 5
    assert session.interview.cost == 10  # age 2, pressure 5, and 1 each
    assert session.interview.prediction != start
    reply = session.take("50")
    assert (reply.kind, reply.problem.code) == ("refused", "interview_done")
    assert session.take("back").kind == "moved"
    assert session.part is not None


def test_a_group_is_asked_part_by_part(session):
    walk_to(session, "pressure")
    assert session.part.name == "high"
    assert session.take("150").kind == "part"
    assert session.part.name == "low"
    assert session.take("back").kind == "part"
    assert session.part.name == "high"
    session.take("")
    assert session.take("79.5").kind == "moved"
    event = session.interview.history[-1]
    assert (event.action, event.feature, event.value) == ("answer", "pressure", {"low": 79.5})


def test_a_group_of_unknowns_is_unknown(session):
    walk_to(session, "pressure")
    session.take("?")
    session.take("NA")
    assert session.interview.history[-1].action == "unknown"


def test_later_in_the_middle_of_a_group_begins_it_anew(session):
    walk_to(session, "pressure")
    session.take("150")
    reply = session.take("later")
    assert (reply.kind, reply.text) == ("moved", "high is not recorded: the question was left before its last part")
    walk_to(session, "pressure")
    assert session.part.name == "high"


def test_what_is_told_in_the_middle_of_a_group_keeps_its_parts(session):
    walk_to(session, "pressure")
    session.take("150")
    other = next(name for name in session.schema.names if name not in ("pressure", *answered(session)))
    part = session.schema.features[session.schema.index(other)].parts[0]
    reply = session.take(f"tell {other}={answer_to(part)}")
    assert reply.kind == "moved"
    if session.interview.question is not None and session.interview.question.name == "pressure":
        assert session.part.name == "low"
        assert "not recorded" not in reply.text
    else:
        assert "high is not recorded" in reply.text


def test_a_group_that_is_told_itself_is_begun_anew(session):
    walk_to(session, "pressure")
    session.take("150")
    assert "high is not recorded" in session.take("tell low=80").text


@pytest.mark.parametrize(("end", "what"), [("", "input"), ("quit\n", "interview")])
def test_input_that_ends_within_a_group_is_an_error(run, model, end, what, monkeypatch):
    others = [name for name in read_model(model).schema.names if name != "pressure"]
    monkeypatch.setattr("sys.stdin", io.StringIO("150\n" + end))
    result = run("ask", model, "--unavailable", *others)
    assert result.error == "unfinished_group"
    assert f"high is not recorded: the {what} ended" in result.err


def test_bad_answers_are_explained_and_change_nothing(session):
    walk_to(session, "age")
    before = session.interview.history
    for line, code, fields in (
        ("inf", "bad_answer", {"feature": "age"}),
        ("tell ag=3", "unknown_name", {"name": "ag", "nearest": "age"}),
        ("tell age", "bad_answer", {"value": "age"}),
        ("1e6", "bad_answer", {"feature": "age", "value": 1_000_000}),
    ):
        reply = session.take(line)
        assert (reply.kind, session.interview.history) == ("refused", before)
        assert reply.problem.code == code
        assert fields.items() <= reply.problem.fields.items()
    assert session.take("old").kind == "refused"
    assert "'old' is not a number" in session.take("old").text
    assert "NAME=VALUE, such as age=..." in session.take("tell age").text
    assert "`askless fit --features` can allow more" in session.take("1e6").text
    assert session.interview.history == before
    assert session.take("help").text == HELP
    reply = session.take("130")
    assert reply.kind == "moved"
    assert "130 is outside of the training range" in reply.text


def test_back_has_an_end(session):
    reply = session.take("back")
    assert reply.kind == "refused"
    assert "undo" in reply.text


def test_tell_puts_the_parts_of_a_group_together(session):
    session.take("tell high = 150")
    session.take("tell low=90")
    assert session.interview.history[-1].value == {"high": 150, "low": 90}
    session.take("back")
    assert session.interview.history[-1].value == {"high": 150}
    assert session.take("tell pressure=3").problem.fields == {"feature": "pressure", "choices": ["high", "low"]}
    session.take("tell age=44")
    assert [event.action for event in session.interview.history] == ["tell", "tell"]
    assert session.interview.cost == 0


def test_quit(session):
    assert session.take(" QUIT ").kind == "quit"


COLOUR = Part("colour", "category", choices=("None", "Red", "red", "dark green"))
SMOKES = Part("smokes", "category", choices=("0", "1", "yes"))
STARS = Part("stars", "category", choices=(1, 3, 10))


@pytest.mark.parametrize(
    ("part", "text", "value"),
    [
        (COLOUR, "red", "red"),
        (COLOUR, "Dark Green", "dark green"),
        (COLOUR, "4", "dark green"),
        (COLOUR, "none", "None"),
        (COLOUR, " ? ", None),
        (COLOUR, "unknown", None),
        (Part("c", "category", choices=("known", "Unknown")), "unknown", "Unknown"),
        (Part("n", "number"), "Unknown", None),
        (Part("n", "number"), "-", None),
        (COLOUR, "-", None),
        (Part("c", "category", choices=("+", "-")), "-", "-"),
        (Part("b", "boolean"), "unknown", None),
        (STARS, "3", 3),
        (STARS, "10.0", 10),
        (Part("n", "number"), "1e3", 1000),
        (Part("n", "number"), "2.5", 2.5),
        (Part("n", "number"), "36,6", 36.6),
        (Part("n", "number"), "-0,125", -0.125),
        (Part("n", "number"), "1,250", "1,250"),  # 1.25 or 1250? The encoder refuses it
        (Part("n", "number"), "tall", "tall"),
        (Part("b", "boolean"), "Yes", True),
        (Part("b", "boolean"), "t", True),
        (Part("b", "boolean"), "OFF", False),
        (Part("b", "boolean"), "perhaps", "perhaps"),  # the encoder refuses it
        (Part("b", "boolean"), "don't know", None),
        (COLOUR, "Don't know", None),
    ],
)
def test_what_a_text_means(part, text, value):
    assert parse_value(part, text) == value


PLATELETS = Part("platelets", "number", low=900, high=450_000)


@pytest.mark.parametrize("text", ["2.500", "150.000"])
def test_a_point_that_may_separate_thousands_is_not_guessed_at(text):
    with raises(InterviewError, "bad_answer", feature="platelets", value=text, low=900, high=450_000) as caught:
        parse_value(PLATELETS, text)
    assert f"write {text[:-4]}{text[-3:]} if the point separates thousands" in str(caught.value)


@pytest.mark.parametrize(
    ("part", "text", "value"),
    [
        (PLATELETS, "2.5", 2.5),  # odd, but plain
        (PLATELETS, "0.900", 0.9),
        (PLATELETS, "2500.000", 2500),
        (PLATELETS, "999.000", 999),  # training has seen the like
        (Part("n", "number", low=0, high=10), "2.500", 2.5),
        (Part("n", "number"), "2.500", 2.5),
    ],
)
def test_a_point_that_cannot_separate_thousands_is_one_for_decimals(part, text, value):
    assert parse_value(part, text) == value


def test_the_words_that_fit_was_given_for_no_value_mean_unknown(run, tmp_path, monkeypatch):
    frame = messy_frame()[["age", "colour", "ill"]]
    frame.loc[:40, "colour"] = "k.A."
    frame.loc[20:60, "age"] = -999
    frame.to_csv(tmp_path / "data.csv", index=False)
    model = tmp_path / "m.askless"
    how = ("--method", "fixed_order", "--set", "epochs=1", "hidden=[4]")
    run("fit", tmp_path / "data.csv", "--target", "ill", "-o", model, "--na", "k.A.", "-999", *how)
    monkeypatch.setattr("sys.stdin", io.StringIO("-999\nk.A.\n"))
    result = run("ask", model)
    assert result.code == 0, result.err
    assert re.findall(r"(?m)^ *\d +(age|colour) +(\S+)", result.out) == [("age", "unknown"), ("colour", "unknown")]
    assert run("ask", model, "--known", "colour=k.A.").code == 0


@pytest.mark.parametrize(
    ("part", "text"),
    [(COLOUR, "pink"), (COLOUR, "RED"), (COLOUR, "0"), (COLOUR, "5"), (COLOUR, "-1"), (STARS, "2"), (SMOKES, "2")],
)
def test_what_is_no_choice(part, text):
    with raises(InterviewError, "bad_answer", feature=part.name, value=text):  # 2 stars are not the second choice
        parse_value(part, text)


def test_what_is_known_beforehand(model):
    encoder = read_model(model).encoder
    assert known_values(["low=80", "age=51", "high=120", "colour=2"], encoder, PLAIN) == {
        "pressure": {"low": 80, "high": 120},
        "age": 51,
        "colour": "green",
    }


def test_pictures():
    bars = picture({"no": 0.25, "yes": 0.75}).plain.splitlines()
    assert bars[0].count("█") == 7
    assert bars[1].endswith("75.0%")
    many = picture(dict.fromkeys(range(10), 0.1)).plain
    assert "4 others 40.0%" in many
    assert picture({"mean": 5.0, "sd": 1.0}, (2.0, 8.0), ascii_only=True).plain.count("o") == 1
    assert picture({"mean": 5.0}).plain.strip() == "5"
    assert prediction_text({"no": 0.25, "yes": 0.75}) == "yes (75%)"
    assert prediction_text({"mean": 5.0, "sd": 1.0}) == "5 ± 1"
    assert prediction_text({"mean": 12345.6, "sd": 1234.5}) == "12346 ± 1234"
    assert shown_value({"high": 120.5, "low": None}) == "high = 120.5, low = unknown"
    many = Part("code", "category", choices=tuple(range(100)))
    assert choices_of(many, PLAIN)[0].endswith(", 18, 19 and 80 more")
    assert choices_of(STARS, PLAIN) == ["one of 1, 3, 10"]
    assert choices_of(COLOUR, PLAIN)[3] == "4  dark green"


def test_the_summary_has_a_row_for_each_event(session):
    assert "cost" in title(1, session.interview.question, PLAIN, session.part).plain
    session.take("later")
    session.take("tell age=44")
    walk_to(session, "pressure")
    assert summary(session.interview).row_count == len(session.interview.history)


def test_piped(model):
    done = spawn("ask", model, "--known", "age=51", "colour=red", given="\nundo\nwhy\nlater\n?\n")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "took the last answer back" in done.stdout
    assert "(known)" not in done.stdout.split("1.")[0]
    assert "no more answers" in done.stdout
    assert "postponed, and not asked again: " in done.stdout


def test_a_line_of_a_pipe_that_cannot_be_used_ends_the_interview(model):
    """The lines after it were meant for other questions, so they are not answers to this one."""
    fitted = read_model(model)
    interview = fitted.interview()
    lines = len(interview.question.parts)
    interview.unknown()
    asked = interview.question.parts[0].name
    done = spawn("ask", model, given="\n" * lines + " nonsense \n\n\n")
    assert done.returncode == 2
    assert "at the end" not in done.stdout
    assert done.stderr.startswith(f"askless: line {lines + 1} of the input, 'nonsense': ")
    assert repr(asked) in done.stderr
    assert done.stderr.count("\n") == 1


def test_unused_lines_are_a_note(model):
    lines = len(read_model(model).interview().question.parts)
    done = spawn("ask", model, "--budget", 1, given="\n" * lines + "\nred\n")
    assert done.returncode == 0
    assert "at the end" in done.stdout
    left = lines + 2 - done.stdout.count("> ")
    assert done.stderr.startswith(f"askless: note: {left} lines of the input were not used")
    assert done.stderr.endswith(" [unused_input]\n")
    done = spawn("ask", model, given="quit\n50\n")
    assert done.stderr.startswith("askless: note: 1 line of the input was not used")


def test_the_end_does_not_wait_for_a_pipe_that_stays_open(model):
    """A program that talks to the command may wait for its end before it closes the pipe."""
    command = [sys.executable, "-m", "askless", "ask", str(model)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdin.write("quit\n")
        process.stdin.flush()
        assert process.wait(timeout=60) == 0


def test_wording_units_and_ranges_are_those_of_the_model_s_file(model):
    fitted = read_model(model)
    described = {"age": {"text": "How old?", "unit": "a", "low": 0, "high": 120}, "pressure": {"text": "Cuff"}}
    session = Session(fitted.interview(max_features=5), fitted.encoder, Wording(described))
    walk_to(session, "age")
    assert "How old?  age" in title(1, session.interview.question, session.wording, session.part).plain
    assert choices_of(session.part, session.wording)[0].startswith("a number (a); ")
    for text in ("121", "-1"):
        reply = session.take(text)
        assert reply.kind == "refused"
        assert reply.text == "'How old?' takes a number from 0 to 120"
    assert session.take("120").kind == "moved"
    with raises(InterviewError, "bad_answer", feature="age", value=500, low=0, high=120):
        known_values(["age=500"], fitted.encoder, Wording(described))


def test_piped_until_the_budget_is_spent(model, regressor):
    done = spawn("ask", model, "--budget", 1, given="\n" * 20)
    assert "asked 1 feature" in done.stdout
    first = read_model(regressor).interview().question.parts[0]
    answer = {"number": "55", "boolean": "yes"}.get(first.kind, "1")
    done = spawn("ask", regressor, given=f"{answer}\nquit\n")
    assert done.returncode == 0
    assert "●" in done.stdout
    assert "you ended it" in done.stdout


def test_patches_of_images_cannot_be_typed(tmp_path, capsys):
    images = np.random.default_rng(0).random((60, 4, 4))
    method = FixedOrder(order=("row 0, column 0",), hidden=(4,), epochs=1)
    model = DynamicClassifier(max_features=1, patch_size=2, method=method, verbose=False)
    model.fit(images, np.arange(60) % 2).save(tmp_path / "m.askless")
    assert main(["ask", str(tmp_path / "m.askless")]) == 2
    assert capsys.readouterr().err.endswith(" [not_supported]\n")


def test_why_says_what_scores_mean(session):
    reply = session.take("why")
    assert reply.kind == "again"
    assert reply.text.splitlines()[0].startswith(f"{session.interview.question.name}: score ")
    assert "the higher the score, the sooner it is asked" in reply.text
    assert ("in nats" in reply.text) == (session.interview.candidates[0].information is not None)


def test_a_fixed_order_shows_no_scores(run, tmp_path, monkeypatch):
    """Its scores only number the features: they say nothing about the case."""
    frame = messy_frame()
    method = FixedOrder(order=("low", "age", "high"), hidden=(4,), epochs=1)
    model = DynamicClassifier(3, method, costs={"age": 2.0}).fit(frame[["age", "low", "high"]], frame["ill"])
    model.save(tmp_path / "m.askless")
    monkeypatch.setattr("sys.stdin", io.StringIO("why\n"))
    shown = run("ask", tmp_path / "m.askless").out
    assert "  low: cost 1\n  age: cost 2\n  high: cost 1\n  this model asks everyone the same questions" in shown
    assert "followed by age (cost 2), high (cost 1)" in shown
    assert "score" not in shown


def test_a_free_question_is_called_free():
    lines = explain(
        [
            Candidate(name="age", score=3e11, information=0.3, price=0.0),
            Candidate(name="scan", score=0.02, information=0.4, price=20.0),
            Candidate(name="x", score=0.0, information=0.0, price=0.0),
        ]
    ).splitlines()
    assert lines[0] == "age: free, so it comes first, information 0.3, cost 0"
    assert lines[1].strip() == "scan: score 0.02, information 0.4, cost 20"
    assert lines[2].strip() == "x: score 0, information 0, cost 0"


def test_why_this_question(session):
    """The candidates that came next, with their prices; they are the policy's, in its order."""
    best = session.interview.candidates
    assert best[0].name == session.interview.question.name
    assert alternatives(session).startswith(f"preferred to {best[1].name} (cost {best[1].price:g}), ")
    assert {each.name: each.price for each in best}.items() <= {
        "age": 2,
        "pressure": 5,
        "colour": 1,
        "smokes": 1,
        "grade": 1,
    }.items()
    for _ in range(4):
        session.interview.unknown()
    assert alternatives(session) == "nothing else is left"


def test_what_was_postponed_is_named_last(session):
    postponed = session.interview.question.name
    session.take("later")
    for _ in range(3):
        session.interview.unknown()
    assert alternatives(session) == f"nothing else is left but {postponed}"
