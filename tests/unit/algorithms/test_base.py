"""How many networks a run trains."""

import pytest

from jointmatch.algorithms import networks_of
from jointmatch.config import build


@pytest.mark.parametrize(
    ("algorithm", "mode", "layers", "count", "wanted"),
    [
        ("fixmatch", "full", [1.0, 0.67], None, 1),  # what the method was made for
        ("jointmatch", "full", [1.0], None, 2),
        ("fixmatch", "lite", [1.0, 0.67], None, 2),  # one for each layer that is read
        ("fixmatch", "lite", [1.0, 1.0], None, 1),
        ("jointmatch", "lite", [1.0], None, 2),
        ("jointmatch", "lite", [1.0, 0.67, 0.33], None, 3),
        ("fixmatch", "lite", [1.0, 0.67], 1, 1),  # as many as it is told
        ("jointmatch", "full", [1.0], 4, 4),
    ],
)
def test_networks_are_as_many_as_told_else_as_the_algorithm_wants_and_in_lite_one_for_each_layer(
    algorithm, mode, layers, count, wanted
):
    network = {"layers": layers} | ({"count": count} if count else {})
    config = build({"algorithm": {"name": algorithm}, "training": {"mode": mode}, "network": network})
    assert networks_of(config) == wanted
