"""Texts a model was given labels of are known again, and only those."""

import pytest

from jointmatch.data import SeenTexts
from jointmatch.data.seen import FILE


def test_a_text_is_known_again_however_its_white_space_is_written():
    seen = SeenTexts.of(["an apple", "a piano"])
    assert seen.count(["  an\napple ", "a piano", "A piano", "an appl", "", "a piano"]) == 3
    assert SeenTexts().count(["an apple"]) == 0


def test_they_are_kept_as_digests(tmp_path):
    SeenTexts.of(["an apple", "broken \udce9"]).save(tmp_path)
    assert "apple" not in (tmp_path / FILE).read_text()
    assert SeenTexts.load(tmp_path).count(["an apple", "broken \udce9", "a pear"]) == 2


def test_without_the_file_it_cannot_be_told(tmp_path):
    seen = SeenTexts.load(tmp_path)
    assert seen.count(["an apple"]) is None
    assert seen.unknown == f"{tmp_path} has no labeled.json"


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"{junk", b"\xff", b"[" * 100_000])
def test_from_a_damaged_file_it_cannot_be_told_and_the_file_is_named(tmp_path, content):
    (tmp_path / FILE).write_bytes(content)
    seen = SeenTexts.load(tmp_path)
    assert seen.count(["an apple"]) is None
    assert str(seen.unknown).startswith(f"{tmp_path / FILE} is damaged (")
    assert "copy it again" in str(seen.unknown)


def test_what_cannot_be_told_is_not_saved_as_if_nothing_had_been_labelled(tmp_path):
    SeenTexts.load(tmp_path).save(tmp_path)
    assert not (tmp_path / FILE).exists()
