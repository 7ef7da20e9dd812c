from askless.core.events import Event, last_said

HISTORY = [
    Event("later", "pressure", None, 0.0),
    Event("answer", "age", 51, 1.0),
    Event("answer", "pressure", {"systolic": 150}, 5.0),
    Event("tell", "pressure", {"systolic": 150, "diastolic": 95}, 0.0),
    Event("unknown", "sex", None, 1.0),
    Event("later", "pressure", None, 0.0),
]


def test_what_was_said_last():
    assert last_said(HISTORY, "pressure") == {"systolic": 150, "diastolic": 95}
    assert last_said(HISTORY, "age") == 51
    assert last_said(HISTORY, "sex") is None
    assert last_said(HISTORY, "weight") is None
    assert last_said([], "age") is None
