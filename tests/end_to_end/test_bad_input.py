"""What the user gets wrong: exit code 2, one clear message, no traceback, nothing written."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.end_to_end.conftest import FAST, entries_of

LABELED = "apple plum,fruit\niron zinc,metal\npeach grape,fruit\ngold tin,metal\n"
GOOD = f"text,label\n{LABELED}mango is new,\nplum is old,\niron is hard,\ntin is soft,\n"


def case(*values: object, id: str) -> object:  # noqa: A002 - pytest's name
    return pytest.param(*values, id=id)


def assert_refused(ran, *expected: str) -> None:
    assert ran.code == 2, ran.err
    assert ran.out == ""
    assert ran.err.startswith("Error: ")
    assert sum(line.startswith("Error") for line in ran.err.splitlines()) == 1
    assert "Traceback" not in ran.err
    for part in expected:
        assert part in ran.err


@pytest.fixture
def train(command, tiny_backbone, tmp_path):
    def call(*words: object, source: Path | None = None):
        if source is None:
            source = tmp_path / "good.csv"
            source.write_text(GOOD)
        return command("train", source, "--output", tmp_path / "run", "--backbone", tiny_backbone, *FAST, *words)

    return call


def parquet(damage: slice) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"text": [f"apple {i}" for i in range(3000)], "label": ["a", "b"] * 1500}), sink)
    raw = bytearray(sink.getvalue().to_pybytes())
    raw[damage] = b"\x55" * len(raw[damage])
    return bytes(raw)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        case("absent.csv", None, ["There is no file", "absent.csv"], id="missing"),
        case("goood.csv", None, ["There is no file", "Did you mean 'good.csv'"], id="missing, nearest name"),
        case("a.csv", b"", ["a.csv is empty", "header"], id="empty"),
        case("a.csv", b"text,label\n", ["has no rows"], id="header only"),
        case("a.csv", b"\x7fELF\x01\x00\x00", ["NUL byte at byte 5", "binary"], id="binary"),
        case("a.csv", b"text,label\nab\x00c,x\n", ["NUL byte at byte 13", "line 2"], id="NUL bytes"),
        case("a.parquet", b"not a parquet file", ["a.parquet is not a parquet file"], id="binary as parquet"),
        case("a.parquet", parquet(slice(80, 900)), ["a.parquet"], id="corrupt parquet"),
        case("a.xlsx", b"PK", ["extension '.xlsx'", ".csv", ".parquet"], id="unknown extension"),
        case("tickets", None, ["There is no file"], id="missing, no extension"),
        case("a.csv", b"mesage,note,label\na b,c d,x\n", ["'mesage', 'note', 'label'", "mean 'mesage'"], id="no text"),
        case("a.csv", b"text,label\na,x\nb\n", ["line 3: 1 fields, but the header has 2"], id="ragged"),
        case("a.csv", b"text,label\na,x\n\"b,y\n", ["line 3", "quotation mark"], id="open quotation mark"),
        case("a.csv", b"text,label\ncaf\xe9,x\n", ["byte 0xe9 at byte 14", "line 2", "--encoding"], id="encoding"),
        case("a.csv", b"text,text\na,b\n", ["'text' more than once"], id="a column twice"),
        case("a.jsonl", b'{"text": "a"}\n{"text"\n', ["line 2: not JSON"], id="broken JSON"),
        case("a.csv", b"text,label\napple,\niron,\n", ["No row has a label", "--label-column"], id="no labelled row"),
        case("a.csv", b"text,label\napple,x\niron,x\n", ["All labels are 'x'", "two classes"], id="one class only"),
        case("a.csv", b"text,label\n  ,x\niron,y\n", ["left for 'x': all 1 are empty"], id="a class lost"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_used_is_refused(train, tmp_path, name, content, expected):
    (tmp_path / "good.csv").write_text(GOOD)
    if content is not None:
        (tmp_path / name).write_bytes(content)
    before = entries_of(tmp_path)
    assert_refused(train(source=tmp_path / name), *expected)
    assert not (tmp_path / "run").exists()
    assert entries_of(tmp_path) == before


@pytest.mark.parametrize("part", ["dev", "test"])
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            "text,label\na b,fruits\n",
            [
                "part.csv) has labels that training does not have, in 1 of 1 rows: 'fruits'",
                "Did you mean 'fruit'? Known: 'fruit', 'metal'.",
            ],
        ),
        ("text,label\na b,\nc,fruit\n", ["part.csv) has 1 row(s) without a label"]),
    ],
    ids=["unknown label", "blank label"],
)
def test_dev_and_test_labels_must_be_known(train, tmp_path, part, content, expected):
    (tmp_path / "part.csv").write_text(content)
    ran = train(f"--{part}", tmp_path / "part.csv")
    assert_refused(ran, f"The {part} part ({tmp_path / 'part.csv'}) has", *expected)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        case("--algorithm jointmach", ["'jointmach'", "Did you mean 'jointmatch'"], id="algorithm"),
        case("--backbone minilmm", ["'minilmm'", "Did you mean 'minilm'"], id="backbone"),
        case("--backbone ./nowhere", ["a saved encoder"], id="no such folder"),
        case("--recipe bets", ["'bets'", "Did you mean 'best'"], id="recipe"),
        case("--set training.lerning_rate=1", ["lerning_rate", "Did you mean 'learning_rate'"], id="key"),
        case("--set algorithm.tua=1", ["algorithm.tua", "Did you mean 'tau'"], id="key of the algorithm"),
        case("--set trainin.steps=1", ["'trainin'", "Did you mean 'training'"], id="section"),
        case("--set steps=1", ["'steps=1'", "section.key=value"], id="no section"),
        case("--text-column tekst", ["no column 'tekst'", "'text', 'label'", "Did you mean 'text'"], id="text column"),
        case("--label-column lable", ["no column 'lable'", "Did you mean 'label'"], id="label column"),
        case("--encoding utf-9", ["Unknown encoding 'utf-9'"], id="encoding"),
        case("--encoding hex", ["encoding 'hex'"], id="not a text encoding"),
        case("--device gpu9", ["'gpu9'", "cuda:N"], id="device"),
        case("--set algorithm.tau=1.5", ["algorithm.tau is 1.5", "from 0 to 1"], id="tau"),
        case("--set training.steps=0", ["training.steps is 0", "at least 1"], id="steps"),
        case("--set training.learning_rate=nan", ["learning_rate is nan"], id="rate not a number"),
        case("--seed -1", ["training.seed is -1", "from 0 to"], id="seed"),
        case("--labels-per-class 100", ["100 labels per class", "'fruit' has 2"], id="too many labels per class"),
        case("--labels-per-class 0", ["at least 1"], id="no labels per class"),
        case("--set network.layers=[]", ["network.layers"], id="no layers"),
        case("--set augment.strong=[]", ["augment.strong"], id="no strong view"),
        case("--set augment.strong=5", ["augment.strong is 5"], id="strong of a wrong type"),
        case("--strong synonym+", ["'synonym+': something is missing beside a '+'"], id="nothing beside a plus"),
        case("--set algorithm.name=5", ["algorithm.name is 5"], id="algorithm of a wrong type"),
        case("--set training.recipe=5", ["training.recipe is 5"], id="recipe of a wrong type"),
        case(f"--set training.seed={10**23}", ["training.seed"], id="seed too large"),
        case("--set training.mode=full", ["--mode is 'lite'", "training.mode is 'full'", "one of"], id="two modes"),
        case("--seed 1 --set training.seed=2", ["--seed is 1", "training.seed is 2"], id="two seeds"),
    ],
)  # fmt: skip
def test_an_unknown_name_or_a_value_out_of_range_is_refused(train, tmp_path, words, expected):
    assert_refused(train(*words.split()), *expected)
    assert not (tmp_path / "run").exists()


def test_all_faults_of_a_config_come_in_one_message(train, tmp_path):
    config = tmp_path / "run.toml"
    config.write_text("[training]\nstep = 3\nmu = 0\n[algorithm]\ntau = 2\n[outptu]\n[augment]\nweak = 'delete:0.1'\n")
    ran = train("--config", config, "--recipe", "bets")
    assert_refused(ran, "6 settings are wrong", "training.step.", "training.mu is 0", "tau is 2", "'outptu'", "'bets'")
    assert "'delete" in ran.err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("words", ["--recipe paper", "--set training.recipe=paper", "--algorithm fixmatch"])
def test_the_file_of_a_run_is_refused_beside_another_recipe_or_algorithm(train, tmp_path, words):
    assert train("--quiet").code == 0
    file = (tmp_path / "run").rename(tmp_path / "earlier") / "config.toml"
    ran = train("--config", file, *words.split())
    assert_refused(ran, "settings that", str(file), "out to train what the file says")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        case("[training\n", ["not valid TOML", "line 1"], id="not TOML"),
        case(None, ["There is no config file"], id="missing"),
        case("steps = 5\n", ["steps"], id="key outside a section"),
        case("training = 5\n", ["training is 5"], id="value for a section"),
    ],
)
def test_a_config_file_that_cannot_be_read_is_refused(train, tmp_path, content, expected):
    config = tmp_path / "run.toml"
    if content is not None:
        config.write_text(content)
    assert_refused(train("--config", config), *expected)


def test_an_output_in_use_is_left_alone_until_told_otherwise(train, tmp_path):
    assert train("--quiet").code == 0
    before = entries_of(tmp_path / "run")
    assert_refused(train(), "already holds a run", "--overwrite", "--resume")
    assert_refused(train("--overwrite", source=tmp_path / "absent.csv"), "There is no file")
    assert entries_of(tmp_path / "run") == before
    assert train("--overwrite", "--seed", 5, "--quiet").code == 0
    assert json.loads((tmp_path / "run/result.json").read_text())["seed"] == 5


def test_going_on_with_a_run_and_replacing_it_at_once_is_refused(train, tmp_path):
    assert_refused(train("--resume", "--overwrite"), "--resume and --overwrite", "Give one of the two")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "words",
    ["train - --output run", "train good.csv --dev - --output run", "evaluate model -", "augment - --weak swap"],
)
def test_a_pipe_where_a_file_is_wanted_is_called_that(command, tmp_path, monkeypatch, words):
    (tmp_path / "good.csv").write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    assert_refused(command(*words.split(), stdin=GOOD.encode()), "only 'jointmatch predict' reads", "Wanted a file")
    assert not (tmp_path / "run").exists()


def test_a_file_whose_rows_mostly_say_that_they_have_no_label_is_refused_until_it_is_said(train, tmp_path):
    rows = [line.rsplit(",", 1)[0] for line in GOOD.splitlines()[1:]]
    (tmp_path / "marked.csv").write_text(
        GOOD + "extra,other\n" + "".join(f"{row} {i},N/A\n" for i in range(9) for row in rows)
    )
    assert_refused(train(source=tmp_path / "marked.csv"), "have the label 'N/A'", "--set data.unlabeled_value=N/A.")
    assert train("--quiet", "--set", "data.unlabeled_value=N/A", source=tmp_path / "marked.csv").code == 0


def test_british_spelling_and_a_short_option_will_do(command, toy, tiny_backbone, tmp_path):
    words = ("train", toy / "train.csv", "--unlabelled", toy / "test.csv", "-o", tmp_path / "run", "--quiet", *FAST)
    assert command(*words, "--backbone", tiny_backbone).code == 0
    assert (tmp_path / "run" / "model").is_dir()


def test_resuming_with_other_settings_is_refused_and_leaves_the_run_alone(train, tmp_path):
    assert train("--quiet").code == 0
    before = entries_of(tmp_path / "run")
    ran = train("--resume", "--quiet", "--set", "algorithm.tau=0.5")
    assert entries_of(tmp_path / "run") == before
    assert_refused(ran, "other settings (algorithm.tau was ", ", is 0.5)", "--overwrite")


@pytest.mark.parametrize("output", ["a-file", "a-file/below", "/proc/jointmatch/run"])
def test_an_output_that_cannot_be_written_is_refused(command, toy, tiny_backbone, tmp_path, monkeypatch, output):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a-file").write_text("mine")
    ran = command("train", toy / "train.csv", "--output", output, "--backbone", tiny_backbone, *FAST)
    assert_refused(ran, output)
    assert (tmp_path / "a-file").read_text() == "mine"


@pytest.mark.parametrize("words", [(), ("--overwrite",)], ids=["new", "overwrite"])
def test_a_damaged_backbone_is_found_before_the_output_is_touched(train, tiny_backbone, tmp_path, words):
    broken = tmp_path / "broken"
    shutil.copytree(tiny_backbone, broken)
    (broken / "tokenizer.json").write_text("{")
    if words:
        assert train("--quiet").code == 0
    before = entries_of(tmp_path)
    exists = (tmp_path / "run").exists()
    assert_refused(train("--backbone", broken, *words), "could not be loaded")
    assert ((tmp_path / "run").exists(), entries_of(tmp_path)) == (exists, before | {"good.csv": GOOD.encode()})


@pytest.mark.parametrize("more", [(), ("--mode", "full"), ("--algorithm", "coteaching"), ("--seeds", 2)])
def test_networks_that_need_each_other_are_not_trained_alone_and_nothing_is_written(train, tmp_path, more):
    assert_refused(train("--set", "network.count=1", *more), "network.count is 1, wanted at least 2")
    assert not (tmp_path / "run").exists()
