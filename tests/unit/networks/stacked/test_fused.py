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
    assert "33 passed" in done.stdout


FITS = 99 * 1024  # bytes that threads can share on every GPU since the first of the two
KINDS = {
    **dict.fromkeys(("qkv", "out", "grad", "gradients", "x"), "*bf16"),
    **dict.fromkeys(("logsum", "bias", "sums"), "*fp32"),
    **dict.fromkeys(("spans", "rows", "columns"), "*i32"),
    **dict.fromkeys(("scale", "raised"), "fp32"),
}


@pytest.mark.parametrize("capability", [80, 90])
@pytest.mark.parametrize("head", [16, 32, 64, 128])
@pytest.mark.parametrize(
    ("name", "more"), [("_forward", {}), ("_backward", {"WHOLE": True}), ("_backward", {"WHOLE": False})]
)
def test_attention_compiles_for_gpus_of_two_kinds(name, more, head, capability):
    """To machine code, which takes no GPU: much that the interpreter lets pass a compiler does not."""
    pytest.importorskip("triton", reason="the kernels are written in Triton")
    from jointmatch.networks.stacked.kernels import attention

    constants = {"HEAD": head, "BLOCK": attention.BLOCKS[-1], "DROPS": True, "PRECISION": "tf32", **more}
    code, shared = compiled(getattr(attention, name), constants, capability, KINDS)
    assert code
    assert shared <= FITS


@pytest.mark.parametrize("capability", [80, 90])
def test_other_kernels_compile_for_gpus_of_two_kinds(capability):
    pytest.importorskip("triton", reason="the kernels are written in Triton")
    from jointmatch.networks.stacked.kernels import activation, scrambling

    sizes = {name: getattr(activation, name) for name in ("ROWS", "BLOCK", "COLUMNS")}
    back = compiled(activation._backward, sizes, capability, KINDS | {"rows": "i32"})
    shuffle = compiled(scrambling._scramble, {"BLOCK": scrambling.BLOCK}, capability, {"given": "*i32", "out": "*i32"})
    assert back[0]
    assert shuffle[0]
    assert max(back[1], shuffle[1]) <= FITS


def compiled(kernel, constants, capability, kinds):
    """Its machine code, and the memory that a program's threads share."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    kinds = kinds | dict.fromkeys(constants, "constexpr")
    signature = {argument: kinds.get(argument, "i32") for argument in kernel.arg_names}
    made = triton.compile(ASTSource(kernel, signature, constants), target=GPUTarget("cuda", capability, 32))
    return made.asm["cubin"], made.metadata.shared


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
    networks.fuse(said.append)
    assert not networks.fused
    assert len(said) == 1
    assert said[0].startswith("Kernels of our own are not used: ModuleNotFoundError:")
    assert networks.features(batch(0, 3, 9)).shape == (2, 3, 32)
