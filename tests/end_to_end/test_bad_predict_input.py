"""``predict`` and ``evaluate`` on what they cannot use: exit code 2, one message, no output file."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.end_to_end.conftest import entries_of
from tests.end_to_end.test_bad_input import assert_refused, case


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        case("absent.csv", None, ["There is no file"], id="missing"),
        case("a.csv", b"", ["is empty"], id="empty"),
        case("a.csv", b"text\n", ["has no rows"], id="header only"),
        case("a.doc", b"x", ["extension '.doc'"], id="unknown extension"),
        case("a.csv", b"one,two\na b,c d\n", ["no text column found among 'one', 'two'"], id="no text column"),
        case("a.csv", b"text,n\n" + b"a b,1\n" * 3000 + b"a,b,c\n", ["line 3002: 3 fields"], id="ragged, far down"),
        case("a.csv", b"text\n" + b"a b\n" * 3000 + b"caf\xe9\n", ["byte 0xe9 at byte 12008"], id="encoding, far down"),
    ],
)
def test_predict_refuses_a_file_and_leaves_no_output(command, model, tmp_path, name, content, expected):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    before = entries_of(tmp_path)
    assert_refused(command("predict", model, tmp_path / name, "--output", tmp_path / "out.csv"), *expected)
    assert entries_of(tmp_path) == before


@pytest.mark.parametrize(
    ("words", "stdin", "expected"),
    [
        case((), b"", ["has no rows"], id="empty"),
        case((), b"text\na\x00b\n", ["the standard input has a NUL byte at byte 6"], id="NUL bytes"),
        case((), b"PAR1\x15\x04\x15", ["the standard input is not csv but a parquet file"], id="parquet"),
        case((), b'[\n{"text": "a b"}]', ["line 1: not JSON", "Wanted one object per line"], id="JSON array"),
        case((), b"text\ncaf\xe9\n", ["byte 0xe9 at byte 8 (line 2)"], id="another encoding"),
        case(("--text-column", "txt"), b"text\na b\n", ["no column 'txt'", "Did you mean 'text'"], id="no such column"),
        case(("--encoding", "utf-9"), b"text\na\n", ["Unknown encoding"], id="encoding"),
    ],
)
def test_predict_refuses_a_pipe(command, model, words, stdin, expected):
    assert_refused(command("predict", model, "-", *words, stdin=stdin), *expected)


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        case("out.xls", ["extension '.xls'", ".parquet. Spreadsheets open .csv.\n"], id="spreadsheet"),
        case("out.XLSX", ["extension '.XLSX'", ".parquet. Spreadsheets open .csv.\n"], id="new spreadsheet"),
        case("out.json", ["extension '.json'", ".parquet. Did you mean '.jsonl'?\n"], id="unknown extension"),
        case("a-file/out.csv", ["cannot be written"], id="below a file"),
        case("/proc/jointmatch/out.csv", ["cannot be written"], id="unwritable"),
        case("folder.csv", ["folder.csv"], id="a folder"),
    ],
)
def test_predict_refuses_an_output_it_cannot_write(command, model, toy, tmp_path, monkeypatch, output, expected):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a-file").write_text("mine")
    (tmp_path / "folder.csv").mkdir()
    assert_refused(command("predict", model, toy / "test.csv", "--output", output), *expected)
    assert entries_of(tmp_path) == {"a-file": b"mine"}


def test_an_earlier_output_survives_a_failed_prediction(command, model, tmp_path):
    (tmp_path / "a.csv").write_bytes(b"text,n\n" + b"a b,1\n" * 2000 + b"a\n")
    (tmp_path / "out.csv").write_text("yesterday's")
    assert command("predict", model, tmp_path / "a.csv", "--output", tmp_path / "out.csv").code == 2
    assert (tmp_path / "out.csv").read_text() == "yesterday's"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        case("text,label\na b,fruits\n", ["'fruits'", "Did you mean 'fruit'", "'metal'"], id="unknown label"),
        case("text,label\na b,\n", ["no labelled row to score"], id="no label"),
        case("text,one,two\na b,1,2\n", ["no label column found", "--label-column"], id="no label column"),
    ],
)
def test_evaluate_refuses_a_file(command, model, tmp_path, content, expected):
    (tmp_path / "a.csv").write_text(content)
    assert_refused(command("evaluate", model, tmp_path / "a.csv"), *expected)


@pytest.mark.parametrize("name", ["predict", "evaluate"])
def test_a_folder_that_is_no_model_is_refused_with_a_hint(command, model, toy, tmp_path, name):
    assert_refused(command(name, model.parent, toy / "test.csv"), "jointmatch.json", f"Did you mean {model}")
    assert_refused(command(name, tmp_path / "nowhere", toy / "test.csv"), "does not exist")
    assert_refused(command(name, model / "heads.safetensors", toy / "test.csv"), "is a file, wanted a model folder")
    damaged = tmp_path / "damaged"
    shutil.copytree(model, damaged)
    (damaged / "heads.safetensors").write_bytes(b"junk")
    assert_refused(command(name, damaged, toy / "test.csv"), str(damaged), "damaged")


@pytest.mark.parametrize("output", ["in.csv", "folder/../in.csv", "link.csv"])
@pytest.mark.parametrize("words", [("predict", "model"), ("augment",)], ids=["predict", "augment"])
def test_the_input_itself_is_refused_as_output(command, model, tmp_path, monkeypatch, words, output):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "in.csv").write_text("text\napple plum\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "in.csv")
    before = entries_of(tmp_path)
    given = [model if word == "model" else word for word in words]
    views = ["--weak", "swap"] if "augment" in words else []
    assert_refused(command(*given, "in.csv", *views, "--output", output), f"{output} is the input itself")
    assert entries_of(tmp_path) == before


@pytest.mark.parametrize("piped", [False, True])
def test_predict_refuses_a_text_that_is_an_object_and_names_its_row(command, model, tmp_path, piped):
    lines = b'{"text": "apple"}\n' * 1030 + b'{"text": {"a": 1}}\n'
    (tmp_path / "in.jsonl").write_bytes(lines)
    source = "-" if piped else tmp_path / "in.jsonl"
    ran = command("predict", model, source, "--output", tmp_path / "out.csv", stdin=lines)
    place = "the standard input" if piped else source
    assert_refused(ran, f"Row 1031 of 'text' in {place}: a text is {{'a': 1}} (dict), wanted text or a number")
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("content", "told"),
    [case(None, "{} has no labeled.json: ", id="missing"), case("{", "{}/labeled.json is damaged (", id="damaged")],
)
def test_without_digests_of_labelled_texts_predict_works_and_evaluate_says_what_it_cannot_tell(
    command, model, toy, tmp_path, content, told
):
    folder = tmp_path / "model"
    shutil.copytree(model, folder)
    (folder / "labeled.json").unlink()
    if content is not None:
        (folder / "labeled.json").write_text(content)
    ran = command("predict", folder, toy / "test.csv", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    ran = command("evaluate", folder, toy / "test.csv", "--json")
    assert ran.code == 0
    assert told.format(folder) in ran.err
    assert ran.err.count("cannot tell whether the model was trained on any of these texts") == 1
    assert json.loads(ran.out)["trained_on"] is None
