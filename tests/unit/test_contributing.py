"""The page that tells how to add an algorithm tells the truth."""

import re
import tomllib
from pathlib import Path

import torch

from jointmatch.algorithms import ALGORITHMS, build
from jointmatch.algorithms.catalogue import details
from jointmatch.resolve import resolve
from jointmatch.types import Step, Task

ROOT = Path(__file__).parents[2]


def test_the_algorithm_on_the_contributing_page_works_as_it_stands():
    """Logits (2, 0) give 0.881 for the first class: under tau 0.9, over tau 0.8."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    try:
        exec(compile(block, "CONTRIBUTING.md", "exec"), {"__name__": "page"})
        weak = torch.tensor([[[2.0, 0.0]]], requires_grad=True)
        strong = torch.tensor([[[0.0, 0.0]]], requires_grad=True)
        step = Step(torch.arange(1))
        strict = build("yourname", Task(2), {})
        assert not strict.pseudo_label(weak, step).selected.any()
        lenient = build("yourname", Task(2), {"tau": 0.8})
        labels = lenient.pseudo_label(weak, step)
        loss = lenient.unsupervised_loss(strong, labels, step)
        torch.testing.assert_close(loss, torch.tensor([0.8808 * 0.6931]), rtol=1e-3, atol=1e-4)
        loss.sum().backward()
        assert weak.grad is None
        shown = details("yourname")
        assert shown["rule"]
        assert shown["techniques"]["pseudo_labelling"]
        assert shown["settings"]["tau"] == 0.9
        for mode in shown["modes"]:
            settings = {"algorithm": {"name": "yourname", "tau": 0.8}}
            assert resolve(settings, mode).algorithm.settings == {"tau": 0.8}
    finally:
        ALGORITHMS._entries.pop("yourname", None)


def test_the_entry_point_on_the_contributing_page_is_the_one_that_is_looked_for():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)
    assert tomllib.loads(block)["project"]["entry-points"][ALGORITHMS.group] == {"yourname": "your_module:YourName"}


def test_every_file_the_contributing_page_names_is_there():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = [
        name
        for name in re.findall(r"`(?:python )?((?:src|tests|tools|examples)/[\w./]+)", page)
        if "yourname" not in name
    ]
    assert len(named) > 5
    assert all((ROOT / name).exists() for name in named)


def test_every_script_the_makefile_names_is_there():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = re.findall(r"benchmarks/[\w./]+", makefile)
    assert named
    assert all((ROOT / name).is_file() for name in named)
