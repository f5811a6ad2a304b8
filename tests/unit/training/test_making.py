"""Views made before training: which are kept, what stands in for them, and what comparing them does."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest

from jointmatch.augment import AUGMENTERS, Surroundings, WordAugmenter
from jointmatch.config import AugmentConfig
from jointmatch.data import Splits, Texts
from jointmatch.errors import InputError
from jointmatch.training import Listener, ViewMaker, Views, ready_views
from jointmatch.training.making import Made
from jointmatch.training.views import Kept
from tests.unit.training.toy import Recorder

TEXTS = ["one two three four", "five six seven eight", "nine ten eleven twelve"]
SPLITS = Splits(["a", "b"], Texts(["labelled text here"], [0]), Texts(TEXTS, [-1] * 3))


class Numbering(WordAugmenter):
    """Dear, and says how often each text was asked for."""

    dear = True
    asked: ClassVar[list[str]] = []

    def change(self, units, rng):
        self.asked.append(" ".join(units))
        return [*units, str(rng.integers(10**9))]

    def report(self):
        return f"{len(self.asked)} asked"


class Lacking(WordAugmenter):
    def missing(self):
        return "the program xyz: apt install xyz"

    def change(self, units, rng):
        raise InputError("no xyz")


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    for name, cls in (("numbering", Numbering), ("lacking", Lacking)):
        monkeypatch.setitem(AUGMENTERS._entries, name, cls)
        cls.name = name
    monkeypatch.setattr(Numbering, "asked", [])


def made(config, listener=None, everything=False, similarity=None, splits=SPLITS):
    views = Views(config, 0)
    for own in views.for_networks(2):
        ViewMaker(splits, Surroundings(), listener or Listener(), similarity).make(own, everything)
    return views


def test_a_dear_view_is_made_once_and_the_same_at_every_step_and_in_every_run():
    views = made(AugmentConfig("none", ("numbering",)))
    first = views.strong(SPLITS.pool, [0, 1, 2], draw=1)
    assert first == views.strong(SPLITS.pool, [0, 1, 2], draw=2)
    assert Numbering.asked == TEXTS
    again = made(AugmentConfig("none", ("numbering",)))
    assert again.strong(SPLITS.pool, [2, 0], draw=1) == [first[2], first[0]]
    assert Numbering.asked == TEXTS


def test_several_dear_views_are_drawn_from():
    views = made(AugmentConfig("none", ("numbering",), views=3))
    seen = {views.strong(SPLITS.pool, [0], draw)[0] for draw in range(50)}
    assert len(seen) == 3
    assert views.fixed_strong(SPLITS.pool)[0] != views.fixed_strong(SPLITS.pool)[1]


def test_cheap_views_stay_fresh_unless_everything_is_kept():
    config = AugmentConfig("none", ("deletion:0.5",))
    fresh, kept = made(config), made(config, everything=True)
    assert len({tuple(fresh.strong(SPLITS.pool, [0, 1, 2], draw)) for draw in range(20)}) > 5
    assert len({tuple(kept.strong(SPLITS.pool, [0, 1, 2], draw)) for draw in range(20)}) == 1


def test_what_follows_a_dear_view_in_a_chain_stays_fresh():
    views = made(AugmentConfig("none", ("swap+numbering+deletion:0.5",)))
    seen = {views.strong(SPLITS.pool, [0], draw)[0] for draw in range(30)}
    assert len(seen) > 5
    assert len(Numbering.asked) == 3
    (number,) = {word for view in seen for word in view.split() if word.isdecimal()}
    assert int(number) >= 0


def test_weak_views_are_made_of_the_labelled_texts_too():
    views = made(AugmentConfig("numbering", ("none",)))
    assert views.weak(SPLITS.labeled, [0], 1)[0].startswith("labelled text here ")
    assert sorted(Numbering.asked) == sorted([*TEXTS, "labelled text here"])


def test_nothing_is_made_where_the_user_brings_the_views():
    own = replace(SPLITS, pool=replace(SPLITS.pool, strong=["x", "y", "z"]))
    views = made(AugmentConfig("none", ("numbering",)), splits=own)
    assert views.strong(own.pool, [2, 0], 1) == ["z", "x"]
    assert Numbering.asked == []


def test_making_dear_views_shows_progress_and_says_what_became_of_them():
    listener = Recorder()
    made(AugmentConfig("none", ("numbering",)), listener)
    assert listener.stages == [("views (numbering:0.1)", 3)]
    assert listener.steps == 3
    assert listener.notes == ["Views by numbering:0.1: 3 asked."]


def test_networks_with_the_same_dear_augmenter_of_their_own_get_different_views():
    first, second = made(AugmentConfig(strong_per_network=("numbering",))).for_networks(2)
    assert first.strong(SPLITS.pool, [0], 1) != second.strong(SPLITS.pool, [0], 1)


@pytest.mark.parametrize(
    ("config", "wanted"),
    [
        (AugmentConfig("lacking", ("swap",)), ("deletion:0.1+swap:0.1", ("swap",))),
        (AugmentConfig("none", ("lacking", "swap")), ("none", ("deletion:0.1+swap:0.1", "swap"))),
        (AugmentConfig("none", ("none+lacking",), fallback="deletion"), ("none", ("deletion",))),
    ],
)
def test_a_missing_resource_is_named_and_something_else_used(config, wanted):
    found, notes = ready_views(config)
    assert (found.weak, found.strong) == wanted
    assert len(notes) == 1
    assert "the program xyz: apt install xyz" in notes[0]
    assert f"Until then {config.fallback} is used" in notes[0]


def test_without_a_fallback_a_missing_resource_stops_the_run():
    config, notes = ready_views(AugmentConfig("none", ("lacking",), fallback=""))
    assert (config.strong, notes) == (("lacking",), [])
    with pytest.raises(InputError, match="no xyz"):
        made(config, everything=True)


def test_a_missing_resource_of_one_network_is_replaced_there():
    found, notes = ready_views(AugmentConfig(strong_per_network=("none", "none", "lacking")))
    assert found.strong_per_network == ("none", "none", "deletion:0.1+swap:0.1")
    assert len(notes) == 1


def by_length(texts, views):
    """Alike as far as the view is as long as its text: 4 words of 5 are 0.8."""
    return np.array([len(t.split()) / len(v.split()) for t, v in zip(texts, views, strict=True)])


@pytest.mark.parametrize(("least", "kept"), [(0.7, True), (0.9, False)])
def test_a_view_gone_astray_is_replaced_by_its_text_and_the_share_is_said(least, kept):
    """Each view has 5 words for 4, so 0.8 alike."""
    listener = Recorder()
    views = made(AugmentConfig("none", ("numbering",), min_similarity=least), listener, similarity=by_length)
    assert (views.strong(SPLITS.pool, [0, 1, 2], 1) != TEXTS) is kept
    share = "0 of 3 (0.0%)" if kept else "3 of 3 (100.0%)"
    assert any(note.startswith(f"Views by numbering:0.1: {share}") for note in listener.notes)


def test_ranked_views_give_the_most_alike_to_the_labels_and_the_rest_to_the_loss():
    """Two views of five words and the text itself, as one of the three: the text is the most alike."""
    config = AugmentConfig("numbering", ("none",), views=2, rank=True)
    views = made(config, similarity=by_length)
    assert views.weak(SPLITS.pool, [0, 1, 2], 1) == TEXTS
    seen = {views.strong(SPLITS.pool, [0], draw)[0] for draw in range(30)}
    assert len(seen) == 2
    assert all(view.startswith(TEXTS[0] + " ") for view in seen)
    assert views.weak(SPLITS.labeled, [0], 1)[0].startswith("labelled text here ")


def test_labelled_texts_have_strong_views_only_where_they_are_asked_for():
    views = made(AugmentConfig("none", ("numbering",)))
    with pytest.raises(KeyError):
        views.view(SPLITS.labeled, [0], draw=1, which=1)
    asked = Views(AugmentConfig("none", ("numbering",)), 0)
    ViewMaker(SPLITS, Surroundings(), Listener()).make(asked, everything=False, labeled_strong=True)
    assert asked.view(SPLITS.labeled, [0], draw=1, which=1) != SPLITS.labeled.texts[:1]
    assert asked.view(SPLITS.pool, [0, 1], draw=1, which=1) == views.view(SPLITS.pool, [0, 1], draw=1, which=1)


def test_cheap_views_that_are_kept_are_as_many_as_asked_for():
    views = made(AugmentConfig("none", ("deletion:0.5",), views=3), everything=True)
    assert isinstance(views.strong_sources[0], Kept)
    assert any(len(set(own)) > 1 for own in views.strong_sources[0].views.values())


def test_views_that_another_run_has_made_are_taken_where_they_would_be_the_same():
    """TF-IDF depends on the texts of the run: other texts, other views."""
    config = AugmentConfig("deletion:0.5", ("tfidf:0.9",))
    memory: Made = {}

    def kept(corpus: list[str], memory: Made | None) -> list[dict[str, list[str]]]:
        views = Views(config, 0)
        ViewMaker(SPLITS, Surroundings(corpus=corpus), Listener(), made=memory).make(views, everything=True)
        sources = [source for source in (views.weak_source, *views.strong_sources) if isinstance(source, Kept)]
        return [{text: list(own) for text, own in source.views.items()} for source in sources]

    other = [*TEXTS, "one five nine", "twelve seven three", "new words altogether"]
    for corpus in (TEXTS, other, TEXTS):
        assert kept(corpus, memory) == kept(corpus, None)
    assert kept(TEXTS, None)[1] != kept(other, None)[1]
    assert len(memory) == 3
