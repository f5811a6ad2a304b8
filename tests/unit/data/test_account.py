"""What is said of the texts of a prediction."""

import pytest

from jointmatch.data.account import TextAccount
from jointmatch.data.blank import is_blank
from jointmatch.data.splits import MAX_CHARACTERS


def test_texts_are_cut_as_in_training_and_counted_over_all_chunks():
    account = TextAccount()
    assert account.take(["a", " ", "x" * (MAX_CHARACTERS + 1)]) == ["a", " ", "x" * MAX_CHARACTERS]
    account.take(["", "b"])
    assert account.told("kept") == "2 empty text(s): kept. 1 text(s) over 50,000 characters: cut there."


def test_nothing_is_said_where_all_is_well():
    account = TextAccount()
    account.take(["a", "x" * MAX_CHARACTERS])
    assert account.told("kept") is None


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b", " \ufeff\u200d ", "\u2060\u00ad", "\u3164", "\u2800"])
def test_a_text_of_which_nothing_shows_is_blank(text):
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", "\u200ba", ".", "\u4f60", "\U0001f600", "\u0301"])
def test_a_text_of_which_anything_shows_is_not(text):
    assert not is_blank(text)
