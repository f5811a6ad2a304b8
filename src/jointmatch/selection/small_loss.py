"""Select texts with small losses, whose labels are more likely to be right: losses (N, B) to masks (N, B)."""

import torch
from torch import Tensor

from jointmatch.selection.labelling import cross


def keep_share(noise: float, warmup: float, progress: float) -> float:
    """R = 1 - min(r T / T_k, r): everything at first, 1 - r from T_k on, with T and T_k as shares of the training."""
    return 1 - noise * (min(progress / warmup, 1.0) if warmup else 1.0)


def smallest(losses: Tensor, share: float, among: Tensor) -> Tensor:
    """Mask of each network's ``share`` of smallest losses ``among`` some texts, rounded down; all if that is none."""
    ranks = losses.masked_fill(~among, torch.inf).argsort(dim=-1, stable=True).argsort(dim=-1)
    found = among.sum(-1, keepdim=True)
    count = (share * found.double()).floor()
    return ranks < torch.where(count > 0, count, found)


def exchanged(losses: Tensor, share: float, among: Tensor) -> Tensor:
    """Mask of the texts that each network's peer picked for it."""
    return cross(smallest(losses, share, among))


def exchanged_where_labels_differ(
    losses: Tensor, labels: Tensor, share: float, among: Tensor, all_if_none: bool
) -> Tensor:
    """The same, only ``among`` texts whose labels (N, B) differ; if there are none, every text or none."""
    differ = among & (labels != labels[:1]).any(0)
    fallback = among if all_if_none else torch.zeros_like(among)
    return torch.where(differ.any(), exchanged(losses, share, differ), fallback)
