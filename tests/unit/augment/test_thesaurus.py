"""Which WordNet synonyms are taken, by the small WordNet of conftest, and how the result is kept."""

import json
import math
from collections import Counter
from importlib import resources

import pytest

from jointmatch.augment.wordnet import choice, database, source, store, thesaurus
from jointmatch.augment.wordnet.closeness import Closeness
from jointmatch.cache import cache_folder
from jointmatch.errors import DataError
from tests.unit.augment.conftest import write_wordnet


def build(folder, close):
    return thesaurus.build(source.Source("small", write_wordnet(folder / "w")).read(), close)


@pytest.fixture
def built(tmp_path):
    return build(tmp_path, lambda word, other: 0.75)


def synonyms(built, lemma, pos, level=0):
    by_level = built.words[lemma][pos][1]
    return by_level[level] if by_level else {}


def test_strength_is_the_root_of_what_both_words_share_times_how_close_they_are(built):
    """Car: 70.7 of 73.4 uses mean automobile, all of whose uses mean car; both are common; 0.75 - 0.25 = 0.5."""
    assert synonyms(built, "car", "n")["automobile"] == pytest.approx(math.sqrt(70.7 / 73.4) * 0.5, abs=0.001)


def test_a_synonym_that_is_mostly_another_part_of_speech_is_weaker(built):
    """Purchase is a verb in 60.7 of 241.4 uses."""
    assert synonyms(built, "buy", "v")["purchase"] == pytest.approx(math.sqrt(60.7 / 241.4) * 0.5, abs=0.001)


def test_rare_words_and_rare_senses_are_left_out(built):
    """Motorcar was never tagged or used in a gloss, cabin shares 2.7 of 73.4 of a car's uses."""
    assert all(set(synonyms(built, "car", "n", level)) == {"automobile"} for level in range(3))


def test_the_next_level_counts_more_of_what_makes_words_close(tmp_path):
    """Closeness 0.45 is 0.2 above nothing to the strictest level and 0.35 to the next: root(70.7 / 73.4) of it."""
    built = build(tmp_path, lambda word, other: 0.45)
    assert synonyms(built, "car", "n")["automobile"] == pytest.approx(math.sqrt(70.7 / 73.4) * 0.2, abs=0.001)
    assert synonyms(built, "car", "n", 1)["automobile"] == pytest.approx(math.sqrt(70.7 / 73.4) * 0.35, abs=0.001)


def test_words_less_close_than_45_percent_are_left_out_at_every_level(tmp_path):
    assert built_levels(build(tmp_path, lambda word, other: 0.44), "car", "n") == []


def built_levels(built, lemma, pos):
    return built.words[lemma][pos][1]


def test_what_is_written_with_a_capital_is_another_word(built):
    assert set(synonyms(built, "china", "n")) == {"crockery"}


def test_slang_is_left_out(built):
    assert built_levels(built, "teacher", "n") == []


@pytest.mark.parametrize(
    "gloss", ["informal terms for money", "(slang) a teacher", "a derogatory term for a teacher", "offensive names"]
)
def test_slang_is_told_from_the_definition_too(gloss):
    (_, synset), *_ = database.synsets(f"00000010 06 n 02 dough 0 loot 0 000 | {gloss}", Counter())
    assert synset.marked == {"dough", "loot"}


def test_a_definition_may_speak_of_informal_things(built):
    (_, synset), *_ = database.synsets("00000010 06 n 02 chat 0 talk 0 000 | an informal conversation", Counter())
    assert synset.marked == set()


def test_a_narrower_adjective_may_widen_but_not_the_other_way_round(built):
    assert set(synonyms(built, "huge", "a")) == {"big", "large"}
    assert all(set(synonyms(built, "big", "a", level)) == {"large"} for level in range(3))


def test_a_narrower_word_is_taken_below_the_strictest_level_where_it_was_read_as_good(tmp_path):
    """Huge is all that is narrower than big, and big all that is wider: half of each, root(0.5 * 0.5) * (1 - 0.1)."""
    built = build(tmp_path, lambda word, other: 1.0 if (word, other) == ("big", "huge") else 0.75)
    assert set(synonyms(built, "big", "a")) == {"large"}
    assert synonyms(built, "big", "a", 1)["huge"] == pytest.approx(0.45)
    assert set(synonyms(built, "large", "a", 1)) == {"big"}


def test_what_was_read_as_good_needs_no_counts(tmp_path):
    """A cabin is no common word: nothing shared, but 0.05 for being read: root(0.05) * 0.9."""
    built = build(tmp_path, lambda word, other: 1.0 if (word, other) == ("car", "cabin") else 0.75)
    assert set(synonyms(built, "car", "n")) == {"automobile"}
    assert synonyms(built, "car", "n", 1)["cabin"] == pytest.approx(math.sqrt(0.05) * 0.9, abs=0.001)
    assert built_levels(built, "cabin", "n")[1].get("car", 0) == pytest.approx(math.sqrt(2.7 / 73.4) * 0.65, abs=0.001)


def test_compounds_of_two_words_are_known(built):
    assert {"prime minister", "start up"} <= built.compounds


@pytest.mark.parametrize(
    ("word", "other"),
    [("organise", "organize"), ("theater", "theatre"), ("defence", "defense"), ("marketplace", "market")],
)
def test_another_spelling_or_a_longer_form_is_the_same_word(word, other):
    assert choice._skeleton(word) == choice._skeleton(other) or choice._related(word, other)


def test_closeness_reads_both_ways_and_knows_nothing_of_other_pairs():
    close = Closeness("# a comment\nfilm movie 84 picture 52\n")
    assert (close("film", "movie"), close("movie", "film"), close("movie", "picture")) == (0.84, 0.84, 0.0)


def test_a_closeness_of_100_counts_one_way_and_goes_before_the_other():
    close = Closeness("big huge 61\nhuge big 100\nsay state 100\n")
    assert (close("huge", "big"), close("big", "huge")) == (1.0, 0.61)
    assert (close("say", "state"), close("state", "say")) == (1.0, 0.0)


def test_the_shipped_closeness_is_readable_and_has_its_licence_beside_it():
    assert Closeness.shipped()("film", "movie") > 0.7
    assert Closeness.shipped()("egg", "testicle") == 0
    licence = resources.files("jointmatch.augment.wordnet") / "LICENSE-WordNet.txt"
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in licence.read_text(encoding="utf-8")


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
    (file,) = cache_folder().glob("wordnet-*.json")
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
