"""Reading files: every format, and an error that names the place for every kind of broken file."""

import csv
import json
import os

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jointmatch.data.tables import read_chunks, read_table
from jointmatch.errors import DataError

ROWS = {"text": ["good morning", "late, again"], "label": ["a", "b"]}


def fault(path, **options) -> str:
    with pytest.raises(DataError) as raised:
        read_table(path, **options)
    return str(raised.value)


@pytest.fixture
def file(tmp_path):
    def write(name: str, content: str | bytes):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rows.csv", 'text,label\ngood morning,a\n"late, again",b\n'),
        ("rows.CSV", 'text,label\r\ngood morning,a\r\n"late, again",b\r\n'),
        ("rows.csv", "text;label\ngood morning;a\nlate, again;b\n"),
        ("rows.csv", "\ufefftext,label\ngood morning,a\n\n'late, again',b\n".replace("'", '"')),
        ("rows.csv", "sep=;\r\ntext;label\r\ngood morning;a\r\nlate, again;b\r\n"),
        ("rows.csv", '\ufeff"SEP=|"\ntext|label\ngood morning|a\nlate, again|b\n'),
        ("rows.csv", "sep=\t\ntext\tlabel\ngood morning\ta\nlate, again\tb\n"),
        ("rows.csv", 'text,label\rgood morning,a\r"late, again",b\r'),
        ("rows.csv", "sep=;\rtext;label\rgood morning;a\rlate, again;b"),
        ("rows.csv", 'text,label\r\r\ngood morning,a\r\r\n"late, again",b\r\r\n'),
        ("rows.tsv", "text\tlabel\ngood morning\ta\nlate, again\tb"),
        ("rows.jsonl", "\n".join(json.dumps({"text": t, "label": y}) for t, y in zip(*ROWS.values(), strict=True))),
        ("rows.ndjson", '{"text": "good morning", "label": "a"}\n\n{"text": "late, again", "label": "b"}\n'),
    ],
    ids=[
        "commas",
        "crlf-upper-case",
        "semicolons",
        "byte-order-mark-and-blank-line",
        "separator-named",
        "separator-named-in-quotes",
        "tab-named",
        "old-mac",
        "old-mac-and-separator-named",
        "two-carriage-returns",
        "tabs",
        "jsonl",
        "ndjson",
    ],
)
def test_the_same_rows_come_out_of_every_text_format(file, name, content):
    assert read_table(file(name, content)) == ROWS


@pytest.mark.parametrize("header", ["sep=", "sep=x", 'sep="', "sep=;;"])
def test_a_header_that_names_no_separator_is_a_header(file, header):
    assert list(read_table(file("rows.tsv", f"{header}\r\n1\r\n"))) == [header]


@pytest.mark.parametrize("end", ["", ",", ",,, "])
def test_columns_of_a_spreadsheet_that_have_no_name_and_hold_nothing_are_not_read(file, end):
    lines = ["text,label", "good morning,a", '"late, again",b']
    assert read_table(file("rows.csv", "".join(line + end + "\n" for line in lines))) == ROWS


def test_the_index_that_pandas_writes_without_a_name_is_read(file):
    assert read_table(file("rows.csv", ",text,,\n0,hi,,\n1,ho,,\n")) == {"": ["0", "1"], "text": ["hi", "ho"]}


def test_parquet_keeps_the_types_of_its_columns(tmp_path):
    table = {"text": ["one", None], "label": [3, 4]}
    pq.write_table(pa.table(table), tmp_path / "rows.parquet")
    assert read_table(tmp_path / "rows.parquet") == table


def test_a_quoted_field_may_hold_line_breaks_and_quotation_marks(file):
    path = file("rows.csv", 'text,label\n"one\ntwo ""three""",a\n')
    assert read_table(path) == {"text": ['one\ntwo "three"'], "label": ["a"]}


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_a_quoted_field_keeps_its_line_breaks_whatever_ends_the_lines(file, end):
    path = file("rows.csv", f'"te\rxt",label{end}"one\ntwo\rthree\r\nfour",a{end}')
    assert read_table(path) == {"te\rxt": ["one\ntwo\rthree\r\nfour"], "label": ["a"]}


def test_a_text_of_5_mb_is_read_whole(file):
    csv.field_size_limit(131_072)
    table = read_table(file("rows.csv", "text,label\n" + "word " * 1_000_000 + ",a\n"))
    assert len(table["text"][0]) == 5_000_000


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_chunks_hold_at_most_the_size_asked_for_and_all_rows_in_order(tmp_path, suffix):
    path = tmp_path / f"rows.{suffix}"
    numbers = list(range(7))
    if suffix == "parquet":
        pq.write_table(pa.table({"n": numbers}), path)
    else:
        lines = ["n", *map(str, numbers)] if suffix == "csv" else [json.dumps({"n": n}) for n in numbers]
        path.write_text("\n".join(lines))
    chunks = [chunk["n"] for chunk in read_chunks(path, size=3)]
    assert [len(chunk) for chunk in chunks] == [3, 3, 1]
    assert [int(n) for chunk in chunks for n in chunk] == numbers


