"""Kernels of our own for stacks on a GPU, in Triton, which comes with torch for GPUs: importing them needs it.

They register themselves as ``torch.ops.jointmatch``. Each gives what is written out in torch where it is not used.
"""

from jointmatch.networks.stacked.kernels.activation import activation_backward
from jointmatch.networks.stacked.kernels.attention import BLOCKS, attend
from jointmatch.networks.stacked.kernels.scrambling import scramble

__all__ = ["BLOCKS", "activation_backward", "attend", "scramble"]
