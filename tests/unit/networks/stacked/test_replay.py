"""Recorded passes: what is replayed gives the numbers of the pass itself. A stand-in does what a GPU would."""

from __future__ import annotations

import copy
import weakref

import pytest
import torch

from jointmatch.networks import Heads, HeadShape, Networks, dropout_seeds
from jointmatch.networks.stacked import encoders, replay
from jointmatch.networks.stacked.replay import Replay
from tests.unit.networks.stacked.berts import batch
from tests.unit.networks.stacked.rerun import Rerun, assert_same, passed, recorded, stacked

__all__ = ["recorded"]


def test_the_first_pass_of_a_shape_is_run_the_second_recorded_and_all_give_the_same(recorded):
    replayed, plain = stacked(), stacked(replayed=False)
    for number in range(4):
        assert_same(passed(replayed, number, batch(texts=4)), passed(plain, number, batch(texts=4)))
        assert Rerun.made == min(number, 1)


def test_every_shape_and_mode_has_a_recording_of_its_own(recorded):
    networks = stacked()
    for _ in range(3):
        passed(networks, 0, batch(texts=3))
        passed(networks, 0, batch(texts=5))
        with torch.no_grad():
            networks.features(batch(texts=3), [1, 2])
            networks.eval().features(batch(texts=3))
        networks.train()
    assert Rerun.made == 4


@torch.no_grad()
def test_what_came_out_stays_as_it_was_when_the_next_pass_is_replayed(recorded):
    networks = stacked().eval()
    networks.features(batch(0, texts=3, length=5))
    one = networks.features(batch(1, texts=3, length=5))
    kept = one.clone()
    networks.features(batch(2, texts=3, length=5))
    assert torch.equal(one, kept)


def test_gradients_of_several_passes_add_up(recorded):
    replayed, plain = stacked(), stacked(replayed=False)
    tokens = batch()
    for networks in (replayed, plain):
        passed(networks, 0, tokens)
        passed(networks, 0, tokens)  # from here on it is a recording
        networks.zero_grad()
        for number in range(3):
            networks.features(tokens, dropout_seeds(0, 2, number)).square().sum().backward()
    for one, other in zip(replayed.parameters(), plain.parameters(), strict=True):
        assert_same(one.grad, other.grad)


def test_it_trains_as_without(recorded):
    """By the fused optimiser, which wants each gradient laid out as its parameter is."""
    found = []
    for networks in (stacked(), stacked(replayed=False)):
        optimizer = torch.optim.AdamW(networks.parameters(), 1e-3, fused=True)
        for number in range(5):
            passed(networks, number, batch(number, texts=4, length=6))
            optimizer.step()
        found.append(torch.cat([p.detach().flatten() for p in networks.parameters()]))
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-5)
    assert Rerun.made == 1


def test_a_gradient_that_lies_otherwise_than_its_parameter_is_laid_out_as_it_is(recorded):
    """Of x @ w.mT autograd gives a transposed view; the optimiser's fused kernel would read it wrongly."""
    weight = torch.randn(3, 5, requires_grad=True)
    recording = Rerun(lambda x: (x @ weight.T).square(), [torch.randn(4, 5)], [weight])
    given = torch.randn(5, 3).T
    (plain,) = torch.autograd.grad((weight * given).sum(), weight)
    assert plain.stride() != weight.stride()
    (laid,) = recording._backward_of((weight * given).sum(), torch.ones(()))
    assert laid is not None
    assert laid.stride() == weight.stride()
    assert torch.equal(laid, given)


