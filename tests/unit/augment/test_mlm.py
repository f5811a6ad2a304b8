"""Masked-language-model replacement over tiny models that are built here, some with logits known by hand."""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jointmatch.augment import MaskedLanguageModel, Surroundings, make_views, parse
from jointmatch.augment.gaps import Gapped, make_gaps
from jointmatch.errors import InputError
from tests.conftest import topic_texts

TEXTS, _ = topic_texts(20)
# piece: its logit wherever there is a gap; all others have -20
LOGITS = {
    "dog": 3.0,
    "cat": 2.0,
    "Cat": 2.0,
    "bird": 1.0,
    "##ing": 9.0,
    ",": 9.0,
    "[SEP]": 9.0,
    "[MASK]": 9.0,
    "special": 9.0,
}
SHAPE: Any = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
LOGITS |= {"手": 3.0, "机": 2.0, "##手": 9.0}


def rngs(count: int, seed: int = 0) -> list[np.random.Generator]:
    return [np.random.default_rng([seed, i]) for i in range(count)]


def prepared(folder: Path, rate: float = 0.3) -> MaskedLanguageModel:
    augmenter = MaskedLanguageModel(rate)
    augmenter.prepare(Surroundings(backbone=str(folder)))
    return augmenter


@pytest.fixture(scope="module")
def fixed(tmp_path_factory) -> Path:
    """A cased BERT whose logits are its output bias, whatever the text."""
    import torch
    from transformers import BertConfig, BertForMaskedLM, BertTokenizer

    folder = tmp_path_factory.mktemp("fixed")
    words = ["the", "a", "runs", "sits", "walk", "under", "over", "big", "dog", "cat", "Cat", "bird"]
    words += ["##ing", "special", ",", ".", "手", "机", "##手", "我"]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words, *(f"rare{i}" for i in range(15))]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    model = BertForMaskedLM(BertConfig(**SHAPE, vocab_size=len(vocabulary), max_position_embeddings=34))
    with torch.no_grad():
        norm = model.cls.predictions.transform.LayerNorm
        norm.weight.zero_()
        norm.bias.zero_()
        model.cls.predictions.bias.copy_(torch.tensor([LOGITS.get(word, -20.0) for word in vocabulary]))
    model.save_pretrained(folder)
    tokenizer = BertTokenizer(
        str(folder / "vocab.txt"), model_max_length=32, do_lower_case=False, additional_special_tokens=["special"]
    )
    tokenizer.save_pretrained(folder)
    return folder


def test_the_draw_follows_the_model_s_probabilities_over_whole_words_other_than_the_one_there(fixed):
    """Where "cat" stood, dog (3) and bird (1) are left: dog up to 1 / (1 + e^-2) = 0.881 of the draws."""
    border = 1 / (1 + math.exp(-2))
    draws = [0.0, border - 0.01, border + 0.01, 0.9999]
    texts = [Gapped(["the", "cat", "sits"], " ", [1], [draw]) for draw in draws]
    assert prepared(fixed).infiller.fill(texts) == [["dog"], ["dog"], ["bird"], ["bird"]]


def test_only_the_ten_likeliest_are_drawn_from(fixed):
    """Twenty words with the same score, of which "the", the first, is what stood there: the ten behind it."""
    infiller = prepared(fixed).infiller
    start = infiller.spellings.index("the")
    ids = list(range(start, start + 20))
    drawn = {infiller._drawn(ids, np.zeros(20), "The", draw) for draw in np.linspace(0, 1, 200, endpoint=False)}
    assert drawn == {infiller.spellings[i] for i in ids[1:11]}


def test_pieces_punctuation_and_special_tokens_are_never_drawn(fixed):
    augmenter = prepared(fixed, 0.5)
    for seed in range(20):
        (view,) = augmenter(["The cat, (under) a DOG walking."], np.random.default_rng(seed))
        words = view.replace(",", "").replace("(", "").replace(")", "").replace(".", "").split()
        assert len(words) == 6
        changed = [
            new for new, old in zip(words, ["The", "cat", "under", "a", "DOG", "walking"], strict=True) if new != old
        ]
        assert len(changed) == 3
        assert {word.lower() for word in changed} <= {"dog", "cat", "bird"}


def test_casing_and_punctuation_stay(fixed):
    text = Gapped(["(Dog)", "CAT,", "cat."], " ", [0, 1, 2], [0.0, 0.0, 0.0])
    assert text.filled(["bird", "dog", None]) == "(Bird) DOG, cat."


