"""The word reader: what it is taught, what it says, and what it says beside networks."""

import json
import unicodedata

import numpy as np
import pytest
from safetensors.torch import load_file, save_file
from sklearn.linear_model import LogisticRegression

from jointmatch import words as module
from jointmatch.words import (
    FEWEST_POOL_TEXTS,
    LABELED,
    STRENGTH,
    Lessons,
    NoLessonsError,
    WordReader,
    Words,
    _surest,
    drawn,
    together,
)
from tests.conftest import topic_texts

TEXTS, NAMES = topic_texts(240)
CLASSES = sorted(set(NAMES))
TRUTH = np.array([CLASSES.index(name) for name in NAMES])


def hard(labels, classes=3) -> np.ndarray:
    return np.eye(classes)[labels]


@pytest.fixture(autouse=True)
def small_pools_will_do(monkeypatch, request):
    if "size" not in request.fixturenames:
        monkeypatch.setattr(module, "FEWEST_POOL_TEXTS", 3)


def known(texts) -> Words:
    return Words.found_in(texts)[0]


def lessons(labeled=TEXTS[:12], labels=TRUTH[:12]) -> Lessons:
    return Lessons(TEXTS, labeled, labels, 3)


def test_the_surest_four_fifths_of_each_class_are_learnt_from():
    """Of five texts taken for class 0 four, of one for class 1 that one, of class 2 none was found."""
    sureness = [0.9, 0.6, 0.8, 0.7, 0.95]
    probs = np.array([[p, 1 - p, 0] for p in sureness] + [[0.2, 0.5, 0.3]])
    assert _surest(probs).tolist() == [4, 0, 2, 3, 5]


@pytest.mark.parametrize(
    ("networks", "words", "wanted"),
    [
        ([0.5, 0.5], [0.8, 0.2], [2 / 3, 1 / 3]),  # sqrt(0.4) : sqrt(0.1) = 2 : 1
        ([0.9, 0.1], [0.1, 0.9], [0.5, 0.5]),
        ([1.0, 0.0], [0.0, 1.0], [0.5, 0.5]),  # each rules out what the other says: nothing is known
    ],
)
def test_both_count_alike(networks, words, wanted):
    np.testing.assert_allclose(together(np.array([networks]), np.array([words])), [wanted], atol=1e-12)


def by_hand() -> WordReader:
    """Of two words, both as rare; "good" speaks for the second class."""
    return WordReader(Words(["bad", "good"], np.ones(2)), np.array([[1.0, 0.0], [0.0, np.log(3)]]), np.zeros(2))


def test_a_text_is_a_row_of_length_one_and_its_words_add_up():
    rows = by_hand().words.rows(["Good, good!", "good bad", "nothing known"])
    np.testing.assert_allclose(rows.toarray(), [[0.0, 1.0], [0.5**0.5, 0.5**0.5], [0.0, 0.0]])
    np.testing.assert_allclose(by_hand().probs(rows)[[0, 2]], [[1 / 4, 3 / 4], [1 / 2, 1 / 2]], rtol=1e-6)


def test_of_a_text_without_a_known_word_the_networks_are_asked_alone():
    networks = np.array([[0.9, 0.1], [0.9, 0.1]])
    reader = by_hand()
    said = reader.beside(networks, reader.words.rows(["good", "nothing known"]))
    np.testing.assert_array_equal(said[1], networks[1])
    # sqrt(0.9 / 4) : sqrt(0.1 * 3 / 4) = sqrt(3) : 1
    np.testing.assert_allclose(said[0, 0] / said[0, 1], 3**0.5, rtol=1e-6)


def test_words_that_few_texts_have_are_not_known():
    words = known(["one thing"] * 2 + ["two things"] * 3)
    assert words.vocabulary == ["things", "two", "two things"]


@pytest.mark.parametrize("pool", [["alpha", "beta", "gamma"], ["", " ", "!"]])
def test_a_pool_without_words_in_common_has_no_words(pool):
    with pytest.raises(NoLessonsError, match="no word is in 3 or more of the unlabelled texts"):
        Lessons(pool, ["words"], [0], 2)