@pytest.mark.parametrize("training", [True, False])
def test_heads_are_recorded_with_the_encoders(recorded, training):
    """Logits and gradients, and heads that are changed in place or given new weights."""
    heads = [Heads(HeadShape(16, 3, dropout=0.3, scale=5.0, extra=1), 2) for _ in range(2)]
    pair = [
        Networks(stacked(replayed), own).train(training) for replayed, own in zip((True, False), heads, strict=True)
    ]

    def logits_and_gradients(networks, number):
        networks.zero_grad()
        logits = networks(batch(texts=4), dropout_seeds(0, 2, number))
        logits.square().sum().backward()
        return logits.detach(), [torch.clone(p.grad) for p in networks.parameters() if p.grad is not None]

    for number in range(3):
        assert_same(*(logits_and_gradients(networks, number) for networks in pair))
    for networks in pair:
        networks.heads.center_on(torch.ones(2, 3, 16))
    assert_same(*(logits_and_gradients(networks, 3) for networks in pair))
    assert Rerun.made == 1
    for networks in pair:
        networks.heads.drop_extra()
    for number in range(4, 7):
        assert_same(*(logits_and_gradients(networks, number) for networks in pair))


@torch.no_grad()
def test_weights_that_were_moved_are_read_where_they_are_now(recorded):
    networks = stacked(layers=(1.0, 1.0)).eval()
    for _ in range(2):
        networks.features(batch(texts=3))
    one, other = (networks.stack.get_parameter(f"layers.{i}.down.weight") for i in range(2))
    kept = [one.data.clone(), other.data.clone()]
    one.data, other.data = other.data, one.data  # as when memory is given back and taken again
    one.data.copy_(kept[0])
    other.data.copy_(kept[1])
    networks.features(batch(texts=3))
    assert Rerun.made == 1  # of where they were
    networks.features(batch(texts=3))
    assert Rerun.made == 2


def test_only_so_many_are_kept_which_is_said_once(recorded, monkeypatch):
    monkeypatch.setattr(replay, "RECORDINGS", 2)
    told: list[str] = []
    networks, plain = stacked(), stacked(replayed=False)
    networks.replay = Replay(told.append)
    for texts in (2, 3, 4, 2, 3, 4, 4, 5, 5):
        assert_same(passed(networks, 0, batch(texts=texts)), passed(plain, 0, batch(texts=texts)))
    assert Rerun.made == 2
    assert told == [
        "No more passes are recorded as CUDA graphs (batches come in more than 2 sizes): others are slower, with the "
        "same results."
    ]


def test_nothing_is_recorded_where_little_memory_is_left(recorded, monkeypatch):
    """What was recorded before goes on."""
    shares = iter([0.6, 0.4])
    monkeypatch.setattr(replay, "free_share", lambda device: next(shares))
    told: list[str] = []
    networks, plain = stacked(), stacked(replayed=False)
    networks.replay = Replay(told.append)
    for texts in (2, 2, 3, 3, 4, 4, 2):
        assert_same(passed(networks, 0, batch(texts=texts)), passed(plain, 0, batch(texts=texts)))
    assert Rerun.made == 1
    assert told == [
        "No more passes are recorded as CUDA graphs while less than 50% of the device's memory is free: others are "
        "slower, with the same results."
    ]


def test_memory_is_looked_at_again_after_a_while_and_what_it_suffices_for_is_recorded(recorded, monkeypatch):
    """Too little at the second pass, which is said, and at the sixth; three later each time; enough at the tenth."""
    monkeypatch.setattr(replay, "LOOK_AGAIN", 3)
    looks: list[int] = []
    told: list[str] = []
    networks = stacked()
    networks.replay = Replay(told.append)
    for number in range(1, 12):

        def share(device, number=number):
            looks.append(number)
            return 0.6 if number > 6 else 0.4

        monkeypatch.setattr(replay, "free_share", share)
        passed(networks, 0, batch(texts=2))
    assert looks == [2, 6, 10]
    assert Rerun.made == 1
    assert len(told) == 1


def test_what_is_free_is_asked_of_the_device(monkeypatch):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (90, 120))
    assert replay.free_share(torch.device("cuda", 0)) == 0.75
    assert replay.free_share(torch.device("cpu")) == 1.0


