"""Rows that are filled up come in few sizes."""

from jointmatch.ragged import few_sizes, filled_up


def test_rows_are_filled_up_to_one_of_eight_sizes_an_octave():
    """From 256 to 512 in steps of 32, from 1024 to 2048 in steps of 128; below 256 in steps of 16."""
    sizes = {rows: filled_up(rows, few_sizes(rows)) for rows in range(1, 5000)}
    found = [sizes[rows] for rows in (1, 16, 17, 200, 257, 512, 513, 1023, 1025, 2048)]
    assert found == [16, 16, 32, 208, 288, 512, 576, 1024, 1152, 2048]
    assert len({sizes[rows] for rows in range(1, 2049)}) == 40
    assert all(rows <= sizes[rows] < 1.125 * rows for rows in range(256, 5000))
