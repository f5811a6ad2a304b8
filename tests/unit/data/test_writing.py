"""Whatever a text holds can be written."""

import json

import pyarrow.parquet as pq
import pytest

from jointmatch.data.writing import write_file
from jointmatch.errors import DataError

HALF = "half a \ud83d pair"


def test_half_a_surrogate_pair_stays_as_it_is_in_json_lines(tmp_path):
    target = tmp_path / "rows.jsonl"
    assert write_file([{"text": [HALF, "a whole \U0001f600"]}], target) == 2
    assert [json.loads(line)["text"] for line in target.open(encoding="utf-8")] == [HALF, "a whole \U0001f600"]


@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_half_a_surrogate_pair_is_a_question_mark_in_a_table_of_text(tmp_path, kind):
    target = tmp_path / f"rows.{kind}"
    write_file([{"text": [HALF]}], target)
    assert target.read_text(encoding="utf-8") == "text\nhalf a ? pair\n"


def test_half_a_surrogate_pair_is_a_question_mark_in_parquet(tmp_path):
    write_file([{"text": [HALF, None], "number": [1, 2]}], tmp_path / "rows.parquet")
    assert pq.read_table(tmp_path / "rows.parquet").to_pydict() == {"text": ["half a ? pair", None], "number": [1, 2]}


@pytest.mark.parametrize("values", [[1, "a"], [2**64 - 1, 2**70]])
def test_rows_of_two_types_are_refused_for_parquet_with_what_to_do(tmp_path, values):
    with pytest.raises(DataError, match=r"do not fit one parquet schema .* Write \.jsonl instead"):
        write_file([{"text": ["one", "two"], "n": values}], tmp_path / "rows.parquet")
