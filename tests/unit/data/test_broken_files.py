"""Files that cannot be read as what they claim to be: the message has the line or the byte."""

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jointmatch.data.tables import read_chunks, read_table
from jointmatch.errors import DataError


def fault(path, content: str | bytes, **options) -> str:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError) as raised:
        read_table(path, **options)
    return str(raised.value)


@pytest.fixture
def rows_csv(tmp_path):
    return tmp_path / "rows.csv"


@pytest.mark.parametrize(
    ("content", "line", "fields"),
    [
        ("text,label\nfine,a\none,two,b\n", 3, 3),
        ("text,label\nfine,a\nno label\n", 3, 1),
        ('text,label\n"one\ntwo\nthree",a\nfine,b\none,two,b\n', 6, 3),
        ('text,label\nfine,a\n"one\ntwo",x,b\n', 3, 3),
        ('"te\nxt",label\n\none,two,b\n', 4, 3),
    ],
    ids=["too-many", "too-few", "after-a-field-of-three-lines", "starts-where-the-row-starts", "after-a-long-header"],
)
def test_a_ragged_row_is_named_by_the_line_it_starts_on(rows_csv, content, line, fields):
    message = fault(rows_csv, content)
    assert f"line {line}: {fields} fields, but the header has 2" in message


def test_the_line_that_names_the_separator_is_counted(rows_csv):
    assert "line 4: 3 fields, but the header has 2" in fault(rows_csv, "sep=;\ntext;label\nfine;a\none;two;b\n")


def test_an_open_quotation_mark_is_suspected(rows_csv):
    assert "A quotation mark may be left open" in fault(rows_csv, 'text,label\n"one,a\ntwo,b\n')


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r\r\n"])
def test_a_carriage_return_within_a_field_is_called_so(rows_csv, end):
    message = fault(rows_csv, f"text,label{end}one\rtwo,a{end}")
    assert message.endswith("line 2: a carriage return within a field. Quote the text, or take it out.")


@pytest.mark.parametrize("header", ["text|label", '"text"|"a label"|n'])
@pytest.mark.parametrize("name", ["rows.csv", "rows.tsv"])
def test_pipes_between_columns_are_answered_with_the_separators_that_are_read(tmp_path, name, header):
    message = fault(tmp_path / name, f'{header}\n"one, two"|a|1\n')
    assert f"pipes between its columns ({header})" in message
    assert "The separators that are read are comma, semicolon and tab. Put the line sep=| above all others" in message


def test_a_pipe_beside_other_separators_is_part_of_a_name(rows_csv):
    rows_csv.write_text("text|or so,label\none,a\n")
    assert list(read_table(rows_csv)) == ["text|or so", "label"]


def parquet() -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"text": ["some words"]}), sink)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize("name", ["rows.csv", "rows.tsv", "rows.jsonl"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (parquet(), "but a parquet file. Give it as a file whose name ends in .parquet."),
        (b"PK\x03\x04\x14\x00\x06", "but a spreadsheet or another zip archive. Save a spreadsheet as CSV"),
        (gzip.compress(b"text,label\nhi,a\n"), "but compressed with gzip. Unpack it first"),
    ],
    ids=["parquet", "zip", "gzip"],
)
def test_a_file_of_another_kind_is_known_by_its_first_bytes(tmp_path, name, content, said):
    message = fault(tmp_path / name, content)
    assert f"{name} is not {name.partition('.')[2]} {said}" in message


@pytest.mark.parametrize("column", ["PK", "PAR1"])
def test_a_column_may_be_called_as_other_kinds_of_files_begin(rows_csv, column):
    rows_csv.write_text(f"{column},text\n1,hi\n")
    assert list(read_table(rows_csv)) == [column, "text"]


def test_a_json_array_is_answered_with_one_object_per_line(tmp_path):
    message = fault(tmp_path / "rows.jsonl", '[{"text": "one"}, {"text": "two"}]\n')
    assert 'line 1: list, wanted an object such as {"text": "..."} in each line.' in message
    assert "Give each object of an array a line, without brackets" in message


def test_a_column_named_twice_is_refused(rows_csv):
    assert "the column 'text' more than once" in fault(rows_csv, "text,label,text\na,b,c\n")


def test_a_column_without_a_name_that_holds_something_is_named_by_its_place(rows_csv):
    message = fault(rows_csv, "text,label,,\nfine,a,, \nfine,b,,noted\n")
    assert "line 3: column 4, a column without a name, holds 'noted'. Give it a name in the header" in message


