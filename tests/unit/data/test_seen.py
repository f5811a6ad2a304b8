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


def test_a_model_of_an_earlier_version_knows_none(tmp_path):
    assert SeenTexts.load(tmp_path).count(["an apple"]) == 0


@pytest.mark.parametrize("content", ["{}", "[1]", "{junk"])
def test_a_damaged_file_is_no_list_of_digests(tmp_path, content):
    (tmp_path / FILE).write_text(content)
    with pytest.raises(ValueError, match=r"not a list of digests|Expecting"):
        SeenTexts.load(tmp_path)
