"""Back-translation: which engine, what is counted, what a user without one is told."""

import numpy as np
import pytest

from jointmatch.augment import AUGMENTERS, BackTranslation, add_engine, parse
from jointmatch.augment.translation import Apertium, Engine, Fault, Marian
from jointmatch.errors import ConfigError, InputError


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def shout(texts: list[str]) -> list[str | None]:
    return [text.upper() for text in texts]


class Absent(Engine):
    key = "absent"

    def __str__(self) -> str:
        return "absent"

    def missing(self) -> str | None:
        return "a thing; get it with: get thing"

    def round_trip(self, texts, rngs):
        raise AssertionError("not ready")


def test_it_is_made_once_per_text():
    assert AUGMENTERS["backtranslation"] is BackTranslation
    assert BackTranslation.dear


@pytest.mark.parametrize(
    ("spec", "engine"),
    [
        ("apertium", "apertium-spa"),
        ("apertium-cat", "apertium-cat"),
        ("marian", "marian-de"),
        ("marian-fr", "marian-fr"),
        ("marian-fr-sampling", "marian-fr-sampling"),
        ("marian-sampling", "marian-de-sampling"),
    ],
)
def test_a_spec_names_the_engine_and_its_language(spec, engine):
    assert str(parse(f"backtranslation:{spec}")) == f"backtranslation:{engine}"


def test_only_sampling_makes_it_random():
    assert not parse("backtranslation:marian").random
    assert parse("backtranslation:marian-sampling").random
    assert not BackTranslation.random


@pytest.mark.parametrize("spec", ["google", "apertium-spa-sampling", "0.3", "-"])
def test_an_unknown_engine_is_a_fault(spec):
    with pytest.raises(ConfigError, match=f"got '{spec}' behind the colon, wanted apertium, marian"):
        parse(f"backtranslation:{spec}")


@pytest.fixture
def added(monkeypatch):
    """No engine that one test adds is known to another."""
    known: dict[str, Engine] = {}
    for module in ("engine", "backtranslation"):
        monkeypatch.setattr(f"jointmatch.augment.translation.{module}.ADDED", known)


def test_a_function_of_ones_own_gets_a_name_in_specs(added):
    add_engine("shout", lambda texts: [text.upper() + "!" for text in texts], key="shout-1")
    augmenter = parse("backtranslation:shout")
    assert augmenter(["over there"], rng()) == ["OVER THERE!"]
    assert str(augmenter) == "backtranslation:shout"
    assert augmenter.key == parse("backtranslation:shout").key
    with pytest.raises(ConfigError, match="wanted apertium, marian, shout, or"):
        parse("backtranslation:whisper")


@pytest.mark.parametrize("name", ["", "a+b", "a|b", "a:b"])
def test_a_name_that_a_spec_could_not_hold_is_refused(added, name):
    with pytest.raises(ConfigError, match="as an engine's name"):
        add_engine(name, list)


@pytest.mark.parametrize(("models_there", "engine"), [(True, "marian-de"), (False, "apertium-spa")])
def test_without_a_name_the_best_engine_that_is_ready_is_taken(monkeypatch, models_there, engine):
    monkeypatch.setattr(Marian, "missing", lambda self: None if models_there else "models")
    assert str(BackTranslation.read("")) == f"backtranslation:{engine}"


def test_a_machine_with_neither_engine_is_told_how_to_get_either(monkeypatch):
    monkeypatch.setattr(Apertium, "missing", lambda self: "one; get it with: A")
    monkeypatch.setattr(Marian, "missing", lambda self: "two; get them with: B")
    assert BackTranslation().missing() == "one; get it with: A, or: two; get them with: B"
    with pytest.raises(InputError, match="backtranslation needs one; get it with: A, or: two; get them with: B"):
        BackTranslation.read("")(["text"], rng())
    monkeypatch.setattr(Apertium, "missing", lambda self: None)
    assert BackTranslation().missing() is None


def test_an_engine_that_is_not_ready_says_what_it_needs():
    with pytest.raises(InputError, match="backtranslation:absent needs a thing; get it with: get thing"):
        BackTranslation(Absent())(["text"], rng())


