"""What holds for every algorithm by being registered."""

import math
from typing import Annotated, get_args, get_origin, get_type_hints

import pytest
import torch

from jointmatch.algorithms import ALGORITHMS, Algorithm, build, settings_of
from jointmatch.errors import ConfigError
from jointmatch.schema import Range
from jointmatch.types import PseudoLabels, Step, Task

BATCH = 12
every_algorithm = pytest.mark.parametrize("name", sorted(ALGORITHMS))
every_shape = pytest.mark.parametrize(("networks", "classes"), [(1, 2), (2, 2), (3, 2), (4, 2), (1, 150), (2, 150)])


def made(name: str, networks: int = 2, classes: int = 3, **settings: object) -> Algorithm:
    return build(name, Task(classes, networks, pool_size=100), settings)


def draw(networks: int = 2, classes: int = 3, seed: int = 0) -> torch.Tensor:
    """Logits sharp enough that some texts pass a threshold and some do not."""
    return 6 * torch.randn(networks, BATCH, classes, generator=torch.Generator().manual_seed(seed))


def weak(name: str, networks: int = 2, classes: int = 3, seed: int = 0) -> torch.Tensor:
    """What pseudo_label is given: the weak views' logits, or those of as many views as the algorithm looks at."""
    views = [draw(networks, classes, seed + 100 * view) for view in range(ALGORITHMS[name].num_views)]
    return views[0] if len(views) == 1 else torch.stack(views)


def step(number: int = 0) -> Step:
    return Step(torch.arange(BATCH), number, 10)


def assert_same(a: PseudoLabels, b: PseudoLabels) -> None:
    for field in ("targets", "selected", "weights", "views"):
        first, second = getattr(a, field), getattr(b, field)
        assert (first is None and second is None) or torch.equal(first, second), field


@every_algorithm
@every_shape
def test_shapes_and_types_hold_for_any_number_of_networks_and_classes(name, networks, classes):
    rule = made(name, networks, classes)
    labels = rule.pseudo_label(weak(name, networks, classes), step())
    assert labels.targets.shape in ((networks, BATCH), (networks, BATCH, classes))
    assert labels.selected.shape == labels.weights.shape == (networks, BATCH)
    assert labels.selected.dtype == torch.bool
    assert labels.weights.is_floating_point()
    assert labels.views is None or labels.views.shape == (networks, BATCH)
    thresholds = rule.thresholds()
    assert thresholds is None or thresholds.shape == (networks, classes)


@every_algorithm
@every_shape
def test_losses_are_one_finite_number_per_network_and_never_negative(name, networks, classes):
    rule = made(name, networks, classes)
    labels = rule.pseudo_label(weak(name, networks, classes), step())
    y = torch.arange(BATCH) % classes
    for loss in (
        rule.supervised_loss(draw(networks, classes, 1), y, step()),
        rule.unsupervised_loss(draw(networks, classes, 2), labels, step()),
    ):
        assert loss.shape == (networks,)
        assert loss.isfinite().all()
        assert (loss >= 0).all()


@every_algorithm
def test_no_gradient_flows_through_pseudo_labels(name):
    given, strong = weak(name).requires_grad_(), draw(seed=1).requires_grad_()
    rule = made(name)
    rule.unsupervised_loss(strong, rule.pseudo_label(given, step()), step()).sum().backward()
    assert given.grad is None
    assert strong.grad is not None


@every_algorithm
def test_one_networks_loss_has_no_gradient_in_the_other(name):
    strong = draw(seed=1).requires_grad_()
    rule = made(name)
    rule.unsupervised_loss(strong, rule.pseudo_label(weak(name), step()), step())[0].backward()
    assert strong.grad is not None
    assert not strong.grad[1].any()


@every_algorithm
def test_nothing_selected_gives_a_zero_finite_loss_and_gradient(name):
    rule = made(name)
    labels = rule.pseudo_label(weak(name), step())
    nothing = PseudoLabels(labels.targets, torch.zeros_like(labels.selected), labels.weights)
    strong = draw(seed=1).requires_grad_()
    loss = rule.unsupervised_loss(strong, nothing, step())
    loss.sum().backward()
    assert loss.tolist() == [0.0, 0.0]
    assert strong.grad is not None
    assert not strong.grad.any()


