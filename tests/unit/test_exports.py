"""What a package says it offers, it has."""

import importlib
import pkgutil

import pytest

import jointmatch

PACKAGES = [m.name for m in pkgutil.walk_packages(jointmatch.__path__, "jointmatch.") if m.ispkg]


@pytest.mark.parametrize("name", ["jointmatch", *PACKAGES])
def test_every_name_in_all_is_there(name):
    module = importlib.import_module(name)
    offered = getattr(module, "__all__", ())
    assert [one for one in offered if not hasattr(module, one)] == []
    assert len(set(offered)) == len(offered)