@pytest.mark.parametrize("size", [FEWEST_POOL_TEXTS])
def test_a_small_pool_has_no_lessons(size):
    assert Lessons(["some words"] * size, ["words"], [0], 2).words.vocabulary
    with pytest.raises(NoLessonsError, match=f"it takes 500 unlabelled texts or more, got {size - 1}"):
        Lessons(["some words"] * (size - 1), ["words"], [0], 2)


def test_where_most_texts_have_no_word_in_common_there_are_no_lessons():
    """As in scripts that do not write words apart: a few borrowed ones would be all that is known."""
    apart = [f"word{i}" for i in range(100)]
    assert Lessons([*["http app"] * 51, *apart[51:]], ["http"], [0], 2).words.vocabulary
    with pytest.raises(NoLessonsError, match="only 49% of the unlabelled texts share a word with others"):
        Lessons([*["http app"] * 49, *apart[49:]], ["http"], [0], 2)


def test_marks_belong_to_their_letters():
    """Vowel signs of Indic scripts are not letters to Python; an accent may be written apart from its letter."""
    hindi = "क्रिकेट राजनीति"
    assert known([hindi] * 3).vocabulary == sorted(["क्रिकेट", "राजनीति", hindi])
    assert known(["größe"] * 3).rows([unicodedata.normalize("NFD", "Größe")]).sum() == 1
    assert known(["good \N{HEAVY BLACK HEART}\N{VARIATION SELECTOR-16} 1\N{VARIATION SELECTOR-16}"] * 3).vocabulary == [
        "good"
    ]


def test_of_many_classes_fewer_words_are_kept(monkeypatch):
    monkeypatch.setattr(module, "MOST_WEIGHTS", 15)
    assert len(Lessons(TEXTS, TEXTS[:12], TRUTH[:12], 5).words.vocabulary) == 3


def test_many_classes_that_are_equally_frequent_are_learnt_to_the_end():
    """The first gradients are small there, and must not be taken for the last ones. Three in ten labels are wrong."""
    rng, turn = np.random.default_rng(0), np.tile(np.arange(40), 50)
    truth = np.repeat(np.arange(50), 40)
    own, shared = rng.integers(0, 60, (len(truth), 6)), rng.integers(0, 4000, (len(truth), 40))
    numbers = np.concatenate([truth[:, None] * 60 + own, 10_000 + shared], axis=1)
    pool = [" ".join(f"word{number}" for number in of_text) for of_text in numbers]
    said = np.where(turn % 10 < 3, (truth + 1 + turn) % 50, truth)
    reader = Lessons(pool, pool[::40], truth[::40], 50).taught(hard(said, 50))
    learnt = [*np.concatenate([np.flatnonzero(said == c)[:32] for c in range(50)]), *np.repeat(np.arange(50) * 40, 5)]
    wanted = [*said[learnt[:1600]], *truth[learnt[1600:]]]
    every = reader.words.rows(pool)
    plain = LogisticRegression(C=STRENGTH, max_iter=1000, tol=1e-6).fit(every[learnt], wanted)
    assert reader.probs(every).max(-1).mean() == pytest.approx(plain.predict_proba(every).max(-1).mean(), rel=0.02)


def test_a_class_that_nobody_names_is_never_predicted():
    reader = Lessons(TEXTS, TEXTS[:12], TRUTH[:12], 5).taught(hard(TRUTH, 5))
    said = reader.probs(reader.words.rows(TEXTS))
    np.testing.assert_array_equal(
        said.argmax(-1), lessons().taught(hard(TRUTH)).probs(reader.words.rows(TEXTS)).argmax(-1)
    )
    assert said[:, 3:].max() < 1e-6


def test_of_texts_that_are_equally_sure_the_first_ones_are_taken():
    sureness = np.tile([0.9, 0.6], 500)
    wanted = [*range(0, 1000, 2), *range(1, 600, 2)]
    assert _surest(np.stack([sureness, 1 - sureness], axis=-1)).tolist() == wanted


