"""Passes of a stack captured as CUDA graphs: one launch in place of a thousand.

A small network's kernels take less time than launching them one by one. A pass of a shape seen before is captured
once and then replayed: inputs are copied to where the graph reads them, and the output is copied.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

Pass = Callable[..., Tensor]

RECORDINGS = 24  # at most: each holds the memory of its pass
FREE = 0.5  # share of the device's memory that must be free to make another: other runs may need it
LOOK_AGAIN = 500  # passes until memory is checked again: whoever had it may be gone
WARM_UP = 2  # passes before capture, so that one-time work (choosing kernels, compiling) is not captured

OWN_THREAD = "thread_local"  # other threads may keep preparing data meanwhile


class Replay:
    """Runs a function of tensors by replaying recordings, one per shape of its inputs.

    A recorded function must only read its inputs and what is ``held``, and must not look at a value. If capture
    fails, or would take memory that is needed, functions are called as usual.

    Args:
        tell: Is told why capture failed or ended, and what is not captured.
    """

    def __init__(self, tell: Callable[[str], None] = lambda text: None) -> None:
        self.tell = tell
        self.stopped = False
        self._told: set[str] = set()
        self._unlooked = 0  # passes until memory is checked again
        self._recordings: dict[Hashable, Recording] = {}
        self._seen: Counter[Hashable] = Counter()

    def __deepcopy__(self, memo: Any) -> Replay:
        return Replay(self.tell)  # recordings read and write the tensors they were made with

    def __call__(
        self,
        function: Pass,
        inputs: Sequence[Tensor],
        held: Sequence[Tensor],
        mode: Hashable = None,
    ) -> Tensor:
        """``function(*inputs)``, with gradients.

        Args:
            function: The function to run.
            inputs: Its arguments.
            held: All other tensors it reads; those that require gradients get them.
            mode: Everything else it depends on.
        """
        graded = torch.is_grad_enabled()
        # Networks may be moved or given new tensors, but a recording reads and fills the old ones.
        places = tuple((id(x), x.data_ptr()) for x in held)
        key = (mode, graded, places, *((x.shape, x.dtype) for x in inputs))
        recording = self._recordings.get(key)
        if recording is None:
            self._seen[key] += 1
            if self._seen[key] < 2 or not self._may_record(inputs[0].device):
                # Cloned as for a recording: a compiler treats part of a larger tensor differently from a whole one.
                return function(*(x.clone() for x in inputs))
            recording = self._recorded(function, inputs, held if graded else [])
            if recording is None:
                return function(*inputs)
            self._recordings[key] = recording
        recording.fill(inputs)
        return _Replayed.apply(recording.anchor, recording) if graded else recording.forward()

    def passed_by(self, most: int) -> None:
        """Say once that passes over more than ``most`` tokens are not captured."""
        self._tell_once(
            f"Passes over more than {most:,} tokens a network are not recorded as CUDA graphs: they take longer than "
            "launching them does."
        )

    def _recorded(self, function: Pass, inputs: Sequence[Tensor], parameters: Iterable[Tensor]) -> Recording | None:
        """A new recording; None if capture fails."""
        try:
            return Recording(function, inputs, parameters)
        except RuntimeError as error:  # this includes running out of memory
            why = first_line(error)
        # Leaving that block frees the traceback, and with it what the failed recording took.
        self.stopped = True
        recover(inputs[0].device)
        self.tell(f"Passes are not recorded as CUDA graphs ({why}): slower, with the same results.")
        return None

    def _may_record(self, device: torch.device) -> bool:
        if self.stopped:
            return False
        if len(self._recordings) >= RECORDINGS:
            self.stopped = True
            self.tell(
                f"No more passes are recorded as CUDA graphs (batches come in more than {RECORDINGS} sizes): others "
                "are slower, with the same results."
            )
            return False
        if self._unlooked:
            self._unlooked -= 1
            return False
        if free_share(device) >= FREE:
            return True
        self._unlooked = LOOK_AGAIN
        self._tell_once(
            f"No more passes are recorded as CUDA graphs while less than {FREE:.0%} of the device's memory is free: "
            "others are slower, with the same results."
        )
        return False

    def _tell_once(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self.tell(text)


def free_share(device: torch.device) -> float:
    """The share of a device's memory that is free.

    If that is little, the memory this process holds but does not use is released first. What the process has reserved
    but not allocated is not counted as free: it includes the memory of recordings, which they write at every replay.
    """
    if device.type != "cuda":
        return 1.0
    free, total = torch.cuda.mem_get_info(device)
    if free / total < FREE:
        torch.cuda.empty_cache()
        free, total = torch.cuda.mem_get_info(device)
    return free / total


def recover(device: torch.device) -> None:
    """Clean up after a failed capture: the device's random numbers would be drawn for it for ever."""
    if device.type == "cuda":
        generator = torch.cuda.default_generators[torch.cuda.current_device() if device.index is None else device.index]
        generator.graphsafe_set_state(generator.clone_state())


