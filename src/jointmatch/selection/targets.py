"""What a text is taught to be, from its teacher's probabilities."""

from torch import Tensor


def sharpen(probs: Tensor, temperature: float) -> Tensor:
    """Raise to the power 1 / T and make it sum to 1 again: softmax(logits / T) where ``probs`` is softmax(logits)."""
    if temperature == 1:
        return probs
    return (probs.log() / temperature).softmax(-1)  # in logarithms, where the power of a small one does not vanish