def test_of_a_very_large_pool_some_texts_are_drawn(monkeypatch):
    np.testing.assert_array_equal(drawn(7, seed=0), np.arange(7))
    monkeypatch.setattr(module, "MOST_POOL_TEXTS", 10)
    rows = drawn(1000, seed=3)
    assert len(set(rows.tolist())) == 10
    assert rows.tolist() == sorted(rows.tolist()) == drawn(1000, seed=3).tolist()
    assert rows.tolist() != drawn(1000, seed=4).tolist()


def test_texts_that_were_drawn_keep_their_labels(monkeypatch):
    """Probabilities are the whole pool's, rows of words those of the texts drawn."""
    monkeypatch.setattr(module, "MOST_POOL_TEXTS", 60)
    sureness = np.random.default_rng(0).uniform(0.4, 0.9, len(TEXTS))
    said = hard(TRUTH) * sureness[:, None] + (1 - sureness)[:, None] / 3
    reader = Lessons(TEXTS, TEXTS[:12], TRUTH[:12], 3, seed=3)
    rows = drawn(len(TEXTS), seed=3)
    those = [TEXTS[i] for i in rows]
    wanted = Lessons(those, TEXTS[:12], TRUTH[:12], 3).taught(said[rows])
    found = reader.taught(said)
    assert found.words.vocabulary == wanted.words.vocabulary  # words of other texts are not known
    np.testing.assert_array_equal(found.weights, wanted.weights)


def test_the_words_of_most_texts_are_kept_where_there_are_too_many(monkeypatch):
    monkeypatch.setattr(module, "MOST_WORDS", 3)
    words = Lessons(["one two three"] * 3 + ["one two"] * 3, ["one"], [0], 2).words
    assert words.vocabulary == ["one", "one two", "two"]


def test_a_word_said_often_in_a_text_counts_by_its_logarithm():
    """Three times: 1 + log 3, beside one of a word that is as rare."""
    rows = by_hand().words.rows(["good good good bad"]).toarray()[0]
    assert rows[1] / rows[0] == pytest.approx(1 + np.log(3))


@pytest.mark.parametrize("classes", [2, 3])
def test_what_is_learnt_is_a_logistic_regression_in_which_a_given_label_counts_five_times(classes):
    rows = np.flatnonzero(classes > TRUTH)
    pool, truth = [TEXTS[i] for i in rows], TRUTH[rows]
    given = Lessons(pool, pool[:9], truth[:9], classes)
    reader = given.taught(hard(truth, classes))
    surest = np.concatenate(
        [np.flatnonzero(truth == c)[: int(np.ceil(0.8 * (truth == c).sum()))] for c in range(classes)]
    )
    learnt = [*surest, *np.tile(np.arange(9), int(LABELED))]
    plain = LogisticRegression(C=STRENGTH, max_iter=1000, tol=1e-6)
    plain.fit(reader.words.rows([pool[i] for i in learnt]), truth[learnt])
    every = reader.words.rows(pool)
    wanted = plain.predict_proba(every) / np.sqrt(np.bincount(truth[learnt]))  # half of what the shares say
    np.testing.assert_allclose(reader.probs(every), wanted / wanted.sum(-1, keepdims=True), atol=5e-3)


def test_half_of_what_the_shares_of_classes_say_is_left():
    """Nine in ten of the pool are of the first class; a text whose one word is in both as often tells nothing else.

    Learnt in full, the odds would be near 9 : 1; half of it, in logs, is 3 : 1.
    """
    pool = ["same"] * 1000
    labels = np.where(np.arange(1000) < 900, 0, 1)
    reader = Lessons(pool, ["same"] * 2, [0, 1], 2).taught(hard(labels, 2))
    odds = np.divide(*reader.probs(reader.words.rows(["same"]))[0])
    assert odds == pytest.approx(3, rel=0.05)


def test_rows_that_are_left_out_are_not_learnt_from():
    with_wrong = lessons(labels=[(TRUTH[0] + 1) % 3, *TRUTH[1:12]])
    without = with_wrong.taught(hard(TRUTH), without=np.array([0]))
    never = lessons(TEXTS[1:12], TRUTH[1:12]).taught(hard(TRUTH))
    np.testing.assert_array_equal(without.weights, never.weights)
    assert not np.array_equal(without.weights, with_wrong.taught(hard(TRUTH)).weights)


