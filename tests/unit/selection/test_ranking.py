"""Which view is easy: by its loss where the label is known, else by a ranker over what is said of the views."""

import torch

from jointmatch.selection import ViewRanker, easiest, of_view

# Two views, one network, three texts, two classes; probabilities of class 0.
VIEWS = torch.tensor([[[0.9, 0.6, 0.5]], [[0.7, 0.2, 0.5]]])


def logits(first_class):
    return torch.stack([first_class, 1 - first_class], -1).log()


def test_the_easiest_view_has_the_least_loss_and_of_equals_it_is_the_first():
    """True classes 0 1 1: the true class has 0.9 or 0.7, 0.4 or 0.8, 0.5 or 0.5."""
    assert easiest(logits(VIEWS), torch.tensor([0, 1, 1])).tolist() == [[0, 1, 0]]


def test_of_two_hopeless_views_one_is_still_easier():
    """Losses 300 and 200: their probabilities, e^-300 and e^-200, are both 0 in single precision."""
    hopeless = torch.tensor([[[[0.0, 300.0]]], [[[0.0, 200.0]]]])
    assert easiest(hopeless, torch.tensor([0])).tolist() == [[1]]


def test_each_text_is_taken_in_the_view_that_is_said():
    chosen = of_view(logits(VIEWS), torch.tensor([[1, 0, 1]]))
    torch.testing.assert_close(chosen.softmax(-1)[..., 0], torch.tensor([[0.7, 0.6, 0.5]]))


def test_networks_may_choose_different_views():
    both = torch.cat([logits(VIEWS), logits(VIEWS)], dim=1)
    chosen = of_view(both, torch.tensor([[0, 0, 0], [1, 1, 1]])).softmax(-1)[..., 0]
    torch.testing.assert_close(chosen, torch.tensor([[0.9, 0.6, 0.5], [0.7, 0.2, 0.5]]))


def test_an_untrained_ranker_finds_all_views_alike():
    scores = ViewRanker(3, 2, 1)(logits(torch.cat([VIEWS, VIEWS[:1]])))
    assert scores.shape == (1, 3, 2)
    assert not scores.any()


def test_a_ranker_has_one_hidden_layer_of_128():
    """(3 * 2 + 1) * 128 weights into it, (128 + 1) * 2 out of it."""
    assert sum(p.numel() for p in ViewRanker(3, 2, 1).parameters()) == 7 * 128 + 129 * 2


def trained(networks=1, steps=200):
    """Learns that the surer view is the easy one: class 0 throughout, one view at 0.9, the other at 0.6."""
    ranker = ViewRanker(3, 3, networks)
    draw = torch.Generator().manual_seed(0)
    optimizer = torch.optim.Adam(ranker.parameters(), lr=1e-2)
    for _ in range(steps):
        surer = torch.rand(networks, 16, generator=draw) < 0.5
        scale = torch.stack([torch.where(surer, 4.0, 1.0), torch.where(surer, 1.0, 4.0)])
        views = scale[..., None] * torch.eye(3)[0]
        views = torch.cat([2.5 * torch.eye(3)[0].expand_as(views[:1]), views])
        target = easiest(views[1:], torch.zeros(16, dtype=torch.long))
        loss = torch.nn.functional.cross_entropy(ranker(views).flatten(0, 1), target.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return ranker


def test_a_ranker_learns_to_tell_and_what_it_learnt_holds_for_classes_it_never_saw():
    """Trained where class 0 is right alone, asked where class 2 is: which class it is does not matter."""
    ranker = trained()
    for scales, easier in (([2.5, 1.0, 4.0], 1), ([2.5, 4.0, 1.0], 0)):
        views = torch.tensor(scales)[:, None, None, None] * torch.eye(3)[2]
        assert ranker(views).argmax(-1).tolist() == [[easier]]


def test_every_network_has_a_ranker_of_its_own():
    ranker = ViewRanker(2, 2, 2)
    ranker(logits(VIEWS).expand(2, 2, 3, 2))[0].sum().backward()
    first, second = ([p.grad for p in one.parameters()] for one in ranker.of_network)
    assert first[-1] is not None
    assert first[-1].any()
    assert all(g is None or not g.any() for g in second)


def test_the_score_is_a_linear_layer_of_the_tanh_of_another():
    """Hidden 1 throughout, its tanh 0.761594, and 128 times 2 / 128 of that."""
    ranker = ViewRanker(2, 2, 1)
    with torch.no_grad():
        for name, value in (("0.weight", 0.0), ("0.bias", 1.0), ("2.weight", 2 / 128)):
            ranker.get_parameter(f"of_network.0.{name}").fill_(value)
    torch.testing.assert_close(ranker(logits(VIEWS)), torch.full((1, 3, 1), 1.523188))


def test_building_one_leaves_the_callers_random_stream_alone():
    before = torch.get_rng_state()
    ViewRanker(2, 2, 3)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_ranker_reads_each_views_probabilities_the_likeliest_class_first():
    """Means over the views: 0.45, 0.35, 0.2, so classes 0, 1, 2 of both; by the first view it were 1, 2, 0."""
    ranker, seen = ViewRanker(2, 3, 1), []
    ranker.of_network[0].register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    ranker(torch.tensor([[[[0.2, 0.5, 0.3]]], [[[0.7, 0.2, 0.1]]]]).log())
    torch.testing.assert_close(seen[0], torch.tensor([[0.2, 0.5, 0.3, 0.7, 0.2, 0.1]]))
    ranker(torch.tensor([[[[0.1, 0.5, 0.4]]], [[[0.2, 0.2, 0.6]]]]).log())  # means 0.15, 0.35, 0.5
    torch.testing.assert_close(seen[1], torch.tensor([[0.4, 0.5, 0.1, 0.6, 0.2, 0.2]]))
