"""What an engine may see of a text, and what it may not."""

import time

import pytest

from jointmatch.augment.translation.protection import STAND_IN, Protected


def seen(text: str) -> list[str]:
    """The words that are left for the engine."""
    return STAND_IN.sub(" ", Protected(text).stream).split()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("the minister met Tony Blair in Rome", "the minister met in"),
        ("Bush said it would rain", "said it would rain"),
        ("Cheap oil helps. Bush met him, and Bush left.", "Cheap oil helps. met him, and left."),
        ("Tony Blair left early", "left early"),
        ("we met IBM and the US team", "we met and the team"),
        ("mail me@foo.com or see http://foo.com/a?b=1 now", "mail or see now"),
        ("thanks @user for the #good news", "thanks for the news"),
        ("he paid $3.5bn or 10 dollars", "he paid or 10 dollars"),
        ("very good<br /><br />and cheap", "very good and cheap"),
        ("a state-of-the-art phone", "a phone"),
        ("I don't know", "I don't know"),
        ("it's good \U0001f600\U0001f44d\U0001f3fd ok", "it's good ok"),
        ("they said \u0645\u0631\u062d\u0628\u0627 to me", "they said to me"),
    ],
)
def test_names_addresses_markup_and_symbols_are_kept_from_the_engine(text, words):
    assert " ".join(seen(text)) == words


def test_a_headline_has_no_names_to_be_told_by_their_capitals():
    assert seen("Oil Prices Rise After Storm") == ["Oil", "Prices", "Rise", "After", "Storm"]


@pytest.mark.parametrize(
    "text",
    [
        r"^ $ / < > @ * # ~ [ ] { } \ _ | ` + =",
        "a\0b",
        "[n1] [q0] Xq0x xq1X",
        "\ud800 lone",
        "caf\u00e9 cafe\u0301",
        "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd",
        "\u0e44\u0e1b\u0e40\u0e17\u0e35\u0e48\u0e22\u0e27",
        "'quoted' it's \"double\"",
        "wait... what?!! -- no",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467 family",
        "",
    ],
)
def test_nothing_that_means_something_to_the_stream_gets_into_it_and_all_of_it_comes_back(text):
    protected = Protected(text)
    assert not set(STAND_IN.sub("", protected.stream)) & set("^$/<>@*#~[]{}\\\0")
    restored = protected.restore(protected.stream)
    assert restored is not None
    assert restored.split() == text.split()


def test_a_stand_in_that_is_lost_or_doubled_is_noticed():
    protected = Protected("see @user and @other")
    assert protected.restore("see Xq0x and xQ1X") == "see @user and @other"
    assert protected.restore("see Xq0x") is None
    assert protected.restore("see Xq0x and Xq0x and Xq1x") is None


@pytest.mark.parametrize(
    ("text", "translatable"), [("", False), ("123 \U0001f600", False), ("@a #b", False), ("ok", True)]
)
def test_a_text_without_words_is_not_worth_the_trip(text, translatable):
    assert Protected(text).translatable is translatable


def test_the_apostrophes_of_web_pages_become_real_ones():
    assert Protected("the world #39;s and Tom&#39;s").text == "the world's and Tom's"


@pytest.mark.parametrize(
    "text",
    ["The cat of Mr. Brown sat. " * 1000, "Zm9v+YmFy/" * 20_000, "*-" * 100_000, "<a " * 50_000, "&lt;a" * 40_000],
)
def test_long_and_strange_texts_take_no_time(text):
    start = time.perf_counter()
    Protected(text)
    assert time.perf_counter() - start < 20  # about one; a scan that looks ahead to the end takes minutes