@pytest.mark.parametrize(
    ("content", "offset", "line"),
    [
        (b"text,label\ncaf\xe9,a\n", 14, 2),
        (b"text,label\nfine,a\n\xe9t\xe9,b\n", 18, 3),
        (b"t\xffxt,label\n", 1, 1),
    ],
)
def test_a_byte_in_another_encoding_is_named_by_its_offset(rows_csv, content, offset, line):
    """``text,label\\n`` is bytes 0 to 10, so that the e acute of ``caf?`` is byte 11 + 3 = 14."""
    message = fault(rows_csv, content)
    assert f"0x{content[offset]:02x} at byte {offset} (line {line})" in message
    assert "--encoding" in message


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "UTF-16", "utf-32", "utf-8-sig"])
def test_a_named_encoding_is_used(rows_csv, encoding):
    rows_csv.write_bytes("text,label\ncafé,a\n".encode(encoding))
    assert read_table(rows_csv, encoding) == {"text": ["café"], "label": ["a"]}


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_byte_order_mark_is_no_part_of_the_first_column_s_name(rows_csv, encoding):
    rows_csv.write_bytes("\ufefftext,label\nhi,a\n".encode(encoding))
    assert list(read_table(rows_csv, encoding)) == ["text", "label"]


def test_a_file_that_is_not_the_utf_16_it_was_said_to_be_is_refused(rows_csv):
    assert "is not utf-16" in fault(rows_csv, "text,label\nodd,a\n", encoding="utf-16-le")


@pytest.mark.parametrize("encoding", ["uft-8", "hex", "base64"])
def test_what_is_no_text_encoding_is_refused_by_name(rows_csv, encoding):
    assert "Unknown encoding" in fault(rows_csv, "text,label\nhi,a\n", encoding=encoding)


@pytest.mark.parametrize(
    ("content", "offset", "line"),
    [(b"text,label\nfi\x00ne,a\n", 13, 2), (b"\x00\x01\x02\x03", 0, 1), (b"text,label\nhi,a\n\x00", 16, 3)],
)
def test_a_nul_byte_is_named_by_its_offset(rows_csv, content, offset, line):
    message = fault(rows_csv, content)
    assert f"NUL byte at byte {offset} (line {line})" in message
    assert "binary" in message


@pytest.mark.parametrize("name", ["rows.csv", "rows.tsv", "rows.jsonl", "rows.parquet"])
@pytest.mark.parametrize(
    "content", [b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", bytes(range(256)) * 20], ids=["png", "all"]
)
def test_a_binary_file_is_refused_under_every_extension(tmp_path, name, content):
    assert name in fault(tmp_path / name, content)


@pytest.mark.parametrize(
    ("second", "said"),
    [('{"text": "open"', "line 2: not JSON"), ('["a list"]', "line 2: list, wanted an object"), ("3", "line 2: int")],
)
def test_a_json_line_that_is_no_object_is_named_by_its_number(tmp_path, second, said):
    assert said in fault(tmp_path / "rows.jsonl", '{"text": "fine"}\n' + second + "\n")


def broken_parquet(path, start: int, end: int) -> bytes:
    pq.write_table(pa.table({"text": ["some words"] * 50}), path)
    content = bytearray(path.read_bytes())
    content[start:end] = b"\xff" * (end - start)
    return bytes(content)


@pytest.mark.parametrize(
    ("start", "end"),
    [(-5, -1), (-40, -8), (4, 40)],
    ids=["magic", "footer", "page"],
)
def test_a_damaged_parquet_file_gets_a_message(tmp_path, start, end):
    path = tmp_path / "rows.parquet"
    assert "rows.parquet" in fault(path, broken_parquet(path, start, end))


def test_rows_before_a_fault_are_given_out_and_the_fault_comes_in_its_turn(rows_csv):
    rows_csv.write_text("text,label\nfine,a\nfine too,b\nragged\n")
    chunks = read_chunks(rows_csv, size=2)
    assert next(chunks)["text"] == ["fine", "fine too"]
    with pytest.raises(DataError, match="line 4"):
        next(chunks)


def test_two_files_read_at_once_both_take_long_texts(tmp_path):
    for name in ("one.csv", "two.csv"):
        (tmp_path / name).write_text("text\nshort\n" + "x" * 200_000 + "\n")
    one, two = (read_chunks(tmp_path / name, size=1) for name in ("one.csv", "two.csv"))
    next(one)
    next(two)
    assert len(next(one)["text"][0]) == 200_000
    assert list(one) == []
    assert len(next(two)["text"][0]) == 200_000
