"""Which WordNet synonyms are taken, by the small WordNet of conftest, and how the result is kept."""

import json
import math

import pytest

from jointmatch.augment import store, thesaurus, wordnet
from jointmatch.augment.closeness import Closeness
from jointmatch.cache import cache_folder
from jointmatch.errors import DataError
from tests.unit.augment.conftest import write_wordnet


@pytest.fixture
def built(tmp_path):
    return thesaurus.build(wordnet.Source("small", write_wordnet(tmp_path / "w")).read(), lambda word, other: 0.75)


def synonyms(built, lemma, pos):
    return built.words[lemma][pos][1]


def test_strength_is_the_root_of_what_both_words_share_times_how_close_they_are(built):
    """Car: 70.7 of 73.4 uses mean automobile, all of whose uses mean car; both are common; 0.75 - 0.25 = 0.5."""
    assert synonyms(built, "car", "n")["automobile"] == pytest.approx(math.sqrt(70.7 / 73.4) * 0.5, abs=0.001)


def test_a_synonym_that_is_mostly_another_part_of_speech_is_weaker(built):
    """Purchase is a verb in 60.7 of 241.4 uses."""
    assert synonyms(built, "buy", "v")["purchase"] == pytest.approx(math.sqrt(60.7 / 241.4) * 0.5, abs=0.001)


def test_rare_words_and_rare_senses_are_left_out(built):
    """Motorcar was never tagged or used in a gloss, cabin shares 2.7 of 73.4 of a car's uses."""
    assert set(synonyms(built, "car", "n")) == {"automobile"}


def test_words_far_apart_are_left_out(tmp_path):
    texts = wordnet.Source("small", write_wordnet(tmp_path / "w")).read()
    assert synonyms(thesaurus.build(texts, lambda word, other: 0.25), "car", "n") == {}


def test_what_is_written_with_a_capital_is_another_word(built):
    assert set(synonyms(built, "china", "n")) == {"crockery"}


def test_slang_is_left_out(built):
    assert synonyms(built, "teacher", "n") == {}


def test_a_narrower_adjective_may_widen_but_not_the_other_way_round(built):
    assert set(synonyms(built, "huge", "a")) == {"big", "large"}
    assert set(synonyms(built, "big", "a")) == {"large"}


def test_compounds_of_two_words_are_known(built):
    assert {"prime minister", "start up"} <= built.compounds


@pytest.mark.parametrize(
    ("word", "other"),
    [("organise", "organize"), ("theater", "theatre"), ("defence", "defense"), ("marketplace", "market")],
)
def test_another_spelling_or_a_longer_form_is_the_same_word(word, other):
    assert thesaurus._skeleton(word) == thesaurus._skeleton(other) or thesaurus._related(word, other)


def test_closeness_reads_both_ways_and_knows_nothing_of_other_pairs():
    close = Closeness("# a comment\nfilm movie 84 picture 52\n")
    assert (close("film", "movie"), close("movie", "film"), close("movie", "picture")) == (0.84, 0.84, 0.0)


def test_the_shipped_closeness_is_readable():
    assert Closeness.shipped()("film", "movie") > 0.7


@pytest.fixture
def builds(monkeypatch):
    """How often the thesaurus is built; nothing is remembered from other tests."""
    calls = []

    def counted(texts, close):
        calls.append(1)
        return thesaurus.build(texts, close)

    monkeypatch.setattr(store, "build", counted)
    store._load.cache_clear()
    yield calls
    store._load.cache_clear()


def test_it_is_built_once_and_the_same_when_loaded(small_wordnet, builds):
    first = store.load()
    store._load.cache_clear()
    again = store.load()
    assert builds == [1]
    assert json.loads(json.dumps(first.words)) == again.words
    assert (first.compounds, first.special, first.seen) == (again.compounds, again.special, again.seen)
    assert first.digest == again.digest


def test_line_ends_do_not_change_the_fingerprint_but_the_words_do(small_wordnet, builds):
    digest = store.load().digest
    write_wordnet(small_wordnet, "\r\n")
    store._load.cache_clear()
    assert store.load().digest == digest
    (small_wordnet / "adv.exc").write_text("best well\n")
    store._load.cache_clear()
    assert store.load().digest != digest


def test_a_damaged_cache_file_is_made_again(small_wordnet, builds):
    digest = store.load().digest
    file = cache_folder() / f"wordnet-{digest}.json"
    file.write_text(file.read_text()[:1000])
    store._load.cache_clear()
    assert store.load().words["car"]
    assert builds == [1, 1]
    assert json.loads(file.read_text())["digest"] == digest


def test_a_cache_folder_that_cannot_be_written_is_no_fault(small_wordnet, builds, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("JOINTMATCH_CACHE", str(tmp_path / "file"))
    assert store.load().words["car"]


def test_files_that_are_no_wordnet_are_a_clear_fault(small_wordnet, builds):
    (small_wordnet / "data.noun").write_text("something else\n")
    with pytest.raises(DataError, match=r"cannot be read .* Wanted those of WordNet 3\.0"):
        store.load()
