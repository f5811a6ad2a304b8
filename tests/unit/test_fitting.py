"""What the user is told of data that the settings had to bend to."""

import pytest

from jointmatch.data.splits import Rows, make_splits
from jointmatch.fitting import fit
from jointmatch.resolve import resolve

LABELED = Rows(["a", "b", "c"], ["x", "y", "z"])
POOL = Rows(["more", "and more", "and some"], [None] * 3)


def warnings(dev: Rows | None = None, test: Rows | None = None) -> list[str]:
    return fit(resolve({}, "lite"), make_splits(LABELED, [POOL], dev, test))[1]


@pytest.mark.parametrize("part", ["dev", "test"])
def test_a_part_that_lacks_classes_is_told_once_with_what_that_does_to_macro_f1(part):
    (line,) = warnings(**{part: Rows(["d", "e"], ["y", "y"])})
    found, told = line.split(": ")
    assert found == f"The {part} part has no text of 2 class(es) ('x', 'z')"
    assert told == "macro-F1 counts such a class as 0 if it was predicted, and else leaves it out."


def test_parts_with_every_class_and_no_parts_at_all_leave_nothing_to_say():
    assert warnings() == []
    assert warnings(dev=Rows(["d", "e", "f"], ["x", "y", "z"])) == []


def test_of_many_classes_a_few_are_named():
    names = [f"c{i}" for i in range(9)]
    splits = make_splits(Rows(names, [*names]), [POOL], test=Rows(["d"], ["c8"]))
    (line,) = [w for w in fit(resolve({}, "lite"), splits)[1] if "macro-F1" in w]
    assert "8 class(es) ('c0', 'c1', 'c2', 'c3', 'c4', ...)" in line


@pytest.mark.parametrize(
    ("pool", "algorithm", "said"), [(2, "jointmatch", True), (3, "jointmatch", False), (2, "supervised", False)]
)
def test_a_pool_smaller_than_what_is_labelled_is_told(pool, algorithm, said):
    splits = make_splits(LABELED, [Rows([f"text {i}" for i in range(pool)], [None] * pool)])
    lines = fit(resolve({"algorithm": {"name": algorithm}}, "lite"), splits)[1]
    line = "Only 2 unlabelled text(s) beside 3 labelled ones: jointmatch is made for many times more unlabelled"
    assert lines == [line + " than labelled texts, and may gain little here."] * said
