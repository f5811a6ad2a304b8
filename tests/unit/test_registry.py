"""Names and the classes behind them."""

import pytest

from jointmatch.errors import InputError, UnknownNameError
from jointmatch.registry import Registry


@pytest.fixture
def shapes() -> Registry:
    registry: Registry = Registry("shape")
    for name in ("circle", "square"):
        registry.register(name)(type(name.title(), (), {}))
    return registry


def test_a_registered_class_is_found_under_its_name_and_knows_it(shapes):
    assert shapes["circle"].__name__ == "Circle"
    assert shapes["circle"].name == "circle"
    assert list(shapes) == ["circle", "square"]
    assert "square" in shapes
    assert "oval" not in shapes


def test_registering_gives_the_class_back(shapes):
    class Oval:
        pass

    assert shapes.register("oval")(Oval) is Oval


def test_a_name_taken_twice_is_refused_and_the_first_stays(shapes):
    first = shapes["circle"]
    with pytest.raises(ValueError, match="shape 'circle' is already Circle"):
        shapes.register("circle")(type("Other", (), {}))
    assert shapes["circle"] is first


@pytest.mark.parametrize("name", ["cirlce", "Circle", "CIRCLE"])
def test_an_unknown_name_gets_the_nearest_and_all_known_ones(shapes, name):
    with pytest.raises(UnknownNameError) as raised:
        shapes[name]
    assert str(raised.value) == f"Unknown shape {name!r}. Did you mean 'circle'? Known: circle, square."


def test_a_name_like_no_other_gets_no_suggestion(shapes):
    with pytest.raises(UnknownNameError) as raised:
        shapes["zzz"]
    assert str(raised.value) == "Unknown shape 'zzz'. Known: circle, square."


def test_an_unknown_name_is_the_user_s_fault_and_a_key_error(shapes):
    for kind in (InputError, KeyError, ValueError):
        with pytest.raises(kind):
            shapes["oval"]
