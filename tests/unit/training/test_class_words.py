"""Which words stand for a class."""

from dataclasses import replace

import torch

from jointmatch.data import Splits, Texts
from jointmatch.training.class_words import ClassWords, chosen_words, class_vocabulary
from tests.unit.training.toy import tiny_run, topic_splits

# Three labelled texts, four words, two classes; word 3 is class 1's name.
TYPICAL = torch.tensor([[0.5, 0.2, 0.0, 0.0], [0.5, 0.0, 0.6, 0.0], [0.0, 0.9, 0.1, 0.0]])
NAMED = torch.tensor([[False, False, False, False], [False, False, False, True]])
LABELS = torch.tensor([0, 0, 1])


def test_a_class_has_its_name_and_the_words_with_the_largest_sum_over_its_texts():
    """Class 0: 1.0, 0.2, 0.6: words 0 and 2. Class 1: 0, 0.9, 0.1 and its name: words 1, 2 and 3."""
    shares = chosen_words(TYPICAL, NAMED, LABELS, 2)
    torch.testing.assert_close(shares, torch.tensor([[0.5, 0, 0.5, 0], [0, 1 / 3, 1 / 3, 1 / 3]]))


def test_a_word_that_no_text_of_the_class_has_does_not_stand_for_it():
    """Four words wanted, class 0 has three, class 1 two and its name."""
    shares = chosen_words(TYPICAL, NAMED, LABELS, 4)
    torch.testing.assert_close(shares, torch.tensor([[1 / 3, 1 / 3, 1 / 3, 0], [0, 1 / 3, 1 / 3, 1 / 3]]))


def test_class_vectors_are_means_of_unit_features():
    """Class 0's words 0 and 2 point to (1, 0) and (0, 1), however long: (0.5, 0.5)."""
    features = torch.tensor([[[7.0, 0.0], [3.0, 3.0], [0.0, 0.2], [1.0, 0.0]]])
    vectors = ClassWords(features, TYPICAL, NAMED).vectors(LABELS, 2)
    torch.testing.assert_close(vectors[0, 0], torch.tensor([0.5, 0.5]))


def test_a_fold_leaves_out_the_words_of_the_texts_it_leaves_out():
    words = ClassWords(torch.ones(1, 4, 2), TYPICAL, NAMED).fold(torch.tensor([True, False, True]))
    assert chosen_words(words.typical, words.named, torch.tensor([0, 1]), 4)[0].tolist() == [0.5, 0.5, 0.0, 0.0]


def splits(classes, labeled, pool):
    return Splits(classes, Texts(labeled, list(range(len(labeled)))), Texts(pool, [-1] * len(pool)))


def test_the_vocabulary_has_names_and_each_texts_most_typical_words():
    """ "the" is in every text and tells nothing; "zebra" is in one text alone and could be a slip."""
    found = class_vocabulary(
        splits(["Sci/Tech", 2], ["The chip, the zebra", "the goal"], ["the chip 99", "the goal 99", "the end"]), 1
    )
    assert found.words == ["chip", "goal", "sci", "tech"]
    assert found.typical[0].argmax() == 0
    assert found.typical[1].argmax() == 1
    assert found.named.tolist() == [[False, False, True, True], [False] * 4]


def test_texts_without_words_have_none():
    found = class_vocabulary(splits(["a b", "c"], ["...", "!"], []), 3)
    assert found.words == ["a", "b", "c"]
    assert not found.typical.any()


def test_a_matcher_starts_at_its_classes_words_in_both_modes(tiny_backbone):
    """At a rate of next to nothing the class vectors stay what the words say; other words, other vectors."""
    still = {"learning_rate": 1e-12, "head_learning_rate": 1e-12, "weight_decay": 0.0, "average_decay": 0.0}
    found = []
    for mode, words in (("lite", 5), ("full", 5), ("lite", 1)):
        settings: dict[str, dict] = {
            "algorithm": {"name": "pcm"},
            "network": {"class_words": words, "layers": [1.0]},
            "training": {"mode": mode, "steps": 1, **still},
        }
        heads = tiny_run(tiny_backbone, settings).model.networks.heads
        found.append(heads.each()[1].classify.weight.detach())
        torch.testing.assert_close(found[-1].norm(dim=-1), torch.ones(len(topic_splits().classes)))
    torch.testing.assert_close(found[0], found[1], atol=1e-4, rtol=1e-4)
    assert not torch.allclose(found[0], found[2], atol=1e-2)


def test_names_are_used_without_any_pool(tiny_backbone):
    lonely = replace(topic_splits(), pool=topic_splits().pool.rows([]))
    assert class_vocabulary(lonely, 3).named.any()