def test_a_function_s_views_are_taken_in_order_and_counted():
    augment = BackTranslation(shout)
    assert augment(["a b", "C D", "e"], rng()) == ["A B", "C D", "E"]
    assert (augment.counts.made, augment.counts.unchanged) == (2, 1)
    assert augment([], rng()) == []


def test_the_original_stands_in_for_what_came_back_wrong_and_the_reason_is_counted():
    answers = {
        "was empty": "  ",
        "was none": None,
        "one two three four five six seven eight nine ten": "0",
        "a b c": "x " * 12,
        "d e f": "x " * 11,
        "fine text": "good text",
    }
    augment = BackTranslation(lambda texts: [answers[text] for text in texts])
    assert augment(list(answers), rng()) == [*list(answers)[:4], "x " * 11, "good text"]
    assert augment.counts.dropped == {Fault.LACKING: 2, Fault.LENGTH: 2}
    assert str(augment.counts) == (
        "of 6 view(s) 2 made, 0 unchanged, 2 left as they were: the function gave "
        "nothing, and is asked again in the next run, 2 left as they were: came back far shorter or longer"
    )


def test_one_text_that_breaks_a_function_leaves_the_others_their_views():
    def fragile(texts: list[str]) -> list[str]:
        if "bad" in texts:
            raise RuntimeError
        return [text.upper() for text in texts]

    augment = BackTranslation(fragile)
    assert augment(["a", "bad", "c"], rng()) == ["A", "bad", "C"]
    assert augment.counts.dropped == {Fault.FAILED: 1}


def test_a_function_that_gives_too_few_is_not_believed():
    augment = BackTranslation(lambda texts: ["x"] if len(texts) > 1 else ["y"])
    assert augment(["a", "b"], rng()) == ["y", "y"]


def test_what_a_function_gives_that_is_no_text_counts_as_a_failure():
    augment = BackTranslation(lambda texts: [1, "b!", None])  # type: ignore[list-item]
    assert augment(["a", "b", "c"], rng()) == ["a", "b!", "c"]
    assert augment.counts.dropped == {Fault.FAILED: 1, Fault.LACKING: 1}


@pytest.mark.parametrize("nothing", [None, "", " \n"])
def test_a_text_for_which_a_function_gives_nothing_stands_for_itself_and_is_warned_of(nothing):
    """One of ten, where most would have to be lost for any other fault."""
    augment = BackTranslation(lambda texts: [nothing, *texts[1:]])
    texts = [f"text {i}" for i in range(10)]
    assert augment(texts, rng()) == texts
    assert augment.gave_up()
    assert "1 left as they were: the function gave nothing" in str(augment.report())
    assert augment.attempt(texts[:2], [rng()] * 2) == [None, "text 1"]


def test_nothing_for_a_blank_text_is_all_that_can_be_given():
    augment = BackTranslation(lambda texts: ["", None])
    assert augment.attempt([" ", ""], [rng()] * 2) == [" ", ""]
    assert augment.counts.dropped == {Fault.NOTHING: 2}


def test_what_comes_back_empty_from_an_engine_does_so_every_time():
    class Silent(Absent):
        def missing(self) -> None:
            return None

        def round_trip(self, texts, rngs):
            return [" "] * len(texts)

    assert BackTranslation(Silent()).attempt(["a"], [rng()]) == ["a"]


def test_a_failure_can_be_told_from_a_view_that_is_the_text():
    def fails(texts: list[str]) -> list[str]:
        raise RuntimeError

    assert BackTranslation(fails).attempt(["a"], [rng()]) == [None]
    assert BackTranslation(lambda texts: texts).attempt(["a"], [rng()]) == ["a"]


def test_a_function_s_views_are_kept_for_the_next_run_only_under_a_key():
    assert BackTranslation(shout, key="shout-1").key == BackTranslation(shout, key="shout-1").key
    assert BackTranslation(shout).key != BackTranslation(shout).key


def test_the_key_has_engine_and_language():
    keys = {
        BackTranslation.read(spec).key
        for spec in ("apertium", "apertium-cat", "marian", "marian-fr", "marian-sampling")
    }
    assert len(keys) == 5
