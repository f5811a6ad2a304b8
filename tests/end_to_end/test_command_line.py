"""Train, predict, evaluate and the lists, as a user types them."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from jointmatch.augment import AUGMENTERS
from jointmatch.cli.main import app
from jointmatch.config import recipe_names
from jointmatch.model import Model
from jointmatch.predict import predict_file
from jointmatch.record import OWN_NAMES
from tests.conftest import topic_texts
from tests.end_to_end.conftest import FAST, entries_of
from tests.end_to_end.tables import read_table, write_table
from tests.unit.training.toy import Recorder

LISTS = ("algorithms", "augmenters", "backbones", "datasets", "doctor")
COMMANDS = ("demo", "train", "predict", "evaluate", "augment", "cache", *LISTS)
TOPICS = {"fruit", "metal", "music"}


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_train_predict_and_evaluate_work_in_every_format(command, tiny_backbone, tmp_path, suffix):
    texts, labels = topic_texts(60)
    train = write_table(tmp_path / f"train.{suffix}", texts[:12], labels[:12])
    more = write_table(tmp_path / f"more.{suffix}", texts[12:40], [""] * 28)
    test = write_table(tmp_path / f"test.{suffix}", texts[40:], labels[40:])
    output, model = tmp_path / "run", tmp_path / "run" / "model"
    trained = command("train", train, "--unlabeled", more, "--output", output, "--backbone", tiny_backbone, *FAST)
    assert trained.code == 0, trained.err
    assert "12 labelled and 28 unlabelled texts, 3 classes" in trained.err
    target = tmp_path / f"predicted.{suffix}"
    predicted = command("predict", model, test, "--output", target)
    assert (predicted.code, predicted.out) == (0, "")
    rows = read_table(target)
    assert [row["text"] for row in rows] == texts[40:]
    assert {row["prediction"] for row in rows} <= TOPICS
    scored = command("evaluate", model, test, "--json")
    metrics = json.loads(scored.out)
    hits = sum(row["prediction"] == row["label"] for row in rows)
    assert metrics["n"] == 20
    assert metrics["accuracy"] == pytest.approx(hits / 20)
    assert set(metrics) >= {"macro_f1", "ece", "per_class", "confusion"}


def test_train_leaves_the_whole_run_folder_and_its_json_is_the_stored_result(command, toy, tiny_backbone, tmp_path):
    files = ("--dev", toy / "dev.csv", "--test", toy / "test.csv")
    ran = command(
        "train", toy / "train.csv", *files, "--output", tmp_path / "run", "--backbone", tiny_backbone, *FAST, "--json"
    )
    assert ran.code == 0, ran.err
    assert {p.name for p in (tmp_path / "run").iterdir()} == set(OWN_NAMES)
    result = json.loads(ran.out)
    assert result == json.loads((tmp_path / "run/result.json").read_text())
    assert set(result["scores"]) == {"dev", "test"}
    assert set(result["baselines"]) == {"supervised", "logistic_regression", "label_spreading"}
    assert pq.read_table(tmp_path / "run/pseudo_labels.parquet").num_rows == 45


def test_without_dev_the_verdict_says_how_weights_were_chosen_and_shows_baselines(
    command, toy, tiny_backbone, tmp_path
):
    words = ("train", toy / "train.csv", "--output", tmp_path / "run", "--backbone", tiny_backbone, *FAST, "--quiet")
    ran = command(*words)
    assert (ran.code, ran.err) == (0, "")
    assert "the last step's, as there is no dev part" in ran.out
    assert all(name in ran.out for name in ("supervised", "label spreading", "jointmatch"))


def test_seeds_give_mean_and_spread_and_one_model(command, toy, tiny_backbone, tmp_path):
    words = ("--seeds", 2, "--seed", 3, "--backbone", tiny_backbone, *FAST, "--json")
    ran = command("train", toy / "train.csv", "--test", toy / "test.csv", "--output", tmp_path / "run", *words)
    assert ran.code == 0, ran.err
    result = json.loads(ran.out)
    assert result["seeds"] == [3, 4]
    summary = result["summary"]["jointmatch"]["test"]["accuracy"]
    assert summary["values"] == [run["scores"]["test"]["accuracy"] for run in result["runs"]]
    assert summary["mean"] == pytest.approx(sum(summary["values"]) / 2)
    assert (tmp_path / "run/model/jointmatch.json").is_file()
    assert (tmp_path / "run/seed-4/result.json").is_file()


def test_quiet_keeps_the_warnings(command, toy, tiny_backbone, tmp_path):
    rows = (toy / "train.csv").read_text() + "lone wolf,animal\n"
    (tmp_path / "train.csv").write_text(rows)
    words = ("train", tmp_path / "train.csv", "--output", tmp_path / "run", "--backbone", tiny_backbone, *FAST)
    assert command(*words, "--quiet").err == (
        "1 class(es) with a single labelled text (animal): label a few more of these first.\n"
    )


def test_a_missing_file_is_found_before_torch_is_imported(tmp_path):
    program = (
        "import sys; from jointmatch.cli.main import main\n"
        "sys.argv = ['jointmatch', 'train', 'no.csv', '--output', 'x']\n"
        "try: main()\nexcept SystemExit as stopped: print(stopped.code, 'torch' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert ran.stdout == "2 False\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name):
    shown = CliRunner().invoke(app, [name, "--help"])
    assert shown.exit_code == 0
    assert f"jointmatch {name}" in shown.output or f"root {name}" in shown.output


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["algorithms"], "jointmatch"),
        (["algorithms", "jointmatch"], "tau"),
        (["augmenters"], "backtranslation"),
        (["backbones"], "minilm"),
        (["datasets"], "ag_news"),
        (["doctor"], "torch"),
    ],
    ids=" ".join,
)
def test_the_lists_print_a_table_and_parse_as_json(command, words, expected):
    plain, as_json = command(*words), command(*words, "--json")
    assert (plain.code, as_json.code) == (0, 0)
    assert expected in plain.out
    assert expected in json.dumps(json.loads(as_json.out))


def test_datasets_finds_a_folder_of_ones_own(command, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "pool.csv").write_text("text,label\na b,x\n")
    entries = json.loads(command("datasets", "--data-dir", tmp_path, "--json").out)
    assert {"name": "mine", "classes": None, "about": "your own", "source": str(tmp_path / "mine")} in entries


@pytest.mark.parametrize("whose", ["--data-dir", "JOINTMATCH_DATA"])
def test_datasets_says_that_a_folder_is_not_there(command, tmp_path, monkeypatch, whose):
    words = ["--data-dir", tmp_path / "nope"] if whose == "--data-dir" else []
    if not words:
        monkeypatch.setenv("JOINTMATCH_DATA", str(tmp_path / "nope"))
    ran = command("datasets", *words)
    assert (ran.code, ran.out) == (2, "")
    assert f"{whose} is {tmp_path / 'nope'}, which is not there" in ran.err


def test_doctor_does_not_call_well_what_it_says_is_lacking(command, monkeypatch):
    monkeypatch.setattr("jointmatch.doctor.EXTRAS", {"no_such_module": "hub"})
    (extra,) = [e for e in json.loads(command("doctor", "--json").out) if e["check"] == "extra hub"]
    assert extra["finding"] == 'optional; to add it: pip install "jointmatch[hub]"'


def test_doctor_says_that_the_folder_of_benchmarks_is_not_there(command, tmp_path, monkeypatch):
    monkeypatch.setenv("JOINTMATCH_DATA", str(tmp_path / "nope"))
    (found,) = [e for e in json.loads(command("doctor", "--json").out) if e["check"] == "benchmarks"]
    assert not found["ok"]
    assert "which is not there" in found["finding"]


def test_help_names_every_recipe_and_what_a_pipe_may_hold():
    shown = {name: " ".join(CliRunner().invoke(app, [name, "--help"]).output.split()) for name in ("train", "predict")}
    words = set(shown["train"].replace(",", " ").replace(".", " ").split())
    assert set(recipe_names()) <= words
    assert "- for csv, tsv or jsonl on standard input" in re.sub(r"[\s│]+", " ", shown["predict"])


def test_augmenters_says_what_each_one_needs_and_whether_it_is_ready(command):
    found = command("augmenters", "--json")
    entries = {entry["name"]: entry for entry in json.loads(found.out)}
    assert set(entries) == {*AUGMENTERS, "backtranslation:apertium", "backtranslation:marian"}
    assert entries["deletion"] == {
        "name": "deletion",
        "about": "Delete each word with probability rate, but never all of them.",
        "example": "deletion:0.1",
        "needs": None,
        "ready": True,
        "missing": None,
    }
    assert "opus-mt-en-de" in (entries["backtranslation:marian"]["missing"] or "opus-mt-en-de")
    assert not entries["mlm"]["ready"]
    assert "bert-base-uncased" in entries["mlm"]["missing"]
    assert all(entry["ready"] is (entry["missing"] is None) for entry in entries.values())


def test_augmenters_and_cache_do_not_import_torch():
    program = (
        "import sys; from jointmatch.cli.main import main\n"
        "sys.argv = ['jointmatch', *sys.argv[1:]]\n"
        "try: main()\nexcept SystemExit as stopped: print(stopped.code, {'torch', 'transformers'} & set(sys.modules))"
    )
    for name in ("augmenters", "cache"):
        ran = subprocess.run([sys.executable, "-c", program, name], capture_output=True, text=True, check=True)
        assert ran.stdout.splitlines()[-1] == "0 set()"


HELP = """
import sys, runpy, importlib.metadata
importlib.metadata.entry_points = None  # scanning for plug-ins takes its time, too
sys.argv = ["jointmatch", "--help"]
try:
    runpy.run_module("jointmatch", run_name="__main__")
