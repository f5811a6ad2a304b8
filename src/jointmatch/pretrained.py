"""Pretrained models: finding them on this machine, loading them quietly, batching their inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from logging import getLogger
from pathlib import Path


def model_folder(model: str) -> Path | None:
    """Return the folder of that name, or that of a downloaded hub model, which is named after the commit."""
    folder = Path(model)
    if folder.is_dir():
        return folder
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        config = try_to_load_from_cache(model, "config.json")
    except HFValidationError:  # a folder that does not exist
        return None
    return Path(config).parent if isinstance(config, str) else None


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Keep messages, retries and progress bars of transformers and the hub off the screen inside the block."""
    from transformers.utils import logging

    hub = getLogger("huggingface_hub")
    verbosity, level, bars = logging.get_verbosity(), hub.level, logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    hub.setLevel("ERROR")
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        hub.setLevel(level)
        if bars:
            logging.enable_progress_bar()


def length_sorted(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Rows grouped by similar length, each group at most ``budget`` padded tokens (at least one row).

    Long groups come first, so that a batch too large for memory shows at once.
    """
    group: list[int] = []
    for row in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if group and max(lengths[group[0]], 1) * (len(group) + 1) > budget:
            yield group
            group = []
        group.append(row)
    if group:
        yield group
