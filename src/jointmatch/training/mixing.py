"""Targets for texts that are mixed with each other, or read in several views at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor

from jointmatch.types import Mixing, PseudoLabels


def distributions(targets: Tensor, num_classes: int) -> Tensor:
    """Class ids (N, B) as distributions (N, B, C); distributions are returned as they are."""
    return targets if targets.dtype.is_floating_point else F.one_hot(targets, num_classes).float()


def mix_targets(
    y: Tensor, labels: PseudoLabels | None, mixing: Mixing, num_classes: int
) -> tuple[Tensor, PseudoLabels | None]:
    """Row i becomes share * t_i + (1 - share) * t_partner(i), over labelled and pseudo-labelled texts together.

    Args:
        y: Class ids of the labelled texts (B_l,), which come first.
        labels: Pseudo-labels of the unlabelled texts that follow, if any; which of them are selected is unchanged.
        mixing: Partners (N, B_l + B_u) and share.
        num_classes: C.

    Returns:
        Distributions of the labelled texts (N, B_l, C), and the pseudo-labels with distributions (N, B_u, C).
    """
    targets = distributions(y.expand(len(mixing.partner), -1), num_classes)
    if labels is not None:
        targets = torch.cat([targets, distributions(labels.targets, num_classes)], dim=1)
    partners = targets.gather(1, mixing.partner.unsqueeze(-1).expand_as(targets))
    mixed = mixing.share * targets + (1 - mixing.share) * partners
    given, taught = mixed[:, : len(y)], mixed[:, len(y) :]
    return given, None if labels is None else replace(labels, targets=taught)


def in_every_view(labels: PseudoLabels, count: int, index: Tensor, parts: Sequence[int]) -> PseudoLabels:
    """Repeat the labels ``count`` times: for texts (B,) in the weak view, in the first strong one, ...

    Each micro-batch (sizes in ``parts``) stays together, all its views one after another: views are drawn per
    micro-batch, and the texts learnt from must be the ones that were labelled.
    """
    places = torch.arange(len(index), device=index.device).split(list(parts))
    order = torch.cat([part.repeat(count) for part in places])
    views = torch.cat([torch.arange(count, device=index.device).repeat_interleave(len(part)) for part in places])
    again = labels.part(order)
    return replace(again, rows=index[order], views=views.expand(len(labels.targets), -1))
