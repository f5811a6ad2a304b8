"""Every draw is a function of seed, purpose and step, and leaves the caller's streams alone."""

import numpy as np
import pytest
import torch

from jointmatch.randomness import derive, generator, seeded


def test_a_derived_seed_is_the_same_in_every_process_and_version():
    """The first 8 bytes of blake2b of "[0, 'dropout', 1, 2]" as a big-endian number, halved."""
    assert derive(0, "dropout", 1, 2) == 5570660925666577418
    assert 0 <= derive(123456789, "x") < 2**63


def test_every_part_of_the_path_and_the_seed_change_it():
    paths = [(0, "a", 1), (1, "a", 1), (0, "b", 1), (0, "a", 2), (0, "a"), (0, 1, "a")]
    assert len({derive(*path) for path in paths}) == len(paths)  # type: ignore[arg-type]


def test_where_one_part_of_the_path_ends_matters():
    assert derive(0, "a/b") != derive(0, "a", "b")


def test_a_generator_repeats_itself_for_one_purpose_and_differs_for_another():
    assert generator(0, "draw", 3).random(4).tolist() == generator(0, "draw", 3).random(4).tolist()
    assert generator(0, "draw", 3).random(4).tolist() != generator(0, "draw", 4).random(4).tolist()


def test_drawing_does_not_touch_numpy_s_own_stream():
    np.random.seed(1)
    expected = np.random.random()
    np.random.seed(1)
    generator(0, "x").random(100)
    assert np.random.random() == expected


def test_a_seeded_block_gives_the_same_numbers_each_time():
    drawn = []
    for _ in range(2):
        with seeded(5):
            drawn.append(torch.rand(3).tolist())
    with seeded(6):
        drawn.append(torch.rand(3).tolist())
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize("device", [None, torch.device("cpu")])
def test_after_a_seeded_block_torch_s_stream_goes_on_as_if_nothing_had_been_drawn(device):
    torch.manual_seed(1)
    expected = torch.rand(2).tolist()
    torch.manual_seed(1)
    with seeded(5, device):
        torch.rand(100)
    assert torch.rand(2).tolist() == expected


def test_the_stream_is_put_back_after_an_error_too():
    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    with pytest.raises(RuntimeError), seeded(5):
        torch.rand(3).view(4)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_seeded_block_inside_another_does_not_shift_the_outer_one():
    with seeded(5):
        expected = [torch.rand(1).item(), torch.rand(1).item()]
    with seeded(5):
        first = torch.rand(1).item()
        with seeded(6):
            torch.rand(50)
        assert [first, torch.rand(1).item()] == expected