class Recording:
    """One shape's graphs, and the tensors they read and write."""

    def __init__(self, function: Pass, inputs: Sequence[Tensor], parameters: Iterable[Tensor]) -> None:
        self.inputs = [x.clone() for x in inputs]
        self.parameters = [p for p in parameters if p.requires_grad]
        self.anchor = torch.zeros((), device=inputs[0].device, requires_grad=True)
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream), _uncached_casts():
            for _ in range(WARM_UP):
                self._backward_of(function(*self.inputs))
        torch.cuda.current_stream().wait_stream(stream)
        self.forward_graph, self.backward_graph = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.forward_graph, capture_error_mode=OWN_THREAD), _uncached_casts():
            self.output = function(*self.inputs)
        self.grad = torch.zeros_like(self.output)
        self.gradients: Sequence[Tensor | None] = []
        if self.parameters:
            with torch.cuda.graph(self.backward_graph, self.forward_graph.pool(), capture_error_mode=OWN_THREAD):
                self.gradients = self._backward_of(self.output, self.grad)
        self.output = self.output.detach()

    def _backward_of(self, output: Tensor, grad: Tensor | None = None) -> Sequence[Tensor | None]:
        if not self.parameters:
            return []
        grad = torch.zeros_like(output) if grad is None else grad
        gradients = torch.autograd.grad(output, self.parameters, grad, allow_unused=True)
        # A fused optimiser kernel needs each gradient laid out like its parameter.
        return [
            g if g is None or g.stride() == p.stride() else torch.empty_like(p).copy_(g)
            for p, g in zip(self.parameters, gradients, strict=True)
        ]

    def fill(self, inputs: Sequence[Tensor]) -> None:
        for own, given in zip(self.inputs, inputs, strict=True):
            own.copy_(given, non_blocking=True)

    def forward(self) -> Tensor:
        self.forward_graph.replay()
        return self.output.clone()

    def backward(self, grad: Tensor) -> None:
        """Set or accumulate the parameters' gradients, as a backward pass does."""
        before = [p.grad for p in self.parameters]
        if any(old is not None for old in before):  # may be these very tensors, which are about to be overwritten
            before = [None if old is None else old.clone() for old in before]
        self.grad.copy_(grad)
        self.backward_graph.replay()
        for parameter, old, new in zip(self.parameters, before, self.gradients, strict=True):
            parameter.grad = new if old is None else old if new is None else old + new


class _Replayed(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, anchor: Tensor, recording: Recording) -> Tensor:
        ctx.recording = recording
        return recording.forward()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, None]:
        ctx.recording.backward(grad)
        return None, None


def first_line(error: Exception) -> str:
    """An error's message in short; if its first line only introduces another, that one too."""
    lines = [line.strip() for line in f"{type(error).__name__}: {error}".splitlines() if line.strip()]
    said = " ".join(lines[:2]) if lines[0].endswith(":") else lines[0]
    return said[:200]


def _uncached_casts() -> torch.autocast:
    """The current autocast without its cache of cast weights: a graph must cast them each time."""
    dtype, enabled = torch.get_autocast_dtype("cuda"), torch.is_autocast_enabled("cuda")
    return torch.autocast("cuda", dtype, enabled=enabled, cache_enabled=False)