def test_what_the_process_has_and_does_not_use_is_given_back_where_little_is_free(monkeypatch):
    """30 of 120 are free; the cache has another 60."""
    free = [30]
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free[0], 120))
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: free.append(free.pop() + 60))
    assert replay.free_share(torch.device("cuda", 0)) == 0.75
    assert free == [90]
    assert replay.free_share(torch.device("cuda", 0)) == 0.75
    assert free == [90]  # enough is free: what is kept may be of use


def test_the_pass_in_place_of_a_failed_recording_has_the_memory_of_it(recorded, monkeypatch):
    """The error's traceback would hold the half-made recording while the pass is run."""
    taken: list[weakref.ref[torch.Tensor]] = []
    held: list[bool] = []

    class Failing(Rerun):
        def __init__(self, function, inputs, parameters):
            self.pool = torch.zeros(1000)
            taken.append(weakref.ref(self.pool))
            raise torch.OutOfMemoryError("CUDA out of memory")

    def function(x):
        held.append(bool(taken) and taken[0]() is not None)
        return x

    monkeypatch.setattr(replay, "Recording", Failing)
    passes = Replay()
    for _ in range(2):
        passes(function, [torch.ones(3)], [])
    assert len(taken) == 1
    assert held == [False, False]


def test_after_a_recording_that_failed_random_numbers_are_drawn_as_before(recorded, monkeypatch):
    """A device's generator goes on counting for the recording unless it is given another state."""

    class Failing(Rerun):
        def __init__(self, function, inputs, parameters):
            raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(replay, "Recording", Failing)
    recovered: list[torch.device] = []
    monkeypatch.setattr(replay, "recover", recovered.append)
    networks = stacked()
    for number in range(4):
        passed(networks, number, batch(texts=4))
    assert recovered == [torch.device("cpu")]


def test_a_copy_records_anew(recorded):
    networks = stacked()
    for _ in range(2):
        passed(networks, 0)
    other = copy.deepcopy(networks)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.mul_(1.1)
    wanted = passed(other, 0)
    assert_same(passed(other, 0), wanted)
    assert not torch.allclose(passed(networks, 0)[0], wanted[0])


def test_large_batches_and_mixed_texts_are_not_recorded_and_of_large_ones_it_is_said_once(recorded, monkeypatch):
    from jointmatch.types import Mixing

    networks = stacked(layers=(1.0, 1.0))
    mixing = Mixing(torch.tensor([[1, 0, 3, 2]] * 2), 0.7)
    for _ in range(3):
        networks.features(batch(), [1, 2], mixing)
    told: list[str] = []
    networks.replay = Replay(told.append)
    monkeypatch.setattr(encoders, "FEW_TOKENS", 10)
    with torch.no_grad():
        networks.eval().features(batch())
    assert told == []  # evaluation's passes are meant to be long
    networks.train()
    for _ in range(3):
        passed(networks, 0)
    assert Rerun.made == 0
    assert told == [
        "Passes over more than 10 tokens a network are not recorded as CUDA graphs: they take longer than launching "
        "them does."
    ]


def test_where_recording_fails_the_pass_is_run_and_it_is_said_once(monkeypatch):
    """This machine has no CUDA graphs: the real recording fails on it."""
    monkeypatch.setattr(encoders, "RECORDED_ON", {"cpu"})
    told: list[str] = []
    networks, plain = stacked(), stacked(replayed=False)
    networks.replay = Replay(told.append)
    for number in range(4):
        assert_same(passed(networks, number, batch(texts=4)), passed(plain, number, batch(texts=4)))
    assert len(told) == 1
    assert told[0].startswith("Passes are not recorded as CUDA graphs (")
    assert told[0].endswith("): slower, with the same results.")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RuntimeError("no room\nand more"), "RuntimeError: no room"),
        (ValueError("the compiler raised:\n\n  KeyError: 3\n more"), "ValueError: the compiler raised: KeyError: 3"),
        (ValueError(), "ValueError:"),
    ],
)
def test_an_error_is_told_in_one_line_that_names_its_cause(error, said):
    assert replay.first_line(error) == said
