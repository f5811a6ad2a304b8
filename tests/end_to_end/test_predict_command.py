"""``jointmatch predict``: from files and pipes, into every format."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.end_to_end.tables import read_csv, read_table, write_table

TOPICS = {"fruit", "metal", "music"}


@pytest.mark.parametrize(
    "stdin",
    [b"text\napple plum\niron zinc\n", b'{"text": "apple plum"}\n{"text": "iron zinc"}\n'],
    ids=["csv", "jsonl"],
)
def test_predict_reads_a_pipe(command, model, stdin):
    ran = command("predict", model, "-", stdin=stdin)
    assert (ran.code, ran.err) == (0, "")
    rows = read_csv(ran.out)
    assert [row["text"] for row in rows] == ["apple plum", "iron zinc"]
    assert {row["prediction"] for row in rows} <= TOPICS


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
@pytest.mark.parametrize("mark", ["", "\ufeff", "\ufeff \n"], ids=["no mark", "mark", "mark and blank line"])
def test_json_lines_on_a_pipe_are_known_in_every_encoding(command, model, encoding, mark):
    stdin = (mark + '{"text": "apple plum"}\n').encode(encoding)
    ran = command("predict", model, "-", "--encoding", encoding, stdin=stdin)
    assert (ran.code, ran.err) == (0, "")
    assert [row["text"] for row in read_csv(ran.out)] == ["apple plum"]


def test_predict_json_gives_one_object_per_line_with_a_probability_per_class(command, model, toy):
    ran = command("predict", model, toy / "test.csv", "--json", "--probabilities")
    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert len(rows) == 30
    for row in rows:
        probabilities = {name: row[f"probability_{name}"] for name in TOPICS}
        assert sum(probabilities.values()) == pytest.approx(1, abs=1e-5)
        assert row["prediction"] == max(probabilities, key=probabilities.__getitem__)
        assert row["confidence"] == max(probabilities.values())


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_predict_converts_to_the_format_of_the_output(command, model, toy, tmp_path, suffix):
    target = tmp_path / "new" / f"out.{suffix}"
    ran = command("predict", model, toy / "test.csv", "--output", target, "--quiet")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    rows = read_table(target)
    assert list(rows[0]) == ["text", "label", "prediction", "confidence"]
    assert len(rows) == 30
    assert [p.name for p in target.parent.iterdir()] == [target.name]


def test_predicting_twice_replaces_the_columns_and_says_so(command, model, toy, tmp_path):
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    command("predict", model, toy / "test.csv", "--output", first)
    ran = command("predict", model, first, "--output", second, "--quiet")
    assert ran.err == "The input has 'prediction', 'confidence' already: replaced by the new predictions.\n"
    assert read_table(second) == read_table(first)


def test_texts_under_the_name_of_the_new_column_are_not_overwritten(command, model, tmp_path):
    (tmp_path / "in.csv").write_text("prediction\napple plum\n")
    ran = command("predict", model, tmp_path / "in.csv", "--text-column", "prediction")
    assert (ran.code, ran.out) == (2, "")
    assert "Rename the column" in ran.err


def late_column(tmp_path: Path) -> Path:
    path = tmp_path / "late.jsonl"
    early, late = {"text": "apple", "note": None, "old": 1}, {"text": "apple", "note": "seen"}
    path.write_text("".join(json.dumps(row) + "\n" for row in [early] * 1100 + [late] * 1000))
    return path


def test_a_column_that_changes_after_the_first_chunk_still_fits_into_parquet(command, model, tmp_path):
    ran = command("predict", model, late_column(tmp_path), "--output", tmp_path / "out.parquet")
    assert ran.code == 0


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "jsonl"])
def test_columns_that_come_after_the_header_are_told_of_unless_json_lines_keep_them(command, model, tmp_path, suffix):
    rows = [{"text": "apple"}] * 1029 + [{"text": "apple", "late": None}] + [{"text": "apple", "late": 1}] * 1025
    rows += [{"text": "apple", "later": "x", "prediction": "metal"}]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ran = command("predict", model, tmp_path / "in.jsonl", "--output", tmp_path / f"out.{suffix}", "--quiet")
    said = "Left out: 'late' from row 1,031 on, 'later' from row 2,056 on. The header was written by then; "
    said += "JSON lines (--output FILE.jsonl) keep every column.\n"
    assert (ran.code, ran.err) == (0, "" if suffix == "jsonl" else said)
    written = read_table(tmp_path / f"out.{suffix}")
    assert len(written) == len(rows)
    assert ("later" in written[-1]) == (suffix == "jsonl")


def test_columns_of_parquet_keep_their_types_however_late_their_first_value_comes(command, model, tmp_path):
    blank = [None] * 1024
    columns = {
        "text": pa.array(["apple"] * 1025, pa.large_string()),
        "late": pa.array([*blank, 7], pa.int32()),
        "never": pa.array([*blank, None], pa.bool_()),
        "lists": pa.array([*([[]] * 1024), [1]], pa.list_(pa.field("element", pa.int8()))),
        "pairs": pa.array([[("a", 1)]] * 1025, pa.map_(pa.string(), pa.int64())),
        "large": pa.array([2**64 - 1] * 1025, pa.uint64()),
        "confidence": pa.array([1] * 1025, pa.int8()),
    }
    pq.write_table(pa.table(columns), tmp_path / "in.parquet")
    ran = command("predict", model, tmp_path / "in.parquet", "--output", tmp_path / "out.parquet")
    assert ran.code == 0, ran.err
    written = pq.read_table(tmp_path / "out.parquet")
    del columns["confidence"]
    assert {name: written[name].type for name in columns} == {name: values.type for name, values in columns.items()}
    assert [written[name].to_pylist() for name in columns] == [values.to_pylist() for values in columns.values()]
    assert 0 < written["confidence"][0].as_py() <= 1


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_an_index_of_pandas_is_not_written_out_as_a_column(command, model, tmp_path, suffix):
    pd.DataFrame({"text": ["apple", "iron"]}, index=[7, 5]).to_parquet(tmp_path / "in.parquet")
    ran = command("predict", model, tmp_path / "in.parquet", "--output", tmp_path / f"out.{suffix}")
    assert ran.code == 0, ran.err
    assert list(read_table(tmp_path / f"out.{suffix}")[0]) == ["text", "prediction", "confidence"]


def test_a_date_in_a_parquet_file_can_be_written_as_json(command, model, tmp_path):
    table = pa.table({"text": ["apple"], "when": pa.array([0], pa.timestamp("s"))})
    pq.write_table(table, tmp_path / "dated.parquet")
    ran = command("predict", model, tmp_path / "dated.parquet", "--json")
    assert json.loads(ran.out)["when"].startswith("1970-01-01")


def peak_megabytes(command, *words: object) -> float:
    """The most that Python objects and arrays took at once; the process's own peak hides it behind its imports."""
    tracemalloc.start()
    try:
        assert command("predict", *words).code == 0
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_predict_does_not_grow_with_the_number_of_rows(command, model, tmp_path, suffix):
    """18,000 rows more with a label cell of 1,000 characters are 18 MB: kept in memory they would show."""
    peaks = []
    for rows in (2_000, 20_000):
        labels = [f"{i:01000d}" for i in range(rows)]
        source = write_table(tmp_path / f"{rows}.{suffix}", ["apple iron"] * rows, labels)
        peaks.append(peak_megabytes(command, model, source, "--output", tmp_path / f"out-{rows}.{suffix}"))
    assert peaks[1] - peaks[0] < 4


