"""The page that tells how to add an algorithm tells the truth."""

import re
from pathlib import Path

import torch

from jointmatch.algorithms import ALGORITHMS, build
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
    finally:
        ALGORITHMS._entries.pop("yourname", None)


def test_every_script_the_makefile_names_is_there():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = re.findall(r"benchmarks/[\w./]+", makefile)
    assert named
    assert all((ROOT / name).is_file() for name in named)
