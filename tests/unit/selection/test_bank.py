"""The memory of confident texts, by hand."""

import pytest
import torch

from jointmatch.selection import Bank


def entries(bank, c):
    return bank.texts[c, : bank.filled[c]].tolist()


def add(bank, texts, labels, kept=None):
    kept = torch.ones(len(texts), dtype=torch.bool) if kept is None else torch.tensor(kept)
    bank.add(torch.tensor(texts), torch.tensor(labels), kept)


def test_texts_go_to_their_classes_the_latest_in_front_and_the_oldest_out():
    """Size 3. First 10 and 12 to class 0, 11 to class 1; then 20 and 21 to class 0, which pushes 12 out."""
    bank = Bank(2, 3)
    add(bank, [10, 11, 12], [0, 1, 0])
    assert (entries(bank, 0), entries(bank, 1)) == ([10, 12], [11])
    add(bank, [20, 21], [0, 0])
    assert (entries(bank, 0), entries(bank, 1)) == ([20, 21, 10], [11])
    assert bank.filled.tolist() == [3, 1]


def test_only_what_is_kept_goes_in():
    bank = Bank(2, 3)
    add(bank, [1, 2, 3], [0, 0, 1], [False, True, False])
    assert (entries(bank, 0), entries(bank, 1)) == ([2], [])


def test_of_a_batch_larger_than_the_bank_the_first_stay():
    bank = Bank(1, 2)
    add(bank, [5, 6, 7], [0, 0, 0])
    assert entries(bank, 0) == [5, 6]
    assert bank.filled.tolist() == [2]


def test_a_text_may_be_in_it_twice():
    bank = Bank(1, 4)
    add(bank, [5], [0])
    add(bank, [5], [0])
    assert entries(bank, 0) == [5, 5]


def test_a_draw_has_as_many_of_each_class_class_by_class_and_none_twice():
    bank = Bank(3, 6)
    add(bank, list(range(18)), [i % 3 for i in range(18)])
    rows = bank.draw(4, seed=0)
    assert rows.shape == (12,)
    assert [row % 3 for row in rows.tolist()] == [0] * 4 + [1] * 4 + [2] * 4
    assert len(set(rows.tolist())) == 12


def test_empty_places_are_never_drawn():
    """Two texts of six places, and text 0 is none of them."""
    bank = Bank(1, 6)
    add(bank, [7, 8], [0, 0])
    for seed in range(20):
        assert sorted(bank.draw(2, seed).tolist()) == [7, 8]


def test_the_seed_decides_the_draw():
    bank = Bank(1, 50)
    add(bank, list(range(50)), [0] * 50)
    assert bank.draw(5, seed=3).tolist() == bank.draw(5, seed=3).tolist() != bank.draw(5, seed=4).tolist()


def test_every_text_is_drawn_equally_often():
    """3 of 5 texts, 2,000 times: each 1,200 times, give or take 3 standard deviations of 22."""
    bank = Bank(1, 8)
    add(bank, list(range(5)), [0] * 5)
    drawn = torch.cat([bank.draw(3, seed) for seed in range(2000)])
    assert all(abs(count - 1200) < 70 for count in torch.bincount(drawn, minlength=5).tolist())


@pytest.mark.parametrize("classes", [2, 150])
def test_a_loaded_bank_draws_the_same(classes):
    bank, other = Bank(classes, 5), Bank(classes, 5)
    add(bank, list(range(3 * classes)), [i % classes for i in range(3 * classes)])
    other.load_state_dict(bank.state_dict())
    assert torch.equal(bank.draw(3, 9), other.draw(3, 9))
