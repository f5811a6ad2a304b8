"""What holds for every algorithm by being registered, asked of the rule alone.

Whole runs are in ``test_every_algorithm_trains.py``, settings and descriptions in
``test_every_algorithm_says.py``. What an algorithm is given depends on what its class says
(networks, views, further classes); the helpers at the top know that, the tests below do not.
"""

from dataclasses import fields, replace
from typing import Any, cast

import numpy as np
import pytest
import torch
from torch import Tensor

from jointmatch.algorithms import ALGORITHMS, Algorithm, build
from jointmatch.algorithms.catalogue import techniques
from jointmatch.types import PseudoLabels, Step, Task

BATCH, POOL, STEPS = 12, 100, 10
every_algorithm = pytest.mark.parametrize("name", sorted(ALGORITHMS))
every_shape = pytest.mark.parametrize(("networks", "classes"), [(1, 2), (2, 2), (3, 2), (4, 2), (1, 150), (2, 150)])


def made(name: str, networks: int = 2, classes: int = 3, **settings: object) -> Algorithm:
    return build(name, Task(classes, networks, pool_size=POOL), settings)


def draw(rule: Algorithm, seed: int = 0, batch: int = BATCH, views: int | None = None) -> Tensor:
    """Logits as a network gives them, sharp enough that some texts pass a threshold and some do not: (N, B, C)."""
    columns = rule.task.num_classes + getattr(rule, "extra_classes", 0)
    shape = (rule.task.num_networks, batch, columns)
    return 6 * torch.randn(*([] if views is None else [views]), *shape, generator=torch.Generator().manual_seed(seed))


def weak(rule: Algorithm, seed: int = 0, batch: int = BATCH) -> Tensor:
    """What ``pseudo_label`` is given: (N, B, C), or (V, N, B, C) of several views."""
    return draw(rule, seed, batch, rule.num_views if rule.num_views > 1 else None)


def strong(rule: Algorithm, labels: PseudoLabels, seed: int = 1) -> Tensor:
    """What ``unsupervised_loss`` is given: as many texts as there are labels."""
    return draw(rule, seed, labels.selected.shape[1])


def step(number: int = 7, index: Tensor | None = None) -> Step:
    return Step(torch.arange(BATCH) if index is None else index, number, STEPS)


def label(rule: Algorithm, logits: Tensor, here: Step) -> PseudoLabels:
    """``pseudo_label`` as training asks for it: where a phase begins, the algorithm hears of the one before first."""
    hooks: Any = rule
    if getattr(rule, "in_rounds", False) and here.number and here.number == hooks.phase(here).start:
        hooks.begin_phase(draw(rule, here.number, POOL)[..., : rule.task.num_classes], here)
    return rule.pseudo_label(logits, here)


def practised(name: str, networks: int = 2, classes: int = 3, **settings: object) -> Algorithm:
    """One that has seen a few batches: some methods only begin to label then."""
    rule = made(name, networks, classes, **settings)
    for number in range(7):
        label(rule, weak(rule, 100 + number), step(number))
    return rule


def permuted(labels: PseudoLabels, order: Tensor) -> PseudoLabels:
    """The same labels, the texts in another order."""
    return replace(labels, **{name: getattr(labels, name)[:, order] for name in per_text(labels)})


def per_text(labels: PseudoLabels) -> list[str]:
    """The fields that say something of each text to each network: (N, B, ...)."""
    return [f.name for f in fields(labels) if f.name != "rows" and getattr(labels, f.name) is not None]


def assert_same(a: PseudoLabels, b: PseudoLabels) -> None:
    for field in fields(a):
        one, other = getattr(a, field.name), getattr(b, field.name)
        assert (one is None and other is None) or torch.equal(one, other), field.name


@every_algorithm
@every_shape
def test_shapes_and_types_hold_for_any_number_of_networks_and_classes(name, networks, classes):
    rule = made(name, networks, classes)
    labels = rule.pseudo_label(weak(rule), step())
    batch = BATCH if labels.rows is None else len(labels.rows)
    columns = draw(rule).shape[-1]
    assert labels.targets.shape in ((networks, batch), (networks, batch, columns))
    assert labels.targets.is_floating_point() == (labels.targets.ndim == 3)
    assert labels.selected.shape == labels.weights.shape == (networks, batch)
    assert labels.selected.dtype == torch.bool
    assert labels.weights.is_floating_point()
    assert labels.rows is None or labels.rows.lt(POOL).all()
    thresholds = rule.thresholds()
    assert thresholds is None or thresholds.shape == (networks, classes)


