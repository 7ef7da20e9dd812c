import numpy as np
import pytest

from askless.encoding import TableEncoder
from askless.encoding.cells import FALSE_WORDS, TRUE_WORDS, UNKNOWN_WORDS, is_unknown, read_boolean


@pytest.mark.parametrize("change", [str, str.upper, str.title, " {} ".format])
def test_words_for_yes_and_no(change):
    assert {read_boolean(change(word)) for word in TRUE_WORDS} == {True}
    assert {read_boolean(change(word)) for word in FALSE_WORDS} == {False}
    assert {is_unknown(change(word)) for word in UNKNOWN_WORDS} == {True}
    for word in ("", "2", "-1", "yess", "unknown", "nan"):
        assert read_boolean(change(word)) is None
    for word in (*TRUE_WORDS, *FALSE_WORDS, "none", "Na"):
        assert not is_unknown(word)


def test_no_word_has_two_meanings():
    assert not TRUE_WORDS & FALSE_WORDS
    assert not (TRUE_WORDS | FALSE_WORDS) & UNKNOWN_WORDS


def test_tables_and_answers_take_the_same_words():
    encoder = TableEncoder.fit(np.array([[True], [False]]))
    for words, sign in ((TRUE_WORDS, 1.0), (FALSE_WORDS, -1.0)):
        cells = np.array([[word] for word in sorted(words)], dtype=object)
        assert encoder.transform(cells).x.ravel().tolist() == [sign] * len(words)
        assert {encoder.encode_answer(0, word).item() for word in words} == {sign}
