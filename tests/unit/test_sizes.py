"""Sizes as people write them."""

import pytest

from jointmatch.errors import InputError
from jointmatch.sizes import read_size, size_in_words


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("2GB", 2_000_000_000),
        (" 500 mb ", 500_000_000),
        ("1.5k", 1500),
        ("1KiB", 1024),
        ("1.5GiB", 1_610_612_736),
        ("3 TB", 3_000_000_000_000),
        ("7B", 7),
    ],
)
def test_a_size_is_read_in_any_usual_unit(text, size):
    assert read_size(text, "it") == size


@pytest.mark.parametrize("text", ["", "GB", "-1", "2", "1500", "2XB", "1e9", "2 G B", "nan", "1,5GB"])
def test_what_is_no_size_is_said_with_its_place(text):
    with pytest.raises(InputError, match=r"--max-size is .*, wanted a size such as 500MB or 2GB"):
        read_size(text, "--max-size")


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_960, "1.0 MB"),
        (1_550_000_000, "1.6 GB"),
        (5 * 10**15, "5000.0 TB"),
    ],
)
def test_a_size_is_written_in_the_unit_that_fits(size, words):
    assert size_in_words(size) == words