@every_algorithm
def test_one_whose_labels_name_texts_or_views_says_that_it_chooses(name):
    """Otherwise batches are made in advance that nobody asks for."""
    rule = practised(name)
    labels = label(rule, weak(rule), step())
    assert rule.chooses or (labels.rows is None and labels.views is None)


@every_algorithm
@every_shape
def test_losses_are_one_finite_number_per_network(name, networks, classes):
    """Never negative either, but for a term that has a weight of its own: what is left where w_u is 0."""
    rule, rest = practised(name, networks, classes), practised(name, networks, classes, unlabeled_weight=0)
    labels = label(rule, weak(rule), step())
    rest.load_state_dict(rule.state_dict())
    given = rule.supervised_loss(draw(rule, 1), torch.arange(BATCH) % classes, step())
    unlabeled = rule.unsupervised_loss(strong(rule, labels, 2), labels, step())
    beside = rest.unsupervised_loss(strong(rule, labels, 2), labels, step())
    for loss in (given, unlabeled, beside):
        assert loss.shape == (networks,)
        assert loss.isfinite().all()
    assert (given >= 0).all()
    assert (unlabeled - beside >= 0).all()


@every_algorithm
def test_a_batch_of_one_text_is_enough(name):
    rule = made(name)
    for number in range(3):
        here = step(number, torch.tensor([number]))
        labels = rule.pseudo_label(weak(rule, number, batch=1), here)
        assert rule.unsupervised_loss(strong(rule, labels), labels, here).isfinite().all()
        assert rule.supervised_loss(draw(rule, 1, batch=1), torch.tensor([1]), here).isfinite().all()
    assert all(value.isfinite().all() for value in rule.state_dict().values())


@every_algorithm
def test_no_gradient_flows_through_pseudo_labels(name):
    rule = practised(name)
    seen = weak(rule).requires_grad_()
    labels = rule.pseudo_label(seen, step())
    student = strong(rule, labels).requires_grad_()
    rule.unsupervised_loss(student, labels, step()).sum().backward()
    assert seen.grad is None
    assert student.grad is not None
    assert student.grad.isfinite().all()


@every_algorithm
def test_one_networks_loss_has_no_gradient_in_the_other(name):
    rule = practised(name)
    labels = rule.pseudo_label(weak(rule), step())
    student = strong(rule, labels).requires_grad_()
    rule.unsupervised_loss(student, labels, step())[0].backward()
    assert student.grad is not None
    assert not student.grad[1].any()


@every_algorithm
def test_nothing_selected_gives_a_zero_finite_loss_and_gradient(name):
    rule = practised(name)
    labels = rule.pseudo_label(weak(rule), step())
    nothing = replace(labels, selected=torch.zeros_like(labels.selected))
    student = strong(rule, labels).requires_grad_()
    loss = rule.unsupervised_loss(student, nothing, step())
    loss.sum().backward()
    assert loss.tolist() == [0.0, 0.0]
    assert student.grad is not None
    assert not student.grad.any()


@every_algorithm
@pytest.mark.parametrize("sharpness", [0.0, 1e4])
def test_knowing_nothing_and_being_wholly_sure_give_finite_losses(name, sharpness):
    rule = made(name)
    for number in range(3):
        labels = rule.pseudo_label(sharpness * weak(rule, number), step(number))
        loss = rule.unsupervised_loss(strong(rule, labels), labels, step(number))
        assert loss.isfinite().all()
        assert labels.selected.any() or not loss.any()
    assert all(value.isfinite().all() for value in rule.state_dict().values())


@every_algorithm
def test_every_tensor_is_a_buffer_or_a_parameter(name):
    rule = practised(name)
    labels = rule.pseudo_label(weak(rule), step())
    rule.supervised_loss(draw(rule), torch.arange(BATCH) % 3, step())
    rule.unsupervised_loss(strong(rule, labels), labels, step())
    for place, module in rule.named_modules():
        for attribute, value in vars(module).items():
            if attribute in ("_buffers", "_parameters"):
                continue
            held = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else [value]
            assert not any(isinstance(v, torch.Tensor) for v in held), f"{place}.{attribute}"
    assert set(dict(rule.named_buffers())) <= set(rule.state_dict())


