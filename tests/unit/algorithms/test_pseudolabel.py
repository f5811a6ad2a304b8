"""Pseudo-Label: FixMatch on one view, its weight growing over the first steps."""

import pytest
import torch

from jointmatch.algorithms import FixMatch, PseudoLabel
from jointmatch.resolve import resolve
from jointmatch.types import Step, Task

LOGITS = torch.tensor([[[0.97, 0.03], [0.8, 0.2], [0.02, 0.98]]]).log()


@pytest.mark.parametrize(("number", "weight"), [(0, 0.0), (10, 0.5), (20, 1.0), (30, 1.5), (40, 2.0), (99, 2.0)])
def test_the_weight_grows_over_the_first_four_tenths_of_the_steps(number, weight):
    """w_u 2, 100 steps: 2 * number / 40, at most 2."""
    rule = PseudoLabel(Task(2), unlabeled_weight=2.0)
    assert rule.weight_at(Step(torch.arange(3), number, 100)) == pytest.approx(weight)


def test_past_the_ramp_the_loss_is_fixmatch_s_and_halfway_half_of_it():
    rule, fixmatch = PseudoLabel(Task(2)), FixMatch(Task(2))
    for number, factor in ((40, 1.0), (20, 0.5)):
        step = Step(torch.arange(3), number, 100)
        labels = rule.pseudo_label(LOGITS, step)
        assert labels.selected.tolist() == [[True, False, True]]
        wanted = factor * fixmatch.unsupervised_loss(LOGITS.flip(1), labels, step)
        assert wanted > 0
        torch.testing.assert_close(rule.unsupervised_loss(LOGITS.flip(1), labels, step), wanted)


@pytest.mark.parametrize("mode", ["lite", "full"])
def test_the_student_reads_the_view_the_label_comes_from(mode):
    config = resolve({"algorithm": {"name": "pseudolabel"}, "augment": {"weak": "deletion:0.3"}}, mode)
    assert config.augment.strong == ("deletion:0.3",)


def test_it_says_that_it_is_unverified():
    assert PseudoLabel.unverified
