"""What a text is taught to be, from its teacher's probabilities."""

from torch import Tensor


def sharpen(probs: Tensor, temperature: float) -> Tensor:
    """Raise to the power 1 / T and make it sum to 1 again: softmax(logits / T) where ``probs`` is softmax(logits)."""
    if temperature == 1:
        return probs
    return (probs.log() / temperature).softmax(-1)  # in logarithms, where the power of a small one does not vanish


def mean_of_views(logits: Tensor, later_weight: float = 1.0) -> Tensor:
    """The mean prediction over views, the first counting 1 and each later one ``later_weight``.

    (V, N, B, C), or (N, B, C) of one view -> probabilities (N, B, C).
    """
    probs = (logits if logits.ndim == 4 else logits.unsqueeze(0)).softmax(-1)
    return (probs[0] + later_weight * probs[1:].sum(0)) / (1 + later_weight * (len(probs) - 1))