@every_algorithm
def test_what_it_keeps_of_training_is_all_in_its_state(name):
    """Plain attributes are settings: after six batches they are what they were before the first."""
    before, after = made(name), practised(name)
    for fresh, used in zip(before.modules(), after.modules(), strict=True):
        for attribute, value in vars(fresh).items():
            if not attribute.startswith("_") and isinstance(value, (bool, int, float, str, tuple, type(None))):
                assert vars(used)[attribute] == value, attribute


def ahead(rule: Algorithm, numbers: range) -> list[tuple[PseudoLabels, Tensor]]:
    """Pseudo-labels and losses of some batches."""
    found = []
    for number in numbers:
        labels = label(rule, weak(rule, number), step(number))
        rule.supervised_loss(draw(rule, 50 + number), torch.arange(BATCH) % 3, step(number))
        found.append((labels, rule.unsupervised_loss(strong(rule, labels, 90 + number), labels, step(number))))
    return found


def assert_same_course(a: Algorithm, b: Algorithm, numbers: range) -> None:
    for (labels, loss), (others, other) in zip(ahead(a, numbers), ahead(b, numbers), strict=True):
        assert_same(labels, others)
        assert torch.equal(loss, other)
    for value, copy in zip(a.state_dict().values(), b.state_dict().values(), strict=True):
        assert torch.equal(value, copy)


@every_algorithm
def test_a_loaded_state_continues_bit_for_bit(name):
    first, second = made(name), made(name)
    ahead(first, range(3))
    second.load_state_dict({key: value.clone() for key, value in first.state_dict().items()})
    assert_same_course(first, second, range(3, 6))


@every_algorithm
def test_it_is_deterministic_and_leaves_the_random_stream_alone(name):
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = made(name)
    ahead(first, range(3))
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(2)
    second = made(name)
    ahead(second, range(3))
    assert_same_course(first, second, range(3, 6))


@every_algorithm
def test_it_changes_nothing_it_is_given(name):
    rule = practised(name)
    seen, here = weak(rule), step()
    labels = rule.pseudo_label(seen, here)
    student, y = strong(rule, labels), torch.arange(BATCH) % 3
    kept = {field: getattr(labels, field).clone() for field in per_text(labels)}
    rule.unsupervised_loss(student, labels, here)
    rule.supervised_loss(draw(rule), y, here)
    assert torch.equal(seen, weak(rule))
    assert torch.equal(student, strong(rule, labels))
    assert torch.equal(here.index, torch.arange(BATCH))
    for field, value in kept.items():
        assert torch.equal(getattr(labels, field), value), field


@every_algorithm
def test_permuting_the_batch_permutes_the_labels_and_keeps_the_loss(name):
    order = torch.randperm(BATCH, generator=torch.Generator().manual_seed(5))
    straight, shuffled = practised(name), practised(name)
    labels = straight.pseudo_label(weak(straight), step())
    moved = shuffled.pseudo_label(weak(shuffled)[..., order, :], step(index=order))
    if labels.rows is not None:  # what a method keeps and chooses from is in an order of its own
        return
    wanted = permuted(labels, order)
    for field in per_text(wanted):
        torch.testing.assert_close(getattr(moved, field), getattr(wanted, field))
    loss = straight.unsupervised_loss(strong(straight, labels), labels, step())
    again = shuffled.unsupervised_loss(strong(straight, labels)[:, order], moved, step(index=order))
    torch.testing.assert_close(again, loss)
    for value, other in zip(straight.state_dict().values(), shuffled.state_dict().values(), strict=True):
        torch.testing.assert_close(other, value)


@every_algorithm
def test_permuting_labelled_texts_keeps_the_supervised_loss(name):
    order = torch.randperm(BATCH, generator=torch.Generator().manual_seed(5))
    rule, y = made(name), torch.arange(BATCH) % 3
    loss = rule.supervised_loss(draw(rule), y, step())
    torch.testing.assert_close(rule.supervised_loss(draw(rule)[:, order], y[order], step()), loss)