finally:
    heavy = {"torch", "transformers", "sklearn", "pyarrow", "numpy"} & set(sys.modules)
    assert not heavy, heavy
"""


def test_help_does_not_import_torch():
    ran = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "evaluate" in ran.stdout


@pytest.mark.parametrize(
    ("words", "code"), [(["--version"], 0), (["tarin"], 2), (["predict", "nowhere", "absent.csv"], 2)], ids=str
)
def test_the_exit_code_reaches_the_shell(tmp_path, words, code):
    ran = subprocess.run([sys.executable, "-m", "jointmatch", *words], capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == code
    assert bool(ran.stderr) == bool(code)
    assert "Traceback" not in ran.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_run_says_how_to_go_on_and_resumes_to_the_same_result(command, toy, tiny_backbone, tmp_path):
    options = ["--backbone", str(tiny_backbone), "--mode", "lite", "--device", "cpu"]
    options += [
        "--set",
        "output.baselines=false",
        "--set",
        "training.steps=300",
        "--set",
        "training.evaluate_every=5",
        "--dev",
        str(toy / "dev.csv"),
    ]
    words = ["train", str(toy / "train.csv"), *options, "--json", "--output"]
    run = tmp_path / "run"
    process = subprocess.Popen(
        [sys.executable, "-m", "jointmatch", *words, str(run)],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("step 5 "):
            process.send_signal(signal.SIGINT)
            break
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "--resume" in err.splitlines()[-1]
    assert "Traceback" not in err
    assert not (run / "result.json").exists()
    resumed = command(*words, run, "--resume")
    straight = command(*words, tmp_path / "straight")
    assert "Resumed after step" in resumed.err
    assert without_time(resumed.out) == without_time(straight.out)
    for name in ("history.jsonl", "model/heads.safetensors"):
        assert (run / name).read_bytes() == (tmp_path / "straight" / name).read_bytes()


def without_time(out: str) -> dict:
    result = json.loads(out)
    assert result.pop("seconds")
    return result


def test_a_demo_replaces_a_demo_and_never_a_run_of_ones_own(command, toy, tiny_backbone, tmp_path, monkeypatch):
    command("train", toy / "train.csv", "--output", tmp_path / "mine", "--backbone", tiny_backbone, *FAST)
    before = entries_of(tmp_path / "mine")
    ran = command("demo", "--output", tmp_path / "mine")
    assert ran.code == 2
    assert "holds a run that is no demo" in ran.err
    assert entries_of(tmp_path / "mine") == before
    made: list[Path] = []

    def trained(splits_of, settings, seeds, folder, listener):
        (folder / "seed-0").mkdir(parents=True)
        (folder / "seed-0" / "config.toml").write_text("")
        (folder / "result.json").write_text("{}")
        made.append(folder)
        return {}

    monkeypatch.setattr("jointmatch.seeds.train_seeds", trained)
    for _ in range(2):
        assert command("demo", "--output", tmp_path / "demo", "--json").code == 0
    assert len(made) == 2


@pytest.mark.parametrize(("name", "said"), [("predict", "No file was written"), ("evaluate", "Stopped.")])
def test_what_is_stopped_and_kept_nothing_does_not_say_that_it_has(command, model, toy, monkeypatch, name, said):
    def stopped(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(Model, "network_probs", stopped)
    ran = command(name, model, toy / "test.csv")
    assert ran.code == 130
    assert ran.err.splitlines()[-1].endswith(said) or said in ran.err.splitlines()[-1]
    assert "cached" not in ran.err


def test_predicting_and_evaluating_say_that_they_are_at_it(command, model, toy):
    assert "predicting: 30 to do" in command("evaluate", model, toy / "test.csv").err.splitlines()
    listener = Recorder()
    predict_file(lambda: Model.load(model, "cpu"), toy / "test.csv", listener=listener)
    assert listener.stages == [("predicting", None)]
    assert listener.steps == 30