@every_algorithm
def test_every_tensor_is_a_buffer_or_a_parameter(name):
    rule = made(name)
    rule.pseudo_label(weak(name), step())
    for place, module in rule.named_modules():
        for attribute, value in vars(module).items():
            if attribute in ("_buffers", "_parameters"):
                continue
            held = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else [value]
            assert not any(isinstance(v, torch.Tensor) for v in held), f"{place}.{attribute}"
    assert set(dict(rule.named_buffers())) <= set(rule.state_dict())


@every_algorithm
def test_a_loaded_state_continues_bit_for_bit(name):
    first, second = made(name), made(name)
    for number in range(3):
        first.pseudo_label(weak(name, seed=number), step(number))
    second.load_state_dict(first.state_dict())
    for number in range(3, 5):
        assert_same(
            first.pseudo_label(weak(name, seed=number), step(number)),
            second.pseudo_label(weak(name, seed=number), step(number)),
        )
    for value, copy in zip(first.state_dict().values(), second.state_dict().values(), strict=True):
        assert torch.equal(value, copy)


@every_algorithm
def test_permuting_the_batch_permutes_the_labels_and_keeps_the_loss(name):
    order = torch.randperm(BATCH, generator=torch.Generator().manual_seed(5))
    straight, shuffled = made(name), made(name)
    labels = straight.pseudo_label(weak(name), step())
    permuted = shuffled.pseudo_label(weak(name)[..., order, :], Step(order, 0, 10))
    views = None if labels.views is None else labels.views[:, order]
    moved = PseudoLabels(labels.targets[:, order], labels.selected[:, order], labels.weights[:, order], views=views)
    assert_same(moved, permuted)
    loss = straight.unsupervised_loss(draw(seed=1), labels, step())
    torch.testing.assert_close(shuffled.unsupervised_loss(draw(seed=1)[:, order], permuted, Step(order, 0, 10)), loss)


@every_algorithm
def test_the_unlabeled_weight_scales_the_unsupervised_loss(name):
    once, twice = made(name, unlabeled_weight=1), made(name, unlabeled_weight=2)
    labels = once.pseudo_label(weak(name), step())
    twice.load_state_dict(once.state_dict())
    args = (draw(seed=1), labels, step())
    torch.testing.assert_close(twice.unsupervised_loss(*args), 2 * once.unsupervised_loss(*args))


@every_algorithm
@every_shape
def test_what_it_learns_from_labelled_views_reaches_its_own_parameters(name, networks, classes):
    rule = made(name, networks, classes)
    if not rule.learns_views:
        return
    loss = rule.labeled_views_loss(weak(name, networks, classes), torch.arange(BATCH) % classes, step())
    assert loss.shape == (networks,)
    loss.sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in rule.parameters())


def bad_values() -> list[tuple[str, str, object]]:
    """(algorithm, setting, value that does not fit) for everything declared."""
    found: list[tuple[str, str, object]] = []
    for name in sorted(ALGORITHMS):
        hints: dict[str, object] = {}
        for cls in reversed(ALGORITHMS[name].__mro__):
            if "__init__" in vars(cls) and issubclass(cls, Algorithm):
                hints |= get_type_hints(cls.__init__, include_extras=True)
        for key in settings_of(name):
            found += [(name, key, bad) for bad in ("no such value", None, math.nan, [0.5], *out_of_range(hints[key]))]
    return found


def out_of_range(hint: object) -> list[float]:
    if get_origin(hint) is not Annotated:
        return []
    bounds = next(extra for extra in get_args(hint) if isinstance(extra, Range))
    return [value for value in (bounds.low - 0.5, bounds.high + 0.5) if math.isfinite(value)]


@pytest.mark.parametrize(("name", "key", "value"), bad_values())
def test_a_value_of_the_wrong_type_or_out_of_range_is_refused_by_name(name, key, value):
    with pytest.raises(ConfigError, match=rf"algorithm\.{key}"):
        made(name, **{key: value})


@every_algorithm
def test_an_unknown_setting_is_refused_with_the_nearest_name(name):
    with pytest.raises(ConfigError, match="Did you mean 'unlabeled_weight'"):
        made(name, unlabelled_weight=1.0)


@every_algorithm
def test_every_fault_is_in_one_message(name):
    with pytest.raises(ConfigError) as caught:
        made(name, unlabeled_weight=-1, no_such_setting=1)
    assert len(caught.value.faults) == 2


@every_algorithm
def test_it_says_what_it_is(name):
    rule = ALGORITHMS[name]
    assert rule.name == name
    assert rule.reference
    assert rule.networks >= 1
    assert rule.__doc__
