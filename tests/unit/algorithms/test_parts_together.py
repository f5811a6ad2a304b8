"""Parts put together: what each does when the others are there too."""

import torch

from jointmatch.algorithms import FixMatch, JointMatch
from jointmatch.types import Step, Task

STEP = Step(torch.arange(1))


class Trusting(FixMatch):
    """Every label counts by its confidence."""

    def trust(self, probs, step):
        return probs.amax(-1)


def logits(*probabilities):
    return torch.tensor(probabilities).log()


def test_a_label_counts_by_its_teachers_confidence():
    """f 0.8, g 0.5 for class 0 of three: under cross-labels f's text weighs 0.5 and g's 0.8."""
    weak = logits([[0.8, 0.1, 0.1]], [[0.5, 0.3, 0.2]])
    own = Trusting(Task(3, 2)).pseudo_label(weak, STEP)
    crossed = Trusting(Task(3, 2), labelling="cross").pseudo_label(weak, STEP)
    torch.testing.assert_close(own.weights, torch.tensor([[0.8], [0.5]]))
    torch.testing.assert_close(crossed.weights, torch.tensor([[0.5], [0.8]]))


def test_confidence_and_disagreement_multiply():
    """Both say class 0, delta 0.75: 0.25 * 0.5 for f, 0.25 * 0.8 for g."""
    weak = logits([[0.8, 0.1, 0.1]], [[0.5, 0.3, 0.2]])
    rule = Trusting(Task(3, 2), labelling="cross", weighting="disagreement", delta=0.75)
    labels = rule.pseudo_label(weak, STEP)
    torch.testing.assert_close(labels.weights, torch.tensor([[0.125], [0.2]]))


def test_networks_agree_by_their_likeliest_class_whatever_they_rule_out():
    """Both say 0, though f's least likely is 1 and g's is 2; then 0 and 1, both ruling out 2.
    delta 0.75: weights 0.25 and 0.75.
    """
    f, g = [[0.7, 0.1, 0.2], [0.7, 0.2, 0.1]], [[0.6, 0.3, 0.1], [0.2, 0.7, 0.1]]
    labels = JointMatch(Task(3, 2), delta=0.75).pseudo_label(logits(f, g), Step(torch.arange(2)))
    torch.testing.assert_close(labels.weights, torch.tensor([[0.25, 0.75]] * 2))
