"""What tests of networks share."""

import pytest

from jointmatch.networks import Tokenizer, find_backbone, load_tokenizer


@pytest.fixture(scope="session")
def tokenizer(tiny_backbone):
    """The tiny backbone's, cutting at 16 tokens."""
    return Tokenizer(load_tokenizer(find_backbone(str(tiny_backbone))), 16)