def test_errors_without_a_word_in_common_cancel_out():
    """Three in ten of the teacher's labels are wrong; of new texts the reader gets nearly all."""
    rng = np.random.default_rng(0)
    pool, names = topic_texts(1200)
    truth = np.array([CLASSES.index(name) for name in names])
    said = np.where(rng.random(len(truth)) < 0.3, (truth + rng.integers(1, 3, len(truth))) % 3, truth)
    reader = Lessons(pool, pool[:12], truth[:12], 3).taught(hard(said))
    new, wanted = topic_texts(300, seed=7)
    assert (said == truth).mean() < 0.75
    found = [CLASSES[i] for i in reader.probs(reader.words.rows(new)).argmax(-1)]
    assert np.mean([a == b for a, b in zip(found, wanted, strict=True)]) > 0.9


def test_a_class_that_the_networks_never_name_is_learnt_from_its_given_labels():
    reader = lessons().taught(hard(np.where(TRUTH == 2, 0, TRUTH)))
    assert reader.biases.shape == (3,)
    assert np.isfinite(reader.weights).all()


def test_a_loaded_reader_says_the_very_same(tmp_path):
    pool = [f"{text} größe ナイス" for text in TEXTS]
    reader = Lessons(pool, TEXTS[:12], TRUTH[:12], 3).taught(hard(TRUTH))
    reader.save(tmp_path)
    loaded = WordReader.load(tmp_path, 3)
    assert "größe ナイス" in loaded.words.vocabulary
    texts = [*pool[:20], "", "Ünknown wörds"]
    np.testing.assert_array_equal(loaded.probs(loaded.words.rows(texts)), reader.probs(reader.words.rows(texts)))


@pytest.mark.parametrize(("classes", "dropped"), [(4, 0), (3, 1)])
def test_files_that_do_not_belong_together_are_refused(tmp_path, classes, dropped):
    lessons().taught(hard(TRUTH)).save(tmp_path)
    vocabulary = json.loads((tmp_path / "words.json").read_text())
    (tmp_path / "words.json").write_text(json.dumps(vocabulary[dropped:]))
    with pytest.raises(ValueError, match=r"words\.safetensors holds .*, wanted .* for words\.json"):
        WordReader.load(tmp_path, classes)


@pytest.mark.parametrize("name", ["weights", "biases", "rarity"])
@pytest.mark.parametrize("value", [float("nan"), float("-inf"), -3e38])
def test_numbers_that_cannot_be_are_refused(tmp_path, name, value):
    lessons().taught(hard(TRUTH)).save(tmp_path)
    arrays = load_file(tmp_path / "words.safetensors")
    arrays[name].flatten()[0] = value
    save_file(arrays, tmp_path / "words.safetensors")
    with pytest.raises(ValueError, match="holds NaN, infinite or impossibly large values"):
        WordReader.load(tmp_path, 3)


@pytest.mark.parametrize("form", [list, "".join, dict.fromkeys], ids=["numbers", "a string", "a table"])
def test_a_vocabulary_that_is_not_a_list_of_words_is_refused(tmp_path, form):
    lessons().taught(hard(TRUTH)).save(tmp_path)
    count = len(json.loads((tmp_path / "words.json").read_text()))
    keys = range(count) if form is list else map(chr, range(count))
    (tmp_path / "words.json").write_text(json.dumps(form(keys)))
    with pytest.raises(ValueError, match=r"words\.json is not a list of words"):
        WordReader.load(tmp_path, 3)


@pytest.mark.parametrize(
    ("lost", "won", "said"), [(9, 0, True), (4, 0, False), (30, 20, False), (36, 20, True), (0, 9, False)]
)
def test_harm_is_said_where_it_is_more_than_chance(lost, won, said):
    """A difference of lost - won flips of a coin has a standard deviation of sqrt(lost + won): 2 * sqrt(56) < 16."""
    alone = np.repeat([True, False, True], [lost, won, 100])
    both = np.repeat([False, True, True], [lost, won, 100])
    text = module.harm(alone, both, "on the dev part")
    assert bool(text) is said
    if text:
        assert "network.word_reader=false" in text
