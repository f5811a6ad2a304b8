"""Cutting, padding and grouping of token ids."""

import os
import threading
import time

import pytest
import torch

from jointmatch.networks import Tokenizer, Tokens, find_backbone, load_tokenizer, tokens
from jointmatch.networks.tokens import CHARACTERS_PER_TOKEN
from jointmatch.pretrained import length_sorted


@pytest.fixture(scope="module")
def pretrained(tiny_backbone):
    return load_tokenizer(find_backbone(str(tiny_backbone)))


def rows_of_length(*lengths):
    return [[7] * n for n in lengths]


def test_rows_are_grouped_longest_first_within_the_budget():
    """Budget 4: the row of 3 alone (3 * 2 > 4), the two of 2 together (2 * 2), then the row of 1 (2 * 3 > 4)."""
    assert list(length_sorted([3, 1, 2, 2], 4)) == [[0], [2, 3], [1]]


@pytest.mark.parametrize("budget", [1, 16, 40, 1000])
def test_each_row_is_in_one_group_and_no_group_of_several_is_over_budget(budget):
    lengths = torch.randint(0, 17, (200,), generator=torch.Generator().manual_seed(0)).tolist()
    groups = list(length_sorted([*lengths], budget))
    assert sorted(row for group in groups for row in group) == list(range(200))
    widths = [max(max(lengths[row] for row in group), 1) for group in groups]
    assert all(len(group) == 1 or len(group) * width <= budget for group, width in zip(groups, widths, strict=True))
    assert widths == sorted(widths, reverse=True)


def test_a_row_longer_than_the_budget_goes_alone():
    assert list(length_sorted([9, 1], 4)) == [[0], [1]]


def test_no_rows_give_no_groups():
    assert list(length_sorted([], 4)) == []


def test_padding_fills_the_end_and_the_mask_tells_it_apart(pretrained):
    tokens = Tokenizer(pretrained, 16).pad([[2, 5, 3], [2, 3]])
    assert tokens.ids.tolist() == [[2, 5, 3], [2, 3, pretrained.pad_token_id]]
    assert tokens.mask.tolist() == [[True, True, True], [True, True, False]]


def test_a_batch_of_no_texts_still_has_two_axes(pretrained):
    tokens = Tokenizer(pretrained, 16)([])
    assert tokens.ids.shape == tokens.mask.shape
    assert tokens.ids.ndim == 2


def test_a_long_text_is_cut_and_still_ends_with_the_separator(pretrained):
    """[CLS], six words, [SEP]."""
    ids = Tokenizer(pretrained, 8).encode(["apple " * 20])[0]
    assert pretrained.convert_ids_to_tokens(ids) == ["[CLS]", *["apple"] * 6, "[SEP]"]


@pytest.mark.parametrize(("room", "read"), [(8, "abc" + "xyz"), (7, "abc" + "yz"), (3, "a"), (100, "abcdefuvwxyz")])
@pytest.mark.parametrize("by_word", [True, False])
def test_of_a_long_text_both_ends_can_be_read(pretrained, room, read, by_word):
    """[CLS], the first three letters, the last three, [SEP]; an odd one more at the beginning."""
    tokenizer = Tokenizer(pretrained, room, "middle")
    assert tokenizer._by_word is not None
    tokenizer._by_word = tokenizer._by_word if by_word else None
    letters = [f"[unused{letter}]" for letter in "abcdefuvwxyz"]
    pretrained.add_tokens(letters)
    ids = tokenizer.encode([" ".join(letters), letters[0]])
    assert pretrained.convert_ids_to_tokens(ids[0]) == ["[CLS]", *(f"[unused{letter}]" for letter in read), "[SEP]"]
    assert pretrained.convert_ids_to_tokens(ids[1]) == ["[CLS]", letters[0], "[SEP]"]


@pytest.mark.parametrize(("cut", "read"), [("end", "aaaabb"), ("middle", "aaa ddd")])
def test_what_is_never_read_of_a_huge_text_is_left_out_first(pretrained, cut, read, monkeypatch):
    monkeypatch.setattr(tokens, "CHARACTERS_PER_TOKEN", 2)
    tokenizer = Tokenizer(pretrained, 3, cut)
    assert tokenizer.shortened("aaaabbbbccccdddd") == read
    assert tokenizer.shortened("aaabbb") == "aaabbb"


@pytest.mark.parametrize(("asked", "got"), [(16, 16), (64, 64), (500, 64)])
def test_the_models_own_limit_wins_over_a_larger_one(pretrained, asked, got):
    tokenizer = Tokenizer(pretrained, asked)
    assert tokenizer.max_length == got
    assert len(tokenizer.encode(["apple " * 200])[0]) == got


def test_a_huge_text_is_cut_before_it_is_tokenised(pretrained):
    seen: list[int] = []

    class Spy:
        model_max_length = 64

        def __call__(self, texts, **options):
            seen.extend(len(text) for text in texts)
            return pretrained(texts, **options)

    ids = Tokenizer(Spy(), 16).encode(["apple " * 800_000, "apple"])
    assert seen == [16 * CHARACTERS_PER_TOKEN, 5]
    assert [len(row) for row in ids] == [16, 3]


@pytest.mark.parametrize("text", ["", "   ", "☃", "\x00"])
def test_a_text_without_words_is_still_a_sequence(pretrained, text):
    tokens = Tokenizer(pretrained, 16)([text])
    assert tokens.ids.shape == tokens.mask.shape
    assert tokens.ids[0, 0] == pretrained.cls_token_id


def test_the_mask_token_is_the_backbones(pretrained):
    assert Tokenizer(pretrained, 16).mask_token == "[MASK]"


def test_added_texts_have_one_token_and_the_others_stay_as_they_are():
    tokens = Tokens(torch.tensor([[5, 6], [7, 0]]), torch.tensor([[True, True], [True, False]]))
    more = tokens.with_rows(4)
    assert more.ids.tolist() == [[5, 6], [7, 0], [0, 0], [0, 0]]
    assert more.mask.tolist() == [[True, True], [True, False], [True, False], [True, False]]
    assert tokens.with_rows(2) is tokens


def test_the_share_of_texts_that_are_cut_is_told_by_some_of_them(pretrained):
    """One of four texts does not fit into 8 tokens, however many there are of each; of none, none is cut."""
    tokenizer = Tokenizer(pretrained, 8)
    texts = ["goal", "goal match", "team", "goal " * 30]
    assert tokenizer.share_cut(texts) == 0.25
    assert tokenizer.share_cut([text for text in texts for _ in range(1000)]) == 0.25
    assert tokenizer.share_cut([]) == 0


def test_a_process_forked_while_another_thread_tokenises_can_tokenise():
    """Forking waits until that thread is out of the tokenizer."""
    inside, over = threading.Event(), threading.Event()

    def tokenising() -> None:
        with tokens.ONE_AT_A_TIME:
            inside.set()
            time.sleep(0.3)
        over.set()

    threading.Thread(target=tokenising).start()
    inside.wait()
    child = os.fork()
    if child == 0:
        free = tokens.ONE_AT_A_TIME.acquire(timeout=1)
        os._exit(0 if free else 1)
    assert over.is_set()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert tokens.ONE_AT_A_TIME.acquire(timeout=1)
    tokens.ONE_AT_A_TIME.release()
