"""Whether attention is fused, what is said where it is not, and the kernels by Triton's interpreter."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from jointmatch.networks import stacked
from jointmatch.networks.stacked import Stacked, StackedEncoders, fused
from tests.unit.networks.stacked.berts import batch, even_bert


def test_the_kernels_give_what_is_written_out_gives():
    """See ``interpreted_kernels.py``."""
    pytest.importorskip("triton", reason="the kernels are written in Triton")
    file = Path(__file__).with_name("interpreted_kernels.py")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(file)]
    root = Path(__file__).parents[4]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    done = subprocess.run(
        command, cwd=root, env={**environment, "TRITON_INTERPRET": "1"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert "14 passed" in done.stdout


@pytest.mark.parametrize(("capability", "head"), [(80, 64), (90, 32)])
@pytest.mark.parametrize("name", ["_forward", "_backward"])
def test_the_kernels_compile_for_gpus_of_two_kinds(name, capability, head):
    """To machine code, which takes no GPU: much that the interpreter lets pass a compiler does not."""
    pytest.importorskip("triton", reason="the kernels are written in Triton")
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from jointmatch.networks.stacked import kernels

    kernel = getattr(kernels, name)
    constants = {"HEAD": head, "BLOCK": kernels.BLOCKS[-1], "DROPS": True, "PRECISION": "tf32"}
    kinds = dict.fromkeys(("qkv", "out", "grad", "gradients"), "*bf16") | {"logsum": "*fp32"}
    kinds |= dict.fromkeys(("spans", "rows", "columns"), "*i32") | dict.fromkeys(("scale", "raised"), "fp32")
    kinds |= dict.fromkeys(constants, "constexpr")
    signature = {argument: kinds.get(argument, "i32") for argument in kernel.arg_names}
    made = triton.compile(ASTSource(kernel, signature, constants), target=GPUTarget("cuda", capability, 32))
    assert made.asm["cubin"]
    assert made.metadata.shared <= 99 * 1024  # what every GPU since then has


@pytest.mark.parametrize(
    ("settings", "kind", "reason"),
    [
        ({}, "cpu", "it pays on a GPU only, and this is cpu"),
        ({"num_attention_heads": 4}, "cuda", "its heads are 8 wide, wanted 16, 32, 64, 128"),
        ({"attention_probs_dropout_prob": 1.0}, "cuda", "all of it is dropped"),
    ],
)
def test_it_is_said_why_not(settings, kind, reason):
    assert fused.why_not_fused(even_bert(0, **settings).config, torch.device(kind)) == reason


def test_without_triton_attention_is_written_out_and_it_is_said(monkeypatch):
    monkeypatch.setattr(fused, "RUN_ON", {"cpu"})
    monkeypatch.setitem(sys.modules, "jointmatch.networks.stacked.kernels", None)
    monkeypatch.delattr(stacked, "kernels", raising=False)
    said: list[str] = []
    networks = StackedEncoders(Stacked.from_modules([even_bert(0), even_bert(1)]))
    networks.fuse_attention(said.append)
    assert not networks.fused
    assert len(said) == 1
    assert said[0].startswith("Attention is not fused: ModuleNotFoundError:")
    assert networks.features(batch(0, 3, 9)).shape == (2, 3, 32)
