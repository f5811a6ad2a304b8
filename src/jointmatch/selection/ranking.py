"""Which of several views of a text is the easiest. V views, N networks, B texts, C classes."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from jointmatch.randomness import derive, seeded

WIDTH = 128  # of the hidden layer


def easiest(view_logits: Tensor, y: Tensor) -> Tensor:
    """The view with the smallest cross-entropy, the first in a tie: (V, N, B, C) and (B,) -> (N, B)."""
    right = y.expand(view_logits.shape[:-1]).unsqueeze(-1)
    return F.log_softmax(view_logits, dim=-1).gather(-1, right).squeeze(-1).argmax(0)


def of_view(logits: Tensor, which: Tensor) -> Tensor:
    """The logits of one view for each text: (V, N, B, C) and (N, B) -> (N, B, C)."""
    return logits.gather(0, which[None, ..., None].expand(1, *logits.shape[1:])).squeeze(0)


class ViewRanker(nn.Module):
    """Score a text's augmented views by how easy they seem; every network has its own ranker.

    It reads the predictions on the text and on each view, with the classes ordered by mean probability: how sure the
    network is of each and whether they agree, but not which class it is. Untrained, it scores all views alike.

    Args:
        num_views: V, including the text itself, which comes first and is not ranked.
        num_classes: C.
        num_networks: N.
    """

    def __init__(self, num_views: int, num_classes: int, num_networks: int) -> None:
        super().__init__()
        self.of_network = nn.ModuleList()
        for network in range(num_networks):
            with seeded(derive(0, "ranker", network)):
                last = nn.Linear(WIDTH, num_views - 1)
                hidden = nn.Linear(num_views * num_classes, WIDTH)
            nn.init.zeros_(last.weight)
            nn.init.zeros_(last.bias)
            self.of_network.append(nn.Sequential(hidden, nn.Tanh(), last))

    def forward(self, view_logits: Tensor) -> Tensor:
        """(V, N, B, C) -> scores (N, B, V - 1), the highest for the view that seems easiest."""
        probs = view_logits.softmax(-1)
        order = probs.mean(0).argsort(dim=-1, descending=True, stable=True)
        seen = probs.gather(-1, order.expand_as(probs)).movedim(0, 2).flatten(2)  # (N, B, V * C)
        return torch.stack([ranker(own) for ranker, own in zip(self.of_network, seen, strict=True)])
