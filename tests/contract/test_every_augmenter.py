"""What every augmenter promises. A new one is covered by being registered."""

from functools import cache

import numpy as np
import pytest

from jointmatch.augment import AUGMENTERS, Augmenter, Surroundings, WordAugmenter, parse
from jointmatch.augment.base import RatedAugmenter, split_units
from jointmatch.errors import ConfigError

NAMES = list(AUGMENTERS)
SENTENCE = "the quick brown fox jumps over the lazy dog and runs away from it all"
CHINESE = "我昨天买的手机今天早上突然打不开了请问应该怎么办"
LONG_WORD = "x" * 60
TEXTS = [
    "",
    "   ",
    "word",
    "two words",
    SENTENCE,
    CHINESE,
    "今天 天气 很好",
    "ไปเที่ยวไหนดี",
    LONG_WORD,
    "a\nb\tc",
    "🙂 🙃",
]
URL = "https://example.org/" + "long/path/" * 5


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


SURROUNDINGS: list[Surroundings] = []


@cache  # an engine that is slow to start is started once
def made(name: str, rate: float | None = None) -> Augmenter:
    """The augmenter, ready for use, with a rate, or as it comes where it has none."""
    has_rate = issubclass(AUGMENTERS[name], WordAugmenter | RatedAugmenter)
    augmenter = AUGMENTERS[name].read("" if rate is None or not has_rate else str(rate))
    augmenter.prepare(SURROUNDINGS[0])
    return augmenter


def view(name: str, text: str, rate: float | None = None, seed: int = 0) -> str:
    (changed,) = made(name, rate)([text], rng(seed))
    return changed


RANDOM = [n for n in NAMES if AUGMENTERS[n].random]


@pytest.fixture(params=NAMES)
def name(request, kept) -> str:
    lack = made(request.param).missing()
    if lack:
        pytest.skip(f"{request.param} needs {lack}")
    return request.param


@pytest.fixture
def word_name(name) -> str:
    """One that changes single words, not the wording, and with words that it has at hand."""
    if AUGMENTERS[name].dear:
        pytest.skip(f"{name} brings words of its own")
    return name


@pytest.fixture(scope="module")
def module_cache(tmp_path_factory, masked_backbone):
    SURROUNDINGS[:] = [Surroundings("[MASK]", str(masked_backbone))]
    return tmp_path_factory.mktemp("augmenters")


@pytest.fixture(autouse=True)
def kept(own_cache, module_cache, monkeypatch):
    """What an augmenter loads is prepared once for all tests here."""
    monkeypatch.setenv("JOINTMATCH_CACHE", str(module_cache))


def knows(name: str, text: str) -> bool:
    """Whether the augmenter can do anything with the language of a text."""
    return text != CHINESE or "English" not in (AUGMENTERS[name].needs or "")


@pytest.mark.parametrize("rate", [None, 0.0, 0.5, 1.0])
def test_as_many_texts_come_out_as_went_in(name, rate):
    views = made(name, rate)(TEXTS, rng())
    assert len(views) == len(TEXTS)
    assert all(isinstance(v, str) for v in views)
    assert made(name, rate)([], rng()) == []


@pytest.mark.parametrize("rate", [0.1, 0.9, 1.0])
@pytest.mark.parametrize("text", [t for t in TEXTS if t.strip()])
def test_a_text_with_words_is_never_emptied(name, rate, text):
    assert all(view(name, text, rate, seed).strip() for seed in range(20))


def test_a_text_with_a_long_run_and_spaces_is_never_emptied(name):
    text = "a " * 60 + LONG_WORD
    assert all(view(name, text, 1.0, seed).strip() for seed in range(50))


def test_the_same_generator_gives_the_same_views(name):
    texts = [SENTENCE, CHINESE] * 5
    assert made(name, 0.4)(texts, rng(3)) == made(name, 0.4)(texts, rng(3))


def test_another_generator_gives_other_views_where_the_augmenter_is_random(name):
    texts = [SENTENCE] * 10
    differ = made(name, 0.05)(texts, rng(3)) != made(name, 0.05)(texts, rng(4))
    assert differ is AUGMENTERS[name].random


def test_the_caller_s_texts_and_numpy_s_own_stream_stay_as_they_were(name):
    texts = [SENTENCE, CHINESE]
    before = np.random.get_state()[1].tolist()  # type: ignore[index]
    made(name, 0.9)(texts, rng())
    assert texts == [SENTENCE, CHINESE]
    assert np.random.get_state()[1].tolist() == before  # type: ignore[index]


@pytest.mark.parametrize("text", ["", "   ", "word", "two words", SENTENCE, CHINESE, LONG_WORD, "🙂 🙃"])
def test_rate_0_changes_nothing(word_name, text):
    assert [view(word_name, text, 0.0, seed) for seed in range(5)] == [text] * 5


def test_rate_0_leaves_line_breaks_and_repeated_spaces_alone(word_name):
    assert view(word_name, " one\n\ntwo  three\t", 0.0) == " one\n\ntwo  three\t"