def test_characters_take_the_place_of_characters(fixed):
    views = {prepared(fixed, 0.4)(["我的手机坏了吗"], np.random.default_rng(seed))[0] for seed in range(20)}
    assert all(len(view) == 7 for view in views)
    assert len(views) > 1
    assert {c for view in views for c in view} <= set("我的手机坏了吗")


def test_a_text_s_view_does_not_depend_on_its_neighbours_or_the_batch(masked_backbone):
    together = prepared(masked_backbone).attempt(TEXTS, rngs(20))
    small = prepared(masked_backbone)
    small.infiller.tokens = 40
    assert small.attempt(TEXTS, rngs(20)) == together
    alone = [small.attempt([text], [rng])[0] for text, rng in zip(TEXTS, rngs(20), strict=True)]
    assert alone == together
    assert small.attempt(TEXTS[::-1], rngs(20)[::-1]) == together[::-1]
    assert small.attempt(TEXTS, rngs(20, seed=1)) != together


@pytest.mark.parametrize(("rate", "changed"), [(0.01, 1), (0.3, 2), (0.5, 4), (1.0, 6)])
def test_a_share_of_the_words_is_replaced_and_never_by_itself(masked_backbone, rate, changed):
    for text, view in zip(TEXTS, prepared(masked_backbone, rate).attempt(TEXTS, rngs(20)), strict=True):
        assert view is not None
        pairs = list(zip(text.split(), view.split(), strict=True))
        assert sum(a != b for a, b in pairs) == changed  # of 7


def test_a_text_longer_than_the_model_takes_is_changed_to_its_end(masked_backbone):
    text = " ".join(TEXTS * 40)[:30_000]
    (view,) = prepared(masked_backbone, 0.3).attempt([text], rngs(1))
    assert view is not None
    changed = [a != b for a, b in zip(text.split(), view.split(), strict=True)]
    assert len(changed) > 5000
    assert abs(np.mean(changed[-500:]) - 0.3) < 0.1
    assert abs(np.mean(changed) - 0.3) < 0.001


ODD = [
    "",
    "  ",
    "word",
    "...",
    "\U0001f600 \U0001f600",
    "\ud800 the apple",
    "[MASK] the [SEP] apple",
    "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd",
    "\0 a",
]


def test_odd_texts_come_through(masked_backbone):
    augmenter = prepared(masked_backbone, 0.5)
    views = augmenter.attempt(ODD, rngs(len(ODD)))
    assert views[:5] == ODD[:5]
    assert all(view is not None and view.strip() for view in views[5:])
    assert sum(augmenter.counts.values()) == len(ODD)
    assert "left as they were" in str(augmenter.report())


def test_a_batch_too_large_for_memory_is_halved_and_a_text_that_fails_alone_fails_alone(masked_backbone, monkeypatch):
    from jointmatch.augment.infilling import Infiller

    expected = list(prepared(masked_backbone).attempt(TEXTS, rngs(20)))
    likeliest = Infiller._likeliest

    def small(self, rows):
        if len(rows) > 3 or any(row.text == 4 for row in rows):
            raise RuntimeError("out of memory")
        return likeliest(self, rows)

    monkeypatch.setattr(Infiller, "_likeliest", small)
    augmenter = prepared(masked_backbone)
    found = augmenter.attempt(TEXTS, rngs(20))
    assert found == [None if i == 4 else view for i, view in enumerate(expected)]
    assert augmenter.report() == "of 20 view(s) 19 made, 1 left as they were: the model failed on them"
    assert make_views(TEXTS[4:5], prepared(masked_backbone)) != TEXTS[4:5]


def test_the_head_is_looked_for_in_the_weights_where_the_configuration_says_nothing(tiny_backbone, tmp_path):
    import torch

    folder = shutil.copytree(tiny_backbone, tmp_path / "headless")
    config = json.loads((folder / "config.json").read_text())
    config.pop("architectures")
    (folder / "config.json").write_text(json.dumps(config))
    augmenter = prepared(folder)
    assert augmenter.missing() is None
    before = torch.get_rng_state()
    with pytest.raises(InputError, match=r"headless has not: take bert-base-uncased or roberta-base .*no masked-lang"):
        augmenter(["the apple"], np.random.default_rng(0))
    assert torch.equal(torch.get_rng_state(), before)


def test_a_backbone_without_the_head_is_told_at_once_and_loads_nothing(tiny_backbone, monkeypatch):
    monkeypatch.setattr("jointmatch.augment.infilling.Infiller.__init__", None)
    augmenter = prepared(tiny_backbone)
    assert augmenter.missing() == (
        f"a backbone with a masked-language-model head, which {tiny_backbone} has not: "
        "take bert-base-uncased or roberta-base"
    )
    with pytest.raises(InputError, match=r"mlm:0\.3 needs a backbone with a masked-language-model head"):
        augmenter.attempt(["the apple"], rngs(1))


