"""Synonym replacement: what is replaced, by what, and what is left alone."""

import numpy as np
import pytest

from jointmatch.augment import Synonym
from jointmatch.augment.wordnet import source, store
from jointmatch.augment.wordnet.reader import Reader


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def view(text: str, rate: float = 1.0, seed: int = 0) -> str:
    (changed,) = Synonym(rate)([text], rng(seed))
    return changed


@pytest.mark.usefixtures("small_wordnet")
class TestOnASmallWordNet:
    @pytest.fixture(autouse=True)
    def fresh(self):
        store._load.cache_clear()
        yield
        store._load.cache_clear()

    @pytest.mark.parametrize(
        ("text", "wanted"),
        [
            pytest.param("the car is here", "the automobile is here", id="noun"),
            pytest.param("two cars and one doctor", "two automobiles and one physician", id="plural"),
            pytest.param("they bought it", "they purchased it", id="past"),
            pytest.param("she will start now", "she will begin now", id="base"),
            pytest.param("it has started here", "it has begun here", id="participle"),
            pytest.param("then it started again", "then it began again", id="past, not participle"),
            pytest.param("it starts now", "it begins now", id="third person"),
            pytest.param("this is larger than that", "this is bigger than that", id="comparative"),
            pytest.param("the largest of all", "the biggest of all", id="superlative"),
            pytest.param("he ran quickly there", "he ran rapidly there", id="adverb"),
        ],
    )
    def test_the_form_of_the_word_is_kept(self, text, wanted):
        assert view(text) == wanted

    @pytest.mark.parametrize(
        ("text", "wanted"),
        [
            ("  the\tcar,\n\nhere  ", "  the\tautomobile,\n\nhere  "),
            ('he said: "the (car)" was his...', 'he said: "the (automobile)" was his...'),
            ("the car's door", "the automobile's door"),
            ("Cars are here. Doctors are not.", "Automobiles are here. Physicians are not."),
            ("THE CAR IS HERE", "THE AUTOMOBILE IS HERE"),
            ("a car and an automobile", "an automobile and a car"),
            ("A car is here", "An automobile is here"),
            ("an car is here", "an automobile is here"),
        ],
    )
    def test_whitespace_punctuation_casing_and_articles_are_kept(self, text, wanted):
        assert view(text) == wanted

    @pytest.mark.parametrize(
        "text",
        [
            "the prime minister is here",
            "we start it up now",
            "we start up now",
            "my Car is here",
            "is CAR here",
            "Doctor No is here",
            "Cars Limited has it",
            "Store has it",
            "see car-shop http://car.example car@car.org #car @car car2 car/shop",
            "just the one that is not here",
            "der doctor store war gestern nicht hier sondern woanders",
            "我昨天买的 car 今天早上突然打不开了",
            "car",
            "",
            " \n ",
            "🙂 🙃",
        ],
    )
    def test_what_is_better_left_alone_stays(self, text):
        assert [view(text, seed=seed) for seed in range(3)] == [text] * 3

    def test_the_share_is_of_all_words_and_no_more(self):
        """Ten words, six of them eligible: 0.3 of ten is three."""
        text = "the car the doctor the shop they bought larger cars"
        for rate, count in ((0.3, 3), (0.5, 5), (1.0, 6)):
            changed = view(text, rate).split()
            assert sum(a != b for a, b in zip(text.split(), changed, strict=True)) == count

    def test_another_generator_picks_other_words(self):
        text = "the car the doctor the shop the store"
        assert len({view(text, 0.2, seed) for seed in range(20)}) > 2

    def test_the_key_has_the_fingerprint_of_the_data(self, small_wordnet):
        before = Synonym(0.3).key
        assert before.startswith("synonym:0.3:")
        (small_wordnet / "adv.exc").write_text("best well\n")
        store._load.cache_clear()
        assert Synonym(0.3).key != before

    def test_a_text_of_5000_words_is_no_trouble(self):
        assert view("the car is here " * 1250, 0.3).count("automobile") == 1250

    def test_the_rate_is_read_from_the_spec_and_is_30_percent_without(self):
        assert (str(Synonym.read("")), str(Synonym.read("0.1"))) == ("synonym:0.3", "synonym:0.1")


@pytest.fixture(scope="module")
def shared_cache(tmp_path_factory):
    return tmp_path_factory.mktemp("wordnet")


@pytest.fixture
def kept(shared_cache, monkeypatch):
    """The real thesaurus is built once for all the tests here."""
    monkeypatch.setenv("JOINTMATCH_CACHE", str(shared_cache))


SOURCES = {found.kind: found for found in source._places() if found.complete()}


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("kind", ["nltk", "debian", "wn"])
def test_every_source_on_this_machine_knows_these_synonyms(kind):
    if kind not in SOURCES:
        pytest.skip(f"no WordNet from {kind} on this machine")
    words = Reader(store._load(SOURCES[kind], store.cache_folder()))
    units = ["the", "car", "of", "the", "lawyer", "was", "purchased", "by", "a", "huge", "film"]
    by_word = {unit: set(found.synonyms) for unit, found in zip(units, words(units), strict=True)}
    assert by_word["car"] == {"automobile"}
    assert by_word["lawyer"] == {"attorney"}
    assert by_word["purchased"] == {"bought"}
    assert by_word["film"] == {"movie"}
    assert by_word["the"] == set()


@pytest.mark.usefixtures("kept")
def test_every_source_on_this_machine_gives_the_same_views():
    """Debian's files have other byte offsets; the draws of a view must not know."""
    made = {store._load(found, store.cache_folder()).digest for found in SOURCES.values()}
    assert len(made) == min(len(SOURCES), 1)


def test_the_same_words_at_other_offsets_have_the_same_fingerprint(small_wordnet):
    """A blank more at the end of each line is no other word."""
    before = store.load().digest
    for file in small_wordnet.glob("data.*"):
        file.write_text("\n".join(f"{line} " if line else line for line in file.read_text().split("\n")))
    store._load.cache_clear()
    assert store.load().digest == before


@pytest.mark.usefixtures("kept")
@pytest.mark.skipif(not SOURCES, reason="no WordNet on this machine")
class TestOnWordNet:
    def test_a_prime_minister_stays_one(self):
        text = "the prime minister met the minister of finance"
        views = [view(text, seed=seed) for seed in range(10)]
        assert all(changed.startswith("the prime minister ") for changed in views)
        assert not any("pastor" in changed for changed in views)

    def test_no_word_becomes_itself_or_a_form_of_itself(self):
        words = Reader(store.load())
        for lemma in sorted(words.thesaurus.words)[::20]:
            (_, found, _) = words(["the", lemma, "is"])
            assert all(lemma not in words.lexicon.entry(synonym).bases for synonym in found.synonyms)
