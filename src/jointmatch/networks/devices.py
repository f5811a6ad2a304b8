"""Find the device to run on, and move data there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from jointmatch.errors import InputError

MEMORY = Path("/proc/meminfo")


def find_device(name: str) -> torch.device:
    """The device for ``auto``, ``cpu``, ``cuda`` or ``cuda:1``, checked.

    A GPU given by its number becomes torch's current one: CUDA graphs and our own kernels run there.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise InputError(f"Unknown device {name!r}, wanted auto, cpu, cuda or cuda:N.") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise InputError(f"The device {name!r} was asked for, but torch sees no GPU. Use device=cpu.")
    if device.type == "cuda" and device.index is not None:
        count = torch.cuda.device_count()
        if device.index >= count:
            raise InputError(f"The device {name!r} was asked for, but torch sees {count} GPU(s), counted from 0.")
        torch.cuda.set_device(device)
    return device


def has_bf16(device: torch.device) -> bool:
    """Whether the device has instructions for bf16; without them every product would take longer than in fp32."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    asked = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")  # absent in some versions of torch
    return device.type == "cpu" and any(getattr(torch.cpu, name, bool)() for name in asked)


@contextmanager
def one_thread(device: torch.device) -> Iterator[None]:
    """Use one thread on a CPU: for many small operations, which gain little from more.

    Threads wait for each other in a busy loop; if something else wants the cores, each of these operations then
    takes as long as its slowest thread is kept waiting.
    """
    before = torch.get_num_threads()
    if device.type == "cpu":
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def device_name(device: torch.device) -> str:
    """A GPU's name as given by its maker; ``cpu`` for a CPU."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def on_device(tensor: Tensor, device: torch.device) -> Tensor:
    """Copy a CPU tensor to a device, without waiting for work in progress there."""
    return all_on_device([tensor.numpy()], device)[0] if device.type == "cuda" else tensor.to(device)


def all_on_device(arrays: Sequence[np.ndarray], device: torch.device) -> list[Tensor]:
    """Arrays as tensors on a device, in one transfer: a single one costs about as much as all of them."""
    ends = np.cumsum([-(-array.nbytes // 8) * 8 for array in arrays]).tolist()  # eight-byte alignment suits every dtype
    buffer = torch.empty(ends[-1], dtype=torch.uint8, pin_memory=device.type == "cuda")
    parts = [(start, start + array.nbytes) for start, array in zip([0, *ends], arrays, strict=False)]
    for (start, end), array in zip(parts, arrays, strict=True):
        buffer.numpy()[start:end] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    there = buffer.to(device, non_blocking=device.type == "cuda")
    kinds = [torch.from_numpy(np.empty(0, array.dtype)).dtype for array in arrays]
    pairs = zip(parts, arrays, kinds, strict=True)
    return [there[start:end].view(kind).view(array.shape) for (start, end), array, kind in pairs]


def read_later(tensor: Tensor) -> Callable[[], Tensor]:
    """Start copying a tensor to the CPU; the function returned waits only for what precedes the copy, and gives it."""
    if tensor.device.type != "cuda":
        return lambda: tensor
    there = torch.empty_like(tensor, device="cpu", pin_memory=True)
    there.copy_(tensor, non_blocking=True)
    sent = torch.cuda.Event()
    sent.record()

    def read() -> Tensor:
        sent.synchronize()
        return there

    return read


def free_memory(device: torch.device) -> int | None:
    """Bytes that could be allocated now; None if the machine does not say."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    try:
        lines = MEMORY.read_text(encoding="ascii").splitlines()
    except OSError:  # not Linux
        return None
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")), None)
