"""Pretrained models: where one is on this machine, loading it without noise, feeding it in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


def model_folder(model: str) -> Path | None:
    """The folder of that name, or where a model from the hub was downloaded to; its name is then the commit."""
    folder = Path(model)
    if folder.is_dir():
        return folder
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        config = try_to_load_from_cache(model, "config.json")
    except HFValidationError:  # a folder that is not there
        return None
    return Path(config).parent if isinstance(config, str) else None


@contextmanager
def quiet() -> Iterator[None]:
    """No bars and no notes of transformers': loading takes a second, and the caller says what matters."""
    from transformers.utils import logging

    shown, verbosity = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if shown:
            logging.enable_progress_bar()


def batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Rows of about the same length together, so that little is padding; the longest first, to fail early."""
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if batch and lengths[batch[0]] * (len(batch) + 1) > tokens:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch
