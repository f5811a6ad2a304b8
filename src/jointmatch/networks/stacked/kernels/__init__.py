"""Our own kernels for stacks on a GPU. Importing them needs Triton, which comes with torch for GPUs.

They register themselves as ``torch.ops.jointmatch``. Each computes what plain torch code does where it is not used.
"""

from jointmatch.networks.stacked.kernels.activation import activation_backward
from jointmatch.networks.stacked.kernels.attention import BLOCKS, attend
from jointmatch.networks.stacked.kernels.scrambling import scramble

__all__ = ["BLOCKS", "activation_backward", "attend", "scramble"]
