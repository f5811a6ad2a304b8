"""Mean Teacher: the squared error to the teacher's probabilities, its gradient and its ramp."""

from math import exp, log

import pytest
import torch

from jointmatch.algorithms import MeanTeacher
from jointmatch.resolve import resolve
from jointmatch.types import Step, Task

END = Step(torch.arange(1), number=10, total=10)


def test_the_student_is_drawn_to_the_teachers_probabilities_on_every_text():
    """Student (1/4, 3/4), teacher (0.4, 0.6): error 0.0225, gradient -0.05625 and 0.05625 as worked for the squared
    error; a teacher that says (1/4, 3/4) itself costs nothing. Two texts: half of each, times w_u 100."""
    rule = MeanTeacher(Task(2))
    weak = torch.tensor([[[0.4, 0.6], [0.25, 0.75]]]).log().requires_grad_()
    strong = torch.tensor([[[0.0, log(3)], [0.0, log(3)]]], requires_grad=True)
    labels = rule.pseudo_label(weak, END)
    assert labels.selected.all()
    loss = rule.unsupervised_loss(strong, labels, END)
    torch.testing.assert_close(loss, torch.tensor([100 * 0.0225 / 2]))
    loss.sum().backward()
    assert weak.grad is None
    assert strong.grad is not None
    torch.testing.assert_close(
        strong.grad, 50 * torch.tensor([[[-0.05625, 0.05625], [0.0, 0.0]]]), atol=1e-5, rtol=1e-5
    )


@pytest.mark.parametrize(("number", "share"), [(0, exp(-5)), (5, exp(-5 / 4)), (10, 1.0), (40, 1.0)])
def test_the_weight_grows_over_the_first_quarter(number, share):
    rule = MeanTeacher(Task(2), unlabeled_weight=7.0)
    assert rule.weight_at(Step(torch.arange(1), number, 40)) == pytest.approx(7 * share)


@pytest.mark.parametrize("mode", ["lite", "full"])
@pytest.mark.parametrize("recipe", ["best", "published"])
def test_the_averaged_copy_teaches_with_dropout_of_its_own_whatever_the_recipe(mode, recipe):
    config = resolve({"algorithm": {"name": "meanteacher"}, "training": {"recipe": recipe}}, mode)
    training = config.training
    assert (training.average_decay, training.average_labels, training.label_dropout) == (0.999, True, True)
    assert config.augment.strong == (config.augment.weak,)
