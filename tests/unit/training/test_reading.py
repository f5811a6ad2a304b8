"""Tokens of views: by the words' tokens they are what the texts of the views would give."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from jointmatch.augment import Masking
from jointmatch.config import AugmentConfig
from jointmatch.data import Splits, Texts
from jointmatch.networks import (
    Encoder,
    Heads,
    HeadShape,
    Networks,
    Tokenizer,
    find_backbone,
    load_tokenizer,
    load_transformer,
    word_pieces,
)
from jointmatch.networks.tokens import Cut
from jointmatch.training import FullLearner, Views, full
from jointmatch.training.learner import ChosenViews
from jointmatch.training.views import Afterwards, Kept

TEXTS = [
    "a short text, with a comma",
    "one",
    "",
    "  spaces   at\teach end ",
    "the same the same the same the same the same the same the same the same",
    "unbelievably long-winded words: antidisestablishmentarianism",
]
SPACELESS = "\u65e5\u672c\u8a9e\u306e\u6587\u3067\u3059"
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def backbone(tiny_backbone):
    return find_backbone(tiny_backbone)


def learner(backbone, augment: AugmentConfig, texts=TEXTS, max_length=12, cut: Cut = "end") -> FullLearner:
    networks = Networks([Encoder(load_transformer(backbone), [1.0], "mean")], Heads(HeadShape(16, 2), 1))
    splits = Splits([0, 1], Texts(texts[:2], [0, 1]), Texts(texts, [0] * len(texts)))
    tokenizer = Tokenizer(load_tokenizer(backbone), max_length, cut)
    return FullLearner(splits, networks, tokenizer, Views(augment, 3), CPU, None)


def assert_same(found, wanted):
    np.testing.assert_array_equal(found.ids.numpy(), wanted.ids.numpy())
    np.testing.assert_array_equal(found.mask.numpy(), wanted.mask.numpy())
    np.testing.assert_array_equal(found.lengths, wanted.lengths)


@pytest.mark.parametrize("cut", ["end", "middle"])
@pytest.mark.parametrize("max_length", [12, 5, 4, 1, 100])
@pytest.mark.parametrize(
    "spec", ["none", "deletion:0.3", "swap:0.5", "deletion:0.3+swap:0.2", "deletion:0", "masking:0.3"]
)
@pytest.mark.parametrize("texts", [TEXTS, [*TEXTS, SPACELESS], TEXTS[:1]])
def test_tokens_are_those_of_the_views(backbone, spec, texts, max_length, cut):
    own = learner(backbone, AugmentConfig(weak=spec, strong=(spec,)), texts, max_length, cut)
    rows = np.array([0, *range(len(texts))])
    for draw in range(3):
        assert_same(
            own.inputs.weak(rows, draw, 0, "pool")[0],
            own.tokenizer(own.inputs.views[0].weak(own.splits.pool, rows, draw)),
        )
        strong = own.inputs.views[0].strong(own.splits.pool, rows, draw)
        labeled = own.inputs.views[0].weak(own.splits.labeled, np.array([0]), draw)
        assert_same(own.inputs.student(np.array([0]), rows, draw)[0], own.tokenizer(labeled + strong))


def test_views_that_are_kept_and_changed_further(backbone):
    own = learner(backbone, AugmentConfig(weak="deletion:0.3"))
    kept = Kept({text: [f"{text} one", f"{text} other"] for text in TEXTS})
    rows = np.arange(len(TEXTS))
    for source in (kept, Afterwards(kept, own.inputs.views[0].weak_augmenter)):
        own.inputs.views[0].weak_source = source
        views = own.inputs.views[0].weak(own.splits.pool, rows, 1)
        assert_same(own.inputs.weak(rows, 1, 0, "pool")[0], own.tokenizer(views))
        assert source is kept or any(len(v.split()) <= len(t.split()) for v, t in zip(views, TEXTS, strict=True))


def test_nothing_is_split_twice_and_what_is_kept_is_bounded(backbone, monkeypatch):
    own = learner(backbone, AugmentConfig(weak="deletion:0.3"))
    rows = np.arange(len(TEXTS))
    by_word = own.tokenizer._by_word
    assert by_word is not None
    own.inputs.weak(rows, 0, 0, "pool")
    wanted = own.inputs.weak(rows, 1, 0, "pool")
    split: list[str] = []
    monkeypatch.setattr("jointmatch.training.inputs.spaced_words", lambda text: split.append(text) or [])  # type: ignore[func-returns-value]
    own.inputs.weak(rows, 1, 0, "pool")
    assert sorted(split) == sorted(TEXTS)  # another way to part texts: what the first one found is not taken for it
    monkeypatch.undo()
    monkeypatch.setattr(word_pieces, "KEPT_TEXTS", 3)
    assert_same(own.inputs.weak(rows, 1, 0, "pool")[0], wanted[0])
    own.inputs.weak(rows[:1], 1, 0, "pool")
    assert len(by_word._texts) == 1


def test_a_step_without_labelled_or_without_pool_texts(backbone):
    own = learner(backbone, AugmentConfig(weak="deletion:0.3", strong=("swap:0.3",)))
    none, some = np.array([], dtype=np.int64), np.array([0, 1])
    assert own.inputs.student(none, some, 0)[0].ids.shape[0] == 2
    assert own.inputs.student(some, none, 0)[0].ids.shape[0] == 2


MIXED = "hello \u4f60\u597d world \u4e16\u754c of \u6211\u4eec mine"


@pytest.mark.parametrize("texts", [[MIXED, TEXTS[0]], [MIXED, SPACELESS]])
def test_a_text_of_two_scripts_is_made_of_words_to_all_steps_and_in_any_company(backbone, texts):
    """Where deletion leaves but words without spaces, swapping still swaps these, not their characters."""
    own = learner(backbone, AugmentConfig(weak="deletion:0.5+swap:0.5"), texts)
    words = set(MIXED.split())
    for draw in range(40):
        view = own.inputs.views[0].weak(own.splits.pool, np.array([0, 1]), draw)[0]
        assert set(view.split()) <= words


@pytest.mark.parametrize("cut", ["end", "middle"])
def test_texts_too_long_to_be_read_are_cut_before_they_are_changed(backbone, cut):
    long = " ".join(["w" * 90] * 400)  # 12 tokens are in the first 360 characters of any real text
    own = learner(backbone, AugmentConfig(weak="deletion:0.1+swap:0.1"), [long, TEXTS[0]], cut=cut)
    rows = np.array([0, 1])
    whole = own.inputs.views[0].drawn_weak(own.splits.pool, rows, 0)
    read = {"end": long[:360], "middle": f"{long[:180]} {long[-180:]}"}[cut]
    drawn = replace(whole, texts=[read, whole.texts[1]])
    assert_same(own.inputs.weak(rows, 0, 0, "pool")[0], own.tokenizer(drawn.views()))
    assert own.inputs.weak(rows, 0, 0, "pool")[0].lengths[0] <= 2 + 4


def test_views_that_hardly_come_again_are_not_kept(backbone):
    own = learner(backbone, AugmentConfig(weak="masking:0.3", strong=("deletion:0.3",)))
    rows = np.arange(len(TEXTS))
    by_word = own.tokenizer._by_word
    assert by_word is not None
    own.inputs.weak(rows, 0, 0, "pool")
    assert not by_word._texts
    own.inputs.student(rows[:0], rows, 0)
    assert len(by_word._texts) == len(set(TEXTS))


def test_texts_that_are_chosen_are_those_that_were_read_however_long(backbone):
    """More than is ever read of the first: were it drawn from as a whole here, all draws after it would be others."""
    own = learner(backbone, AugmentConfig(weak="deletion:0.4", strong=("swap:0.4",)), ["word " * 200, TEXTS[4]])
    rows = np.array([0, 1])
    for view in (0, 1):
        chosen = ChosenViews(torch.full((1, 2), view), [7, 7])
        texts = own.inputs._chosen_texts(rows, chosen)[0]
        assert_same(own.tokenizer(texts), own.inputs.weak(rows, 7, view, "pool")[0])


@pytest.mark.parametrize(
    ("weak", "strong", "written"),
    [
        ("none", ("deletion:0.3",), False),
        ("deletion:0.1+swap:0.1", ("swap:0.2",), False),
        ("masking:0.2", ("swap:0.2",), True),
        ("none", ("swap:0.2", "deletion:0.1+masking:0.2"), True),
    ],
)
def test_which_views_are_written_as_texts_at_every_visit(backbone, weak, strong, written):
    own = learner(backbone, AugmentConfig(weak=weak, strong=strong))
    assert own.inputs.written_afresh() is written
    kept = Kept({text: [text] for text in TEXTS})
    for views in own.inputs.views:
        views.weak_source, views.strong_sources = kept, [kept]
    assert own.inputs.written_afresh() is False
    for views in own.inputs.views:
        views.strong_sources = [Afterwards(kept, views.strong_augmenters[-1])]
    assert own.inputs.written_afresh() is (written and strong != ("swap:0.2",))


def test_dev_is_padded_once_and_some_rows_of_it_are_not_taken_for_others(backbone, monkeypatch):
    texts = ["a banana and a plum", "a plum and a banana", "and a banana a plum"]  # as long as each other
    own = learner(backbone, AugmentConfig(weak="none", strong=("none",)), texts)
    own.splits = replace(own.splits, dev=own.splits.pool)
    own.networks.eval()
    padded: list[int] = []
    inner = own.tokenizer.pad
    monkeypatch.setattr(own.tokenizer, "pad", lambda ids: padded.append(len(ids)) or inner(ids))  # type: ignore[func-returns-value]
    whole = own.part_logits(own.networks, "dev")
    assert torch.equal(own.part_logits(own.networks, "dev"), whole)
    assert sum(padded) == len(texts)
    backwards = np.arange(len(texts))[::-1].copy()
    for _ in range(2):
        torch.testing.assert_close(own.part_logits(own.networks, "dev", backwards), whole[:, backwards])
    assert sum(padded) == 2 * len(texts)
    for _ in range(2):  # read once in a run, and large: not kept
        torch.testing.assert_close(own.part_logits(own.networks, "pool"), whole)
    assert sum(padded) == 4 * len(texts)


def test_what_is_read_at_first_use_is_read_before_processes_begin(backbone, monkeypatch):
    """Each of them would read it for itself."""
    used: list[str] = []
    inner = Masking.change

    def change(self, units, rng):
        used.append(str(self))
        return inner(self, units, rng)

    monkeypatch.setattr(Masking, "change", change)
    config = AugmentConfig(weak="masking:0.3", strong=("deletion:0.3+masking:0.1",))
    monkeypatch.setattr(full, "background", lambda inputs, device: "thread")
    learner(backbone, config)
    assert used == []
    monkeypatch.setattr(full, "background", lambda inputs, device: "processes")
    learner(backbone, config)
    assert set(used) == {"masking:0.3", "masking:0.1"}


def test_nothing_is_read_of_parts_that_have_no_texts(backbone, monkeypatch):
    own = learner(backbone, AugmentConfig(weak="masking:0.3", strong=("masking:0.3",)), texts=[])
    read: list[int] = []
    monkeypatch.setattr(Masking, "__call__", lambda self, texts, rng: read.append(len(texts)) or list(texts))  # type: ignore[func-returns-value]
    own.inputs.load()
    assert read == [0, 0, 0]  # the pool strongly, the labelled texts, the pool weakly
