"""Modes of networks and all their parts."""

import copy
import gc
import weakref

import pytest
from torch import nn

from jointmatch.networks.networks import Moded


class Two(Moded):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Dropout(0.5), nn.Sequential(nn.Linear(2, 2)))


@pytest.mark.parametrize("mode", [True, False])
def test_every_part_follows_from_whatever_mode_it_was_in(mode):
    networks = Two()
    networks.inner.train(not mode)
    assert networks.train(mode) is networks
    assert all(part.training is mode for part in networks.modules())
    networks.train(not mode).train(not mode)
    assert all(part.training is not mode for part in networks.modules())


def test_a_copy_has_parts_of_its_own():
    networks = Two().train()
    other = copy.deepcopy(networks).eval()
    assert networks.inner[0].training
    assert not any(part.training for part in other.modules())


def test_its_memory_is_given_back_as_soon_as_nobody_holds_it():
    """Not when Python next looks for circles: a GPU's memory may be wanted before."""
    networks = Two().train()
    held = weakref.ref(networks.inner)
    gc.disable()
    try:
        del networks
        assert held() is None
    finally:
        gc.enable()
