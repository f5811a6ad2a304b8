"""Classes from other installed packages: real package metadata in a folder on the path."""

import sys
import warnings
from abc import ABC, abstractmethod

import pytest

from jointmatch.algorithms import ALGORITHMS
from jointmatch.errors import PluginError, UnknownNameError
from jointmatch.plugins import PluginWarning
from jointmatch.registry import Registry

GROUP = "jointmatch.test_shapes"


class Shape(ABC):
    @abstractmethod
    def area(self) -> float: ...


class Circle(Shape):
    def area(self) -> float:
        return 3.14


OVAL = f"from {__name__} import Shape\nclass Oval(Shape):\n    def area(self): return 2.0\n"


@pytest.fixture
def install(tmp_path, monkeypatch):
    """``install("acme", "oval = acme:Oval", code)`` as if by pip."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def install(package, entry, code):
        (tmp_path / f"{package}.py").write_text(code)
        info = tmp_path / f"{package}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n")
        (info / "entry_points.txt").write_text(f"[{GROUP}]\n{entry}\n")
        monkeypatch.delitem(sys.modules, package, raising=False)

    return install


@pytest.fixture
def shapes() -> Registry:
    registry: Registry = Registry("shape", GROUP, Shape)
    registry.register("circle")(Circle)
    return registry


def test_a_plug_in_is_found_by_name_and_knows_its_name_and_where_it_comes_from(install, shapes):
    install("acme", "oval = acme:Oval", OVAL)
    assert shapes["oval"]().area() == 2.0
    assert shapes["oval"].name == "oval"
    assert (shapes.source("oval"), shapes.source("circle")) == ("acme 1.2", "")


@pytest.mark.parametrize("question", [list, lambda r: r["circle"], lambda r: "circle" in r, lambda r: r.source("oval")])
def test_plug_ins_are_loaded_once_and_not_before_somebody_asks(install, shapes, question):
    install("acme", "oval = acme:Oval", OVAL + "import sys\nsys.modules.setdefault('loads', []).append(1)\n")
    loads: list[int] = []
    sys.modules["loads"] = loads  # type: ignore[assignment]
    try:
        assert loads == []
        question(shapes)
        question(shapes)
        assert loads == [1]
        assert list(shapes) == ["circle", "oval"]
    finally:
        del sys.modules["loads"]


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import no_such_module_anywhere", "ModuleNotFoundError: No module named 'no_such_module_anywhere'"),
        ("raise RuntimeError('made for version 9')", "RuntimeError: made for version 9"),
        ("x = 1", "AttributeError"),
        ("Oval = 7", "acme:Oval is not a class made from Shape"),
        ("class Oval: pass", "acme:Oval is not a class made from Shape"),
        (f"from {__name__} import Shape\nclass Oval(Shape): pass", "acme:Oval lacks area"),
    ],
)
def test_a_broken_plug_in_is_a_warning_and_everything_else_goes_on(install, shapes, code, why):
    install("acme", "oval = acme:Oval", code)
    with pytest.warns(PluginWarning) as warned:
        assert list(shapes) == ["circle"]
    assert str(warned[0].message).startswith("The plug-in acme 1.2 gives no 'oval' (")
    assert why in str(warned[0].message)
    with pytest.raises(UnknownNameError, match=r"There is no shape 'oval': The plug-in acme 1\.2") as raised:
        shapes["oval"]
    assert why in str(raised.value)


def test_a_name_that_is_taken_is_an_error_that_names_both_every_time(install, shapes):
    install("acme", "circle = acme:Oval", OVAL)
    for _ in range(2):
        with pytest.raises(PluginError) as raised:
            shapes["circle"]
        assert str(raised.value) == (
            f"The shape 'circle' is given twice, by {__name__}.Circle and by the plug-in acme 1.2. "
            f"Uninstall the plug-in, or give its entry point in {GROUP!r} another name."
        )


def test_two_plug_ins_with_one_name_are_an_error_too(install, shapes):
    install("acme", "oval = acme:Oval", OVAL)
    install("zenith", "oval = zenith:Oval", OVAL)
    with pytest.raises(PluginError, match=r"by the plug-in acme 1\.2 and by the plug-in zenith 1\.2"):
        list(shapes)


def test_a_plug_in_may_register_itself_while_it_is_loaded(install, shapes, monkeypatch):
    monkeypatch.setitem(sys.modules, "shapes_here", type(sys)("shapes_here"))
    sys.modules["shapes_here"].shapes = shapes  # type: ignore[attr-defined]
    install("acme", "oval = acme:Oval", OVAL + "from shapes_here import shapes\nshapes.register('oval')(Oval)\n")
    assert shapes["oval"].name == "oval"
    assert shapes.source("oval") == "acme 1.2"


def test_a_class_keeps_the_name_it_has(install, shapes):
    code = "from shapes_here import shapes\nCircle = shapes._entries['circle']\n"
    sys.modules["shapes_here"] = type(sys)("shapes_here")
    sys.modules["shapes_here"].shapes = shapes  # type: ignore[attr-defined]
    try:
        install("acme", "ring = acme:Circle", code)
        with pytest.warns(PluginWarning, match="gives 'ring' a class that is known as 'circle'"):
            assert list(shapes) == ["circle"]
        assert shapes["circle"].name == "circle"
    finally:
        del sys.modules["shapes_here"]


def test_a_registry_without_a_group_asks_nobody(install):
    install("acme", "oval = acme:Oval", "raise RuntimeError")
    registry: Registry = Registry("shape")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(registry) == []


def test_algorithms_are_open_to_plug_ins():
    assert ALGORITHMS.group == "jointmatch.algorithms"
    assert ALGORITHMS.source("jointmatch") == ""