def test_a_key_that_a_json_row_lacks_is_none_there(file):
    path = file("rows.jsonl", '{"text": "a"}\n{"text": "b", "label": 1}\n')
    assert read_table(path) == {"text": ["a", "b"], "label": [None, 1]}


def test_a_key_that_a_whole_chunk_of_json_rows_lacks_is_none_there(file):
    rows = [{"text": str(i)} for i in range(1024)] + [{"text": "last", "label": "a"}]
    table = read_table(file("rows.jsonl", "\n".join(map(json.dumps, rows))))
    assert table["label"] == [None] * 1024 + ["a"]


def test_a_key_that_only_the_first_chunk_has_is_none_in_the_rest(file):
    rows = [{"text": "first", "label": "a"}] + [{"text": str(i)} for i in range(1030)]
    table = read_table(file("rows.jsonl", "\n".join(map(json.dumps, rows))))
    assert table["label"] == ["a"] + [None] * 1030


def test_a_missing_file_is_named_with_the_nearest_one_in_its_folder(file):
    path = file("tickets.csv", "text,label\nhi,a\n")
    message = fault(path.with_name("tickest.csv"))
    assert "There is no file" in message
    assert "Did you mean 'tickets.csv'?" in message


def test_a_missing_folder_is_named_too(tmp_path):
    assert f"The folder {tmp_path / 'nowhere'} does not exist either" in fault(tmp_path / "nowhere" / "rows.csv")


def test_a_folder_is_not_a_file(tmp_path):
    (tmp_path / "rows.csv").mkdir()
    assert "is a folder" in fault(tmp_path / "rows.csv")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_says_so(file):
    path = file("rows.csv", "text\nhi\n")
    path.chmod(0)
    assert "permission denied" in fault(path)


@pytest.mark.parametrize(("name", "near"), [("rows.cvs", "'.csv'"), ("rows.jsnol", "'.jsonl'")])
def test_an_unknown_extension_is_answered_with_the_known_ones_and_the_nearest(file, name, near):
    message = fault(file(name, "text\nhi\n"))
    assert ".csv, .tsv, .jsonl, .ndjson, .parquet" in message
    assert f"Did you mean {near}?" in message


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("rows", "wanted one of .csv, .tsv, .jsonl, .ndjson, .parquet."),
        ("rows.XLSX", "Save a spreadsheet as CSV first."),
        ("rows.tab", "are a .tsv, with one line of names above them."),
        ("rows.json", "Write one object per line and call it .jsonl."),
        ("rows.txt", "put a first line 'text' above them."),
        ("rows.csvv", "Did you mean '.csv'?"),
    ],
)
def test_an_unknown_ending_comes_with_what_to_do(file, name, advice):
    assert fault(file(name, b"PK\x03\x04")).endswith(advice)


@pytest.mark.parametrize("name", ["rows.csv", "rows.tsv", "rows.jsonl", "rows.parquet"])
def test_an_empty_file_says_that_it_is_empty(file, name):
    assert "is empty" in fault(file(name, b""))


@pytest.mark.parametrize(("name", "content"), [("r.csv", "text,label\n"), ("r.tsv", "\n\n"), ("r.jsonl", "\n")])
def test_a_file_without_rows_says_so(file, name, content):
    assert "has no rows" in fault(file(name, content))


def test_a_parquet_file_without_rows_says_so(tmp_path):
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), tmp_path / "rows.parquet")
    assert "has no rows" in fault(tmp_path / "rows.parquet")


@pytest.mark.parametrize(
    ("index", "columns"),
    [
        (pd.Index([7, 5]), ["text", "label"]),
        (pd.RangeIndex(2), ["text", "label"]),
        (pd.MultiIndex.from_tuples([(1, 2), (3, 4)], names=[None, "ticket"]), ["text", "label", "ticket"]),
        (pd.Index([7, 5], name="ticket"), ["text", "label", "ticket"]),
    ],
    ids=["numbers without a name", "a range", "two levels", "numbers with a name"],
)
def test_an_index_without_a_name_that_pandas_stored_is_no_column_of_the_user_s(tmp_path, index, columns):
    pd.DataFrame(ROWS, index=index).to_parquet(tmp_path / "rows.parquet")
    assert list(read_table(tmp_path / "rows.parquet")) == columns


@pytest.mark.parametrize("metadata", [None, b"{}", b"[1]", b"no JSON", b'{"index_columns": null}', b"\xff"])
def test_a_column_named_like_an_index_stays_where_pandas_does_not_call_it_one(tmp_path, metadata):
    table = pa.table({**ROWS, "__index_level_0__": [7, 5]})
    pq.write_table(table.replace_schema_metadata(metadata and {"pandas": metadata}), tmp_path / "rows.parquet")
    assert list(read_table(tmp_path / "rows.parquet")) == ["text", "label", "__index_level_0__"]
