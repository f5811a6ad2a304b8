"""Tokens put together word by word are those of the tokenizer itself."""

import numpy as np
import pytest

from jointmatch.data.demo import demo_splits
from jointmatch.networks import Tokenizer, find_backbone, load_tokenizer, word_pieces
from jointmatch.networks.word_pieces import WordPieces

ODD = [
    *("", " ", "  two  spaces ", "tab\tand\nnewline\r\n", "no\u00a0break", "em\u2003space", "file\x1cseparator"),
    *("[MASK] a[MASK]b [SEP] [CLS]x", "[PAD] [UNK] mask]", "don't stop-it! (really?)...", "x" * 300, "co\u200boperate"),
    *(
        "Über naïve café",
        "u\u0308ber \u0301x",
        "東京 tower東京",
        "İstanbul ǅ ß ﬁ",
        "👍🏽👩‍👩‍👧",
        "a\u0000b \ufffd \ufeff",
    ),
    *("한국어 문장", "नमस्ते दुनिया", "\u202eright to left", "1,234.5e-6 $5 50%", "C++ a_b #tag @me http://x.y/z?q=1"),
]


@pytest.fixture(scope="module")
def pretrained():
    return load_tokenizer(find_backbone("minilm"))


def wanted(pretrained, texts, max_length):
    return pretrained(texts, truncation=True, max_length=max_length)["input_ids"]


@pytest.mark.parametrize("max_length", [2, 3, 8, 64, 512])
def test_odd_texts_have_the_tokenizers_own_tokens(pretrained, max_length):
    assert WordPieces.fits(pretrained)
    assert WordPieces(pretrained).encode(ODD, max_length) == wanted(pretrained, ODD, max_length)


def test_so_have_real_ones(pretrained):
    texts = demo_splits(5, 0).pool.texts
    assert Tokenizer(pretrained, 64).encode(texts) == wanted(pretrained, texts, 64)


def test_so_have_random_characters(pretrained):
    """Of all planes that hold characters, with many spaces between them."""
    rng = np.random.default_rng(0)
    points = rng.integers(1, 0x3000, size=(400, 30))
    points[rng.random(points.shape) < 0.25] = ord(" ")
    texts = ["".join(map(chr, row)) for row in points.tolist()]
    assert WordPieces(pretrained).encode(texts, 128) == wanted(pretrained, texts, 128)


def test_a_word_is_tokenised_once(pretrained):
    asked = []

    class Backend:
        def __getattr__(self, name):
            return getattr(pretrained.backend_tokenizer, name)

        def encode_batch_fast(self, texts, **settings):
            asked.append(texts)
            return pretrained.backend_tokenizer.encode_batch_fast(texts, **settings)

    class Spy:
        backend_tokenizer = Backend()

        def __call__(self, text):
            return pretrained(text)

    pieces = WordPieces(Spy())
    pieces.encode(["one two", "two one one"], 8)
    pieces.encode(["two three"], 8)
    assert [sorted(texts) for texts in asked] == [["one", "two"], ["three"]]


def test_how_the_tokenizer_was_asked_before_does_not_matter(pretrained):
    """It keeps how it was told to cut and to fill up."""
    words = ["antidisestablishmentarianism", "a"]
    plain = WordPieces(pretrained).encode(words, 64)
    pretrained(["some text"], truncation=True, max_length=3, padding="max_length")
    assert WordPieces(pretrained).encode(words, 64) == plain


def test_what_is_kept_does_not_grow_for_ever(pretrained, monkeypatch):
    monkeypatch.setattr(word_pieces, "KEPT", 3)
    pieces = WordPieces(pretrained)
    for text in ("a b c d", "e f", "a e"):
        assert pieces.encode([text], 8) == wanted(pretrained, [text], 8)
    assert len(pieces._words) <= 4


def test_other_tokenizers_are_left_to_themselves(tmp_path):
    from tokenizers import Tokenizer as Backend
    from tokenizers import models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    backend = Backend(models.WordLevel({"[UNK]": 0, "a": 1, "b": 2}, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    other = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="[UNK]", pad_token="[UNK]")
    assert not WordPieces.fits(other)
    assert Tokenizer(other, 8).encode(["a b c"]) == [[1, 2, 0]]


@pytest.mark.parametrize("flag", ["lstrip", "rstrip", "single_word"])
def test_a_tokenizer_with_tokens_that_look_around_them_is_left_to_itself(flag):
    from tokenizers import AddedToken

    changed = load_tokenizer(find_backbone("minilm"))
    changed.add_tokens([AddedToken("<odd>", **{flag: True})])
    assert not WordPieces.fits(changed)