def test_without_a_backbone_it_says_that_it_needs_one():
    assert "name one with --backbone" in str(MaskedLanguageModel().missing())
    with pytest.raises(InputError, match="needs a backbone"):
        MaskedLanguageModel()(["the apple"], np.random.default_rng(0))


def test_a_backbone_that_is_yet_to_be_downloaded_may_have_a_head(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    augmenter = MaskedLanguageModel()
    augmenter.prepare(Surroundings(backbone="some/model"))
    assert augmenter.missing() is None
    assert "some/model#absent" in augmenter.key


def test_the_embedded_backbone_has_no_such_head():
    from jointmatch.networks import find_backbone

    augmenter, minilm = MaskedLanguageModel(), find_backbone("auto")
    augmenter.prepare(Surroundings(backbone=minilm.source, backbone_name=minilm.name))
    assert "which minilm has not: take bert-base-uncased" in str(augmenter.missing())
    assert minilm.source not in str(augmenter.missing())


def test_a_chain_tells_what_its_part_lacks(tiny_backbone):
    chain = parse("deletion+mlm:0.2")
    chain.prepare(Surroundings(backbone=str(tiny_backbone)))
    assert chain.dear
    assert "masked-language-model head" in str(chain.missing())


def test_the_key_knows_the_backbone_s_content_and_not_its_place(masked_backbone, tmp_path):
    copy = shutil.copytree(masked_backbone, tmp_path / "copy")
    assert prepared(copy).key == prepared(masked_backbone).key
    assert prepared(copy, 0.4).key != prepared(masked_backbone).key
    (copy / "model.safetensors").write_bytes((copy / "model.safetensors").read_bytes()[:-1] + b"!")
    assert prepared(copy).key != prepared(masked_backbone).key


def test_rate_0_changes_nothing_and_loads_nothing():
    texts = ["", "word", " one\n\ntwo  three\t"]
    assert MaskedLanguageModel(0.0).attempt(texts, rngs(3)) == texts


def test_gaps_are_words_and_their_places_in_the_masked_text_are_right():
    text = Gapped(["(one)", "-", "two,", "three"], " ", [0, 2], [0.1, 0.2])
    masked, starts = text.masked("<mask>")
    assert masked == "(<mask>) - <mask>, three"
    assert starts == [1, 11]
    assert text.words == ["one", "two"]
    for seed in range(20):
        made = make_gaps("one - two ... three!", 1.0, np.random.default_rng(seed))
        assert set(made.gaps) < {0, 2, 4}
        assert len(made.gaps) == len(made.draws) == 2


@pytest.fixture(scope="module")
def byte_level(tmp_path_factory) -> Path:
    """A tiny RoBERTa: byte-level pieces, where a mark in front says that a word starts."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import RobertaConfig, RobertaForMaskedLM, RobertaTokenizerFast

    folder = tmp_path_factory.mktemp("roberta")
    pieces = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    pieces.train_from_iterator(
        [" " + text for text in TEXTS * 3], vocab_size=420, min_frequency=1, special_tokens=special
    )
    pieces.save_model(str(folder))
    RobertaTokenizerFast(str(folder / "vocab.json"), str(folder / "merges.txt"), model_max_length=62).save_pretrained(
        folder
    )
    config = RobertaConfig(vocab_size=pieces.get_vocab_size(), max_position_embeddings=64, pad_token_id=1, **SHAPE)
    RobertaForMaskedLM(config).save_pretrained(folder)
    return folder


def test_byte_level_pieces_that_start_no_word_are_not_drawn(byte_level):
    augmenter = prepared(byte_level, 0.3)
    infiller = augmenter.infiller
    ids = [i for i, bias in enumerate(infiller.biases[" "].tolist()) if bias == 0]
    assert all(token.startswith("\u0120") for token in infiller.tokenizer.convert_ids_to_tokens(ids))
    allowed = {infiller.spellings[i] for i in ids}
    assert {"apple", "the"} <= allowed
    for text, view in zip(TEXTS, augmenter.attempt(TEXTS, rngs(20)), strict=True):
        assert view is not None
        pairs = [(a, b) for a, b in zip(text.split(), view.split(), strict=True) if a != b]
        assert len(pairs) == 2
        assert {b for _, b in pairs} <= allowed
    long = " ".join(TEXTS)
    (view,) = augmenter.attempt([long], rngs(1))
    assert view is not None
    assert sum(a != b for a, b in zip(long.split(), view.split(), strict=True)) == 42