@every_algorithm
def test_the_unlabeled_weight_scales_the_unsupervised_loss(name):
    """All of it but what has a weight of its own: L(2) - L(0) = 2 (L(1) - L(0))."""
    rules = [practised(name, unlabeled_weight=weight) for weight in (0, 1, 2)]
    labels = label(rules[1], weak(rules[1]), step())
    for rule in rules:
        rule.load_state_dict(rules[1].state_dict())
    rest, once, twice = (rule.unsupervised_loss(strong(rule, labels), labels, step()) for rule in rules)
    torch.testing.assert_close(twice - rest, 2 * (once - rest))


@every_algorithm
def test_networks_look_at_each_other_where_a_technique_says_so_and_not_if_made_for_one(name):
    """The first network's loss, with all that the second one says replaced."""
    rule, other = practised(name), practised(name)
    moved = False
    for number in range(8):
        seen, foreign = weak(rule, number), weak(rule, 500 + number)
        foreign.select(-3, 0).copy_(seen.select(-3, 0))
        labels, others = label(rule, seen, step(number)), label(other, foreign, step(number))
        if labels.rows is not None and not torch.equal(labels.rows, cast(Tensor, others.rows)):
            pytest.skip("all networks are trained on the texts that any of them chose")
        student, changed = strong(rule, labels, number), strong(rule, others, 500 + number)
        changed[0] = student[0]
        loss = rule.unsupervised_loss(student, labels, step(number))
        moved |= not torch.equal(loss[0], other.unsupervised_loss(changed, others, step(number))[0])
    said = any(techniques(name)[key] for key in ("cross_labelling", "disagreement_update", "weighted_update"))
    assert moved or not said
    assert (
        said or rule.networks > 1 or not moved
    )  # those made for several may ask them in ways the table has no word for


@every_algorithm
def test_every_view_it_asks_for_has_a_say(name):
    """The last view replaced, under several states of what the algorithm may itself have learnt."""
    rule, other = practised(name), practised(name)
    if rule.num_views == 1:
        return
    heard = False
    for seed in range(5):
        random = torch.Generator().manual_seed(seed)
        for parameter in rule.parameters():
            torch.nn.init.normal_(parameter, generator=random)
        other.load_state_dict(rule.state_dict())
        views, changed = weak(rule, seed), weak(rule, seed)
        changed[-1] = draw(rule, 99)
        labels, others = rule.pseudo_label(views, step()), other.pseudo_label(changed, step())
        heard |= any(not torch.equal(getattr(labels, field), getattr(others, field)) for field in per_text(labels))
    assert heard


@every_algorithm
@pytest.mark.parametrize(("labeled", "unlabeled"), [(0, True), (4, False), (4, True)])
def test_texts_are_mixed_with_texts_of_the_batch_if_at_all_and_by_the_generator_alone(name, labeled, unlabeled):
    rule: Any = practised(name)
    if not hasattr(rule, "mixing"):
        return
    labels = label(rule, weak(rule), step()) if unlabeled else None
    first, again = (rule.mixing(labeled, labels, step(), np.random.default_rng(3)) for _ in range(2))
    if first is None:
        return
    count = labeled + (0 if labels is None else labels.selected.shape[1])
    assert first.partner.shape == (2, count)
    assert ((first.partner >= 0) & (first.partner < count)).all()
    assert torch.equal(first.partner, again.partner)
    assert (first.share, first.depth) == (again.share, again.depth)
    assert 0.5 <= first.share <= 1
    assert 0 < first.depth <= 1


@every_algorithm
def test_the_supervised_loss_takes_mixed_labels_too(name):
    """A certain distribution costs what its class id costs."""
    rule = made(name)
    if hasattr(rule, "mixing"):
        y = torch.arange(BATCH) % 3
        certain = torch.nn.functional.one_hot(y, draw(rule).shape[-1]).float().expand(2, -1, -1)
        losses = [made(name).supervised_loss(draw(rule, 1), target, step()) for target in (y, certain)]
        torch.testing.assert_close(losses[0], losses[1])


@every_algorithm
def test_what_it_learns_itself_from_labelled_views_reaches_its_parameters(name):
    rule: Any = made(name)
    if getattr(rule, "learns_views", False):
        loss = rule.labeled_views_loss(weak(rule), torch.arange(BATCH) % 3, step())
        assert loss.shape == (2,)
        loss.sum().backward()
    for parameter in rule.parameters():
        assert parameter.grad is not None
        assert parameter.grad.isfinite().all()
