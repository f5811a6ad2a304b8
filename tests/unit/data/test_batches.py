"""Which rows each step sees."""

import numpy as np
import pytest

from jointmatch.data.batches import Batches


def batches(rows=10, size=4, seed=0, name="labeled") -> Batches:
    return Batches(rows, size, seed, name)


@pytest.mark.parametrize(("rows", "size"), [(10, 5), (10, 4), (7, 3), (100, 1)])
def test_every_pass_sees_every_row_once(rows, size):
    series = batches(rows, size)
    seen = np.concatenate([series[step] for step in range(rows)])  # size passes of rows rows each
    assert len(seen) == rows * size
    for start in range(0, len(seen), rows):
        assert sorted(seen[start : start + rows]) == list(range(rows))


def test_passes_are_shuffled_differently():
    series = batches(50, 25)
    first, second = (np.concatenate([series[2 * p], series[2 * p + 1]]) for p in (0, 1))
    assert first.tolist() != second.tolist()
    assert first.tolist() != list(range(50))


@pytest.mark.parametrize("order", [[7, 0, 3, 12, 1], [12, 11, 10]])
def test_a_batch_depends_on_its_step_alone_not_on_what_was_asked_before(order):
    series = batches()
    assert [series[step].tolist() for step in order] == [batches()[step].tolist() for step in order]


@pytest.mark.parametrize("other", [{"seed": 1}, {"name": "unlabeled"}])
def test_another_seed_or_name_gives_another_series(other):
    assert batches(100, 50)[0].tolist() != batches(100, 50, **other)[0].tolist()


@pytest.mark.parametrize("size", [0, 10, 11])
def test_size_0_or_all_rows_or_more_takes_every_row_each_time(size):
    series = batches(10, size)
    assert [series[step].tolist() for step in (0, 5)] == [list(range(10))] * 2


def test_no_rows_give_empty_batches():
    assert batches(0, 8)[3].tolist() == []


def test_few_passes_are_held_in_memory():
    series = batches(10, 5)
    for step in range(100):
        series[step]
    assert len(series._passes) <= 2