def test_a_column_that_nobody_named_is_told(command, model, tmp_path):
    (tmp_path / "in.csv").write_text("anliegen\napple plum is old\n")
    ran = command("predict", model, tmp_path / "in.csv")
    assert (ran.code, ran.err) == (0, "Texts from 'anliegen'; --text-column names another.\n")
    ran = command("predict", model, tmp_path / "in.csv", "--text-column", "anliegen")
    assert (ran.code, ran.err) == (0, "")


@pytest.mark.parametrize("piped", [False, True])
def test_a_file_without_a_header_is_pointed_out(command, model, tmp_path, piped):
    lines = b"apple plum is old\niron zinc is new\n"
    (tmp_path / "in.csv").write_bytes(lines)
    ran = command("predict", model, "-" if piped else tmp_path / "in.csv", "--quiet", stdin=lines)
    assert len(ran.err.splitlines()) == 1
    assert "the first line was taken as the column's name ('apple plum is old'), not as a text" in ran.err


@pytest.mark.parametrize("name", ["predict", "evaluate", "augment"])
def test_a_short_first_line_that_is_no_header_is_pointed_out(command, model, tmp_path, name):
    (tmp_path / "in.csv").write_text("apple plum,fruit\npeach is old,fruit\niron zinc is new,metal\n")
    words = [] if name == "augment" else [model]
    views = ["--weak", "swap"] if name == "augment" else []
    ran = command(name, *words, tmp_path / "in.csv", *views)
    assert ran.code == 0, ran.err
    assert ran.err.count("in.csv: the first line ('apple plum', 'fruit') was taken as names of columns") == 1


def test_empty_and_long_texts_are_counted_predicted_and_written_as_they_were(command, model, tmp_path):
    long = "apple " * 9_000
    texts = ["apple plum", "", "\u200b", long]
    source = write_table(tmp_path / "in.jsonl", texts, ["fruit"] * 4)
    ran = command("predict", model, source, "--json", "--quiet")
    said = "2 empty text(s): {}. 1 text(s) over 50,000 characters: cut there.\n"
    assert ran.err == said.format("predicted all the same")
    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert [row["text"] for row in rows] == texts
    assert {row["prediction"] for row in rows} <= TOPICS
    ran = command("evaluate", model, source, "--json")
    assert ran.err == f"predicting: 4 to do\n{said.format('kept and scored')}"
    assert json.loads(ran.out)["n"] == 4
