"""Training targets of a text, from its teacher's probabilities."""

from torch import Tensor


def sharpen(probs: Tensor, temperature: float) -> Tensor:
    """Raise to the power 1 / T and normalise to sum to 1: softmax(logits / T) where ``probs`` is softmax(logits)."""
    if temperature == 1:
        return probs
    return (probs.log() / temperature).softmax(-1)  # in log space, where powers of small values do not underflow


def mean_of_views(logits: Tensor, later_weight: float = 1.0) -> Tensor:
    """Mean prediction over views, where the first counts 1 and each later one ``later_weight``.

    (V, N, B, C), or (N, B, C) of one view -> probabilities (N, B, C).
    """
    probs = (logits if logits.ndim == 4 else logits.unsqueeze(0)).softmax(-1)
    return (probs[0] + later_weight * probs[1:].sum(0)) / (1 + later_weight * (len(probs) - 1))