@pytest.mark.parametrize("text", ["", "   ", "word"])
def test_the_empty_text_and_one_word_stay_as_they_are(name, text):
    assert view(name, text, 1.0) == text


def test_preparing_takes_what_it_needs_and_no_time(name):
    """Whatever is slow waits for the first text: a list of augmenters prepares them all."""
    corpus = Unread()
    AUGMENTERS[name].read("").prepare(Surroundings("[MASK]", SURROUNDINGS[0].backbone, corpus))  # type: ignore[arg-type]
    assert not corpus.read


class Unread:
    """A corpus that knows whether it was read."""

    read = False

    def __len__(self) -> int:
        return 1

    def __iter__(self):
        self.read = True
        return iter(["one text"])

    def __getitem__(self, index):
        self.read = True
        return "one text"


@pytest.mark.parametrize("text", [SENTENCE, CHINESE])
def test_a_random_augmenter_changes_words_and_also_characters_where_a_script_has_no_spaces(word_name, text):
    changed = {view(word_name, text, 0.4, seed) for seed in range(5)} - {text}
    assert bool(changed) is (AUGMENTERS[word_name].random and knows(word_name, text))


def test_a_view_of_a_script_without_spaces_keeps_most_of_its_characters(name):
    """At rate 0.2 each of the 24 characters survives with probability 0.8; under 8 of them never do."""
    kept = [sum(c in view(name, CHINESE, 0.2, seed) for c in CHINESE) for seed in range(10)]
    assert min(kept) >= 8


def test_a_long_address_in_a_sentence_leaves_the_other_words_whole(word_name):
    text = f"{SENTENCE} {URL} {SENTENCE}"
    changed = set(view(word_name, text, 0.3).split())
    new = changed - {*text.split(), "[MASK]"}
    assert not new or (word_name == "synonym" and URL in changed and all(word.isalpha() for word in new))


def test_the_key_has_the_name_and_the_version(name, monkeypatch):
    before = made(name, 0.3).key
    assert name in before
    monkeypatch.setattr(AUGMENTERS[name], "version", AUGMENTERS[name].version + 1)
    assert made(name, 0.3).key != before


def test_the_key_has_the_rate_where_it_matters(name):
    assert (made(name, 0.3).key != made(name, 0.4).key) is AUGMENTERS[name].random


def test_no_two_augmenters_share_a_key():
    assert len({made(n).key for n in NAMES}) == len(NAMES)


def masking(token: str) -> Augmenter:
    augmenter = parse("none+masking:0.9")
    augmenter.prepare(Surroundings(mask_token=token))
    return augmenter


def test_the_key_of_masking_has_the_mask_token():
    assert masking("<mask>").key != masking("[MASK]").key


def test_masking_uses_the_backbone_s_own_token():
    assert "<mask>" in masking("<mask>")([SENTENCE], rng())[0]


def test_a_spec_names_the_augmenter_its_rate_and_what_follows():
    chain = parse(" deletion:0.25 + swap ")
    assert str(chain) == "deletion:0.25+swap:0.1"
    assert chain.random
    assert not parse("none+dropout").random


def test_a_chain_applies_its_parts_in_order_and_its_key_keeps_it():
    chain, texts = parse("deletion:0.3+masking:0.3"), [SENTENCE] * 3
    generator = rng(1)
    first = made("deletion", 0.3)(texts, generator)
    assert chain(texts, rng(1)) == made("masking", 0.3)(first, generator)
    assert chain.key != parse("masking:0.3+deletion:0.3").key


@pytest.mark.parametrize("rate", ["1.1", "-0.1", "much", "nan"])
def test_a_rate_out_of_range_is_a_fault(rate):
    with pytest.raises(ConfigError, match=f"got '{rate}' behind the colon, wanted a rate from 0 to 1"):
        parse(f"deletion:{rate}")


def test_an_unknown_augmenter_gets_the_nearest_name():
    with pytest.raises(ConfigError, match=r"Unknown augmenter 'delete'\. Did you mean 'deletion'"):
        parse("delete:0.1")


@pytest.mark.parametrize(
    ("text", "units", "joint"),
    [
        ("two  words", ["two", "words"], " "),
        ("word", ["word"], " "),
        ("今天好", ["今", "天", "好"], ""),
        ("", [], " "),
    ],
)
def test_a_text_is_cut_into_words_or_characters_by_its_script(text, units, joint):
    assert split_units(text) == (units, joint)


@pytest.mark.parametrize(
    ("spec", "sign"), [("swap+", "+"), ("+swap", "+"), ("swap++deletion", "+"), ("a | ", "|"), ("swap||swap", "|")]
)
def test_nothing_beside_a_sign_is_called_that(spec, sign):
    with pytest.raises(ConfigError) as refused:
        parse(spec)
    assert f"augmenter {spec!r}: something is missing beside a {sign!r}" in str(refused.value)
    assert "''" not in str(refused.value)


def test_an_empty_spec_is_called_that():
    with pytest.raises(ConfigError, match="got an empty augmenter, wanted a name"):
        parse(" ")
