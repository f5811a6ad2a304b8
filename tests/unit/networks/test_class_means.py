"""What the labelled texts say of the classes, believed as far as it is more than chance."""

from typing import Any

import pytest
import torch

from jointmatch.networks import Heads, HeadShape
from jointmatch.networks.class_means import balanced_center, believed, nearest_mean, squared_lengths
from tests.unit.training.toy import tiny_run

CORNER, OTHER = (1.0, 0.0), (0.0, 1.0)


def test_an_effect_is_believed_as_far_as_it_is_above_its_error():
    effect, noise = torch.tensor([4.0, 1.0, 0.0]), torch.tensor([1.0, 2.0, 0.0])
    assert believed(effect, noise).tolist() == [0.75, 0.0, 0.0]


def column(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float)[:, None]


def test_the_centre_moves_to_the_mean_of_the_class_means_where_these_are_sure():
    """Means 4 and 10, together 7; squared deviations 4 over 4 - 2 texts: 2; error (2 / 2 + 2 / 2) / 4 = 0.5.
    The pool's mean is 0, so the gap is 7: 1 - 0.5 / 49 of it."""
    center = balanced_center(column(-1, 0, 1), column(3, 5, 9, 11), torch.tensor([0, 0, 1, 1]), 2)
    assert center.tolist() == pytest.approx([7 * (1 - 0.5 / 49)])


def test_the_centre_stays_where_the_labelled_texts_cannot_tell():
    """Means 0 and 1, gap 0.5, squared 0.25; squared deviations 36 over 2: 18; error (9 + 9) / 4 = 4.5."""
    center = balanced_center(column(-1, 0, 1), column(-3, 3, -2, 4), torch.tensor([0, 0, 1, 1]), 2)
    assert center.tolist() == [0]


def test_one_text_of_each_class_moves_nothing():
    center = balanced_center(column(-1, 0, 1), column(30, 50), torch.tensor([0, 1]), 2)
    assert center.tolist() == [0]


def test_lengths_of_class_means_move_together_by_their_jackknife_error():
    """Class 0: always (1, 0), squared 1, error 0. Class 1: (1, 0) twice and (0, 1): (2/3, 1/3), squared 5/9; without
    one of them 1/2, 1/2 and 1, mean 2/3, squared deviations 1/6, times 2/3: 1/9. Mean error 1/18; variance of 1 and
    5/9: (4/9)^2 / 2 = 8/81; believed 1 - (1/18) (81/8) = 7/16. From the mean 7/9 that leaves 7/16 of 2/9 either way."""
    unit = torch.tensor([CORNER, CORNER, CORNER, CORNER, CORNER, OTHER])
    found = squared_lengths(unit, torch.tensor([0, 0, 0, 1, 1, 1]), 2)
    assert found.tolist() == pytest.approx([7 / 9 + 7 / 72, 7 / 9 - 7 / 72])


def test_with_one_text_of_each_class_all_means_count_as_equally_long():
    assert squared_lengths(torch.tensor([CORNER, OTHER]), torch.tensor([0, 1]), 2).tolist() == [1, 1]


def test_the_nearest_class_mean_as_weights_and_biases():
    """Class 0: (2, 0) twice, mean of units (1, 0), length 1. Class 1: (2, 0) and (0, 2): (1/2, 1/2), length 0.707107.
    Mean length m = 0.853553: weights (1 / m, 0) and (0.5 / m, 0.5 / m); biases -2 / (2 m) and -2 (0.5) / (2 m), less
    their mean."""
    features = torch.tensor([[2.0, 0.0], [2.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    weights, biases = nearest_mean(features, torch.tensor([0, 0, 1, 1]), 2)
    m = (1 + 0.5**0.5) / 2
    torch.testing.assert_close(weights, torch.tensor([[1 / m, 0], [0.5 / m, 0.5 / m]]))
    torch.testing.assert_close(biases, torch.tensor([-0.25 / m, 0.25 / m]))


def test_classes_that_are_equally_tight_start_at_unit_prototypes_without_bias():
    features = torch.tensor([[2.0, 0.0], [2.0, 0.0], [0.0, 3.0], [0.0, 3.0]])
    weights, biases = nearest_mean(features, torch.tensor([0, 0, 1, 1]), 2)
    assert weights.tolist() == [[1, 0], [0, 1]]
    assert biases.tolist() == [0, 0]


def spam() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """A common class whose texts differ and a rare one whose texts are alike: labelled, labels, pool, truth."""
    rng = torch.Generator().manual_seed(0)
    noise = torch.randn(2000, 64, generator=rng)
    truth = (torch.arange(2000) % 10 == 0).long()
    texts = torch.where(truth[:, None] == 1, 0.4 * noise + 4 * torch.eye(64)[0], noise) + 3
    labels = torch.tensor([0] * 10 + [1] * 10)
    rows = torch.cat([torch.nonzero(truth == c)[:10, 0] for c in (0, 1)])
    return texts[rows], labels, texts, truth


@pytest.mark.parametrize(("start", "least", "most"), [("means", 0.9, 1.0), ("prototypes", 0.0, 0.8)])
def test_a_common_class_whose_texts_differ_is_not_given_away(start, least, most):
    """By cosines alone half of the common class is taken for the rare one."""
    labeled, labels, pool, truth = spam()
    heads = Heads(HeadShape(64, 2, dropout=0.0, scale=10.0), 1).eval()
    heads.center_on(pool[None])
    if start == "means":
        heads.center_between(pool[None], labeled[None], labels)
        heads.start_at_means(labeled[None], labels, 5.0)
    else:
        heads.start_at_prototypes(labeled[None], labels, 5.0)
    right = (heads(pool[None])[0].argmax(-1) == truth).float().mean()
    assert least <= right <= most


@pytest.mark.parametrize("kind", ["linear", "mlp", "cosine"])
def test_every_kind_of_head_can_start_so(kind):
    labeled, labels, pool, _ = spam()
    heads = Heads(HeadShape(64, 2, kind, scale=10.0), 2).eval()
    before = [p.clone() for p in heads.parameters()]
    heads.center_between(pool.expand(2, -1, -1), labeled.expand(2, -1, -1), labels)
    heads.start_at_means(labeled.expand(2, -1, -1), labels, 0.5)
    assert heads(labeled.expand(2, -1, -1)).isfinite().all()
    changed = any(not torch.equal(a, b) for a, b in zip(before, heads.parameters(), strict=True))
    assert changed == (kind != "mlp")


@pytest.mark.parametrize("mode", ["lite", "full"])
def test_a_run_starts_so_where_it_is_asked_to(tiny_backbone, mode, monkeypatch):
    called = []

    def spied(name: str, usual: Any) -> Any:
        def spy(*args: Any) -> None:
            called.append(name)
            usual(*args)

        return spy

    for name in ("center_between", "start_at_means", "center_on", "start_at_prototypes"):
        monkeypatch.setattr(Heads, name, spied(name, getattr(Heads, name)))
    tiny_run(tiny_backbone, {"training": {"mode": mode}, "network": {"head_init": "means", "normalize": True}})
    assert called == ["center_between", "start_at_means"]


def test_texts_that_all_read_alike_give_a_start_that_is_a_number():
    """Around their own centre nothing is left of them: weights and biases of nothing, and no 0 / 0."""
    weights, biases = nearest_mean(torch.zeros(4, 3), torch.tensor([0, 1, 0, 1]), 2)
    assert weights.tolist() == [[0.0] * 3] * 2
    assert biases.tolist() == [0.0, 0.0]
