"""``jointmatch benchmark``: cells run once, kept as they end, taken over by whoever asks, shown as tables and pages."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jointmatch.benchmark.outcome import source_digest
from tests.conftest import topic_texts
from tests.end_to_end.conftest import write_csv

PAGES = Path(__file__).parents[2] / "docs" / "results"
EXPERIMENT = """
title = "Tiny"
data = {{ toys = 5 }}
seeds = 2
against = "ours"
references = ["logistic_regression", "label_spreading"]
settings.training = {{ mode = "lite", device = "cpu", steps = {steps}, evaluate_every = 10 }}
settings.network.word_reader = false
[variants.ours]
title = "Ours"
paper.toys.5 = 88.5
[variants.theirs]
title = "Theirs"
algorithm.name = "fixmatch"
"""


def write_set(folder: Path, name: str) -> None:
    texts, labels = topic_texts(240)
    (folder / name).mkdir(parents=True)
    for part, rows in (("pool", slice(0, 120)), ("dev", slice(120, 180)), ("test", slice(180, 240))):
        write_csv(folder / name / f"{part}.csv", texts[rows], labels[rows])


@pytest.fixture
def place(tmp_path, tiny_backbone):
    """A folder with data and an experiment, and the options that every call has."""
    write_set(tmp_path / "data", "toys")
    (tmp_path / "tiny.toml").write_text(EXPERIMENT.format(steps=20))
    return tmp_path


@pytest.fixture
def benchmark(command, place, tiny_backbone):
    def call(verb: str, *words: object):
        options = {"--results": place / "results", "--backbone": tiny_backbone, "--data-dir": place / "data"}
        wanted = {"run": 3, "table": 2, "list": 2, "figure": 2, "pages": 1}[verb]
        given = [w for option in list(options.items())[:wanted] for w in option]
        return command("benchmark", verb, *words, *given)

    return call


def records(place: Path) -> dict[str, dict]:
    files = sorted((place / "results" / "cells").rglob("*.json"))
    return {str(f.relative_to(place / "results" / "cells")): json.loads(f.read_text()) for f in files}


@pytest.mark.parametrize("words", [["list"], ["table", "main"]])
def test_a_folder_of_results_that_is_not_there_is_pointed_out(command, tmp_path, words):
    shown = command("benchmark", *words, "--results", tmp_path / "none")
    assert shown.code == 0
    assert f"There are no results in {tmp_path / 'none'}" in shown.err
    assert "There are" not in shown.out


def test_cells_are_run_once_and_shown_from_then_on(benchmark, place):
    ran = benchmark("run", place / "tiny.toml")
    assert ran.code == 0, ran.err
    assert "Tiny: 0 of 6 cells are finished and kept, 6 to run." in ran.out
    assert "(6 of 6)" in ran.out
    rows = [line.split("  ")[:2] for line in ran.out.splitlines()[1:]]
    assert sorted(name for name, _ in rows) == sorted(["ours", "theirs", "logistic_regression"] * 2)
    assert all(where.startswith("toys 5 (") for _, where in rows)
    kept = records(place)
    assert len(kept) == 6  # two variants and the references, two seeds each
    again = benchmark("run", place / "tiny.toml", "--resume")
    assert again.out.splitlines() == ["Tiny: 6 of 6 cells are finished and kept, 0 to run."]
    assert records(place) == kept
    (spell,) = (json.loads(f.read_text()) for f in (place / "results" / "spells" / "tiny").iterdir())
    assert spell["cells"] == {"toys": 6}
    assert spell["seconds"] > 0
    shown = benchmark("table", place / "tiny.toml").out
    assert "| test, 5 labels per class | accuracy | macro-F1 | paper: accuracy | Ours ahead by | seeds |" in shown
    assert "not run" not in shown
    assert "| 88.50 |" in shown
    assert "tiny-bert" in shown
    assert "label spreading" in benchmark("table", place / "tiny.toml", "--format", "csv").out
    assert r"\toprule" in benchmark("table", place / "tiny.toml", "--format", "latex").out


def test_a_record_says_all_there_is_to_know_of_a_run(benchmark, place, tiny_backbone):
    assert benchmark("run", place / "tiny.toml", "--only", "ours", "--seeds", 1).code == 0
    ((path, record),) = records(place).items()
    assert path == f"toys-5/jointmatch-best-lite-{record['key']}/seed-0.json"
    assert record["settings"]["training"]["steps"] == 20
    assert record["settings"]["algorithm"]["momentum"] == 0.9
    assert record["backbone"]["name"] == "tiny-bert"
    assert str(tiny_backbone) not in json.dumps(record)
    assert set(record["versions"]) == {"jointmatch", "source", "torch", "transformers", "python"}
    assert record["versions"]["source"] == source_digest()
    assert record["hardware"]["device"] == "cpu"
    for part in ("dev", "test"):
        assert {"accuracy", "macro_f1"} <= set(record["scores"][part])
        assert {"accuracy", "macro_f1"} <= set(record["scores_of_last_step"][part])
    history = record["history"]
    assert history["step"] == [10, 20]
    assert len(history["pseudo_label_share_per_class"][-1]) == 3
    assert record["pseudo_labels"]["share"] == pytest.approx(history["pseudo_label_share"][-1], abs=1e-4)
    digest = record["texts"].pop("digest")
    assert len(digest) == 16
    assert record["texts"] == {"labeled": 15, "pool": 105, "dev": 60, "test": 60}
    assert "baselines" not in record


@pytest.mark.parametrize("digest", [True, False])
def test_cells_of_other_texts_under_the_same_name_are_not_taken_for_finished(benchmark, place, digest):
    """Neither where their record knows its texts nor, of one from before, where the number of them is another."""
    assert benchmark("run", place / "tiny.toml", "--only", "ours", "--seeds", 1).code == 0
    ((path, record),) = records(place).items()
    if not digest:
        del record["texts"]["digest"]
        (place / "results" / "cells" / path).write_text(json.dumps(record))
    assert benchmark("run", place / "tiny.toml", "--only", "ours", "--seeds", 1).code == 0
    texts, labels = topic_texts(240)
    changed = [f"{text} too" for text in texts]
    write_csv(place / "data" / "toys" / "pool.csv", changed[: 120 if digest else 90], labels[: 120 if digest else 90])
    ran = benchmark("run", place / "tiny.toml", "--only", "ours", "--seeds", 1)
    assert ran.code == 2
    assert "has cells of other texts than those of toys here" in ran.err
    assert "choose another --results" in ran.err


def test_a_record_from_before_texts_were_counted_is_still_a_finished_cell(benchmark, place):
    assert benchmark("run", place / "tiny.toml", "--only", "ours", "--seeds", 1).code == 0
    ((path, record),) = records(place).items()
    del record["texts"], record["classes"]
    (place / "results" / "cells" / path).write_text(json.dumps(record))
    ran = benchmark("run", place / "tiny.toml", "--only", "ours", "--seeds", 1)
    assert ran.code == 0, ran.err
    assert "1 of 1 cells are finished" in ran.out


@pytest.mark.parametrize("lacking", ["dev", "test"])
def test_a_data_set_without_all_of_its_parts_is_not_trained_on(benchmark, place, lacking):
    (place / "data" / "toys" / f"{lacking}.csv").unlink()
    ran = benchmark("run", place / "tiny.toml")
    assert ran.code == 2
    assert f"has no {lacking} file" in ran.err
    assert records(place) == {}


def test_a_data_set_whose_columns_are_others_is_said_once_and_in_its_own_words(benchmark, place):
    (place / "data" / "toys" / "dev.csv").write_text("id,points\n1,2\n3,4\n")
    ran = benchmark("run", place / "tiny.toml")
    assert ran.code == 2
    assert ran.err.count("has the columns 'id', 'points'; a benchmark's files have 'text' and 'label'") == 1
    assert "--text-column" not in ran.err


def test_a_backbone_that_is_none_is_said_once_and_before_anything_is_run(command, place):
    words = ["--results", place / "results", "--data-dir", place / "data", "--backbone", place / "data"]
    ran = command("benchmark", "run", place / "tiny.toml", *words)
    assert ran.code == 2
    assert ran.err.count("has no config.json, wanted an encoder saved by transformers") == 1
    assert "failed" not in ran.out


def test_a_backbone_that_cannot_be_loaded_ends_the_run_before_its_first_cell(command, place, tiny_backbone):
    broken = place / "broken"
    shutil.copytree(tiny_backbone, broken)
    (broken / "model.safetensors").write_bytes(b"not weights")
    words = ["--results", place / "results", "--data-dir", place / "data", "--backbone", broken]
    ran = command("benchmark", "run", place / "tiny.toml", *words)
    assert ran.code == 2
    assert ran.err.count("could not be loaded") == 1
    assert "failed" not in ran.out


def test_another_experiment_takes_over_the_cells_they_have_in_common(benchmark, place):
    assert benchmark("run", place / "tiny.toml", "--only", "ours").code == 0
    other = EXPERIMENT.format(steps=20).replace("ours", "mine").replace("Tiny", "Other words")
    (place / "other.toml").write_text("sort = true\n" + other)
    ran = benchmark("run", place / "other.toml", "--only", "mine")
    assert "Other words: 2 of 2 cells are finished and kept, 0 to run." in ran.out
    (place / "longer.toml").write_text(EXPERIMENT.format(steps=30))
    assert "0 of 2 cells are finished" in benchmark("run", place / "longer.toml", "--only", "ours").out
    assert len(records(place)) == 4


def test_a_variant_that_fails_ends_no_other_and_is_tried_again(benchmark, place):
    broken = '[variants.broken]\naugment.strong = ["backtranslation:marian-xx"]\n'
    (place / "tiny.toml").write_text(EXPERIMENT.format(steps=20) + broken)
    ran = benchmark("run", place / "tiny.toml", "--seeds", 1)
    assert ran.code == 1
    assert "failed: InputError: backtranslation:marian-xx needs" in ran.out
    assert "1 of 4 cells failed" in ran.err
    assert len(records(place)) == 3
    assert "3 of 4 cells are finished" in benchmark("run", place / "tiny.toml", "--seeds", 1).out


def test_nothing_is_started_once_the_time_is_up(benchmark, place):
    ran = benchmark("run", place / "tiny.toml", "--seconds", 0)
    assert ran.code == 0
    assert "No cell is begun after 0 s; those under way then, 1 at most, are finished first." in ran.out
    assert "Time is up: 6 cells are left" in ran.out
    assert records(place) == {}


def test_a_data_set_that_is_not_here_is_left_out_and_said_once(benchmark, place):
    (place / "tiny.toml").write_text(EXPERIMENT.format(steps=20).replace("toys = 5 }", "toys = 5, goemotions = 5 }"))
    ran = benchmark("run", place / "tiny.toml", "--only", "ours", "--seeds", 1)
    assert ran.code == 0
    assert ran.out.count("Left out: 1 cells on goemotions") == 1
    assert "| Ours | not run |" in benchmark("table", place / "tiny.toml", "--dataset", "goemotions").out
    only = benchmark("run", place / "tiny.toml", "--dataset", "goemotions")
    assert only.code == 2
    assert "--data-dir" in only.err


def test_a_table_points_out_a_data_set_that_nothing_is_known_of(benchmark, place):
    (place / "tiny.toml").write_text(EXPERIMENT.format(steps=20).replace("toys = 5", "agnews = 5"))
    shown = benchmark("table", place / "tiny.toml")
    assert "No results, and no known benchmark: agnews. Did you mean 'ag_news'?" in shown.err
    assert "known benchmark" not in shown.out
    assert "known benchmark" not in benchmark("table", "main").err


def test_a_folder_of_yahoo_answers_form_runs_in_the_main_table(benchmark, place):
    """The paper's 20 labels per class, as the package's own experiment has them."""
    write_set(place / "data", "yahoo_answers")
    words = ("main_lite", "--dataset", "yahoo_answers")
    ran = benchmark("run", *words, "--only", "jointmatch", "--seeds", 1)
    assert ran.code == 0, ran.out + ran.err
    shown = benchmark("table", *words).out
    assert "test, 20 labels per class" in shown
    assert "| 66.58 ± 0.7 |" in shown
    assert "1 of 5" in shown


def test_every_experiment_is_listed_with_what_is_finished(benchmark):
    shown = benchmark("list", "--json")
    entries = {e["name"]: e for e in json.loads(shown.out)}
    # 14 variants and the references, on three data sets with five seeds: 15 * 3 * 5 = 225
    assert (entries["main"]["title"], entries["main"]["done"], entries["main"]["wanted"]) == ("Main comparison", 0, 225)
    assert {"labels", "classes", "components", "delta", "lambda", "tau", "mu", "data", "algorithms"} <= set(entries)


def test_data_statistics_are_counted_from_the_data_at_hand(benchmark, place, monkeypatch):
    monkeypatch.setattr("jointmatch.benchmark.suite._hub_answers", lambda: False)
    write_set(place / "data", "hurricane")
    assert benchmark("run", "data").code == 0
    shown = benchmark("table", "data").out
    assert "| 3 (paper 8) | 120 (paper 10,240) | 60 (paper 1,280) | 60 (paper 1,280) | 0 |" in shown
    assert "| not run (paper 10) |" in shown


def test_a_folder_of_data_that_is_not_there_is_named_by_who_named_it(command, place, monkeypatch):
    run = ("benchmark", "run", place / "tiny.toml", "--results", place / "results")
    assert "--data-dir is nowhere, which is not there" in command(*run, "--data-dir", "nowhere").err
    of_three = command("benchmark", "run", "main_lite", "--results", place / "results", "--data-dir", "nowhere")
    assert of_three.err.count("which is not there") == 1
    monkeypatch.setenv("JOINTMATCH_DATA", "gone")
    assert "JOINTMATCH_DATA is gone, which is not there" in command(*run).err
    assert command("benchmark", "table", place / "tiny.toml", "--results", place / "results").code == 0


def test_figures_and_pages_come_from_the_same_results(benchmark, place, tiny_backbone):
    pytest.importorskip("matplotlib")
    (place / "tiny.toml").write_text('figures = ["course"]\n' + EXPERIMENT.format(steps=20))
    asked = benchmark("figure", place / "tiny.toml", "--output", place / "pictures")
    assert "course: not run" in asked.out
    assert f"tiny.toml --backbone {tiny_backbone} --results {place / 'results'}" in asked.out
    assert benchmark("run", place / "tiny.toml", "--only", "ours", "--seeds", 1).code == 0
    assert benchmark("figure", place / "tiny.toml", "--output", place / "pictures").code == 0
    assert (place / "pictures" / "tiny-course.svg").is_file()
    two = 'extends = "tiny"\ndata = { toys = [3, 4] }\n'
    (place / "two.toml").write_text(two)
    assert "two-course-toys-4: not run" in benchmark("figure", place / "two.toml", "--output", place / "pictures").out
    (place / "docs").mkdir()
    (place / "docs" / "a.md").write_text("<!-- results: table main ag_news -->\n<!-- end of results -->\n")
    stale = benchmark("pages", place / "docs", "--check")
    assert stale.code == 2
    assert "a.md" in stale.err
    assert benchmark("pages", place / "docs").code == 0
    assert benchmark("pages", place / "docs", "--check").code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "mian"), "Unknown experiment 'mian'. Did you mean 'main'?"),
        (("run", "main", "--only", "jointmatsch"), "has no variant 'jointmatsch'. Did you mean 'jointmatch'?"),
        (("run", "main", "--dataset", "agnews"), "has no data set 'agnews'. Did you mean 'ag_news'?"),
        (("table", "nowhere.toml"), "There is no config file nowhere.toml"),
        (("run", "main", "--seeds", "1001"), "less than or equal to 1000"),
        (("figure", "main"), "main has no figures"),
        (("pages", "nowhere"), "There are no Markdown pages in nowhere"),
        (("pages", str(PAGES)), "There are no results in"),
        (
            ("run", "race", "--not-compiled"),
            "race is timed, so its file says which seeds run at once, and how: no --not",
        ),
        (("run", "speed"), "speed times random networks of its own shapes"),  # every call here names a backbone
    ],
)
def test_a_mistake_is_one_clear_message(benchmark, words, message):
    ran = benchmark(*words)
    assert ran.code == 2
    assert message in ran.err
    assert "Traceback" not in ran.err


def test_a_killed_run_loses_what_it_was_computing_and_nothing_else(place, tiny_backbone, benchmark):
    """kill -9 after the first cell: its workers end with it, the next call takes over what was finished."""
    (place / "tiny.toml").write_text(EXPERIMENT.format(steps=200).replace("seeds = 2", "seeds = 3"))
    words = ["benchmark", "run", str(place / "tiny.toml"), "--only", "ours", "--jobs", "2"]
    words += ["--results", str(place / "results"), "--backbone", str(tiny_backbone), "--data-dir", str(place / "data")]
    code = "import sys; from jointmatch.cli.main import main; sys.argv = ['jointmatch', *sys.argv[1:]]; main()"
    source = str(Path(__file__).parents[2] / "src")
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])},
        stdout=subprocess.DEVNULL,
    )
    children = wait_for(lambda: workers_of(process.pid), 2)
    wait_for(lambda: list(records(place)), 1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    wait_for(lambda: [pid for pid in children if not alive(pid)], len(children))
    kept = records(place)
    assert all("scores" in record for record in kept.values())
    ran = benchmark("run", place / "tiny.toml", "--only", "ours")
    assert ran.code == 0
    assert f"Tiny: {len(kept)} of 3 cells are finished and kept, {3 - len(kept)} to run." in ran.out
    assert {name: record for name, record in records(place).items() if name in kept} == kept
    assert len(records(place)) == 3


def wait_for(found, count: int) -> list:
    for _ in range(1200):
        if len(values := found()) >= count:
            return values
        time.sleep(0.1)
    pytest.fail("nothing came of it in two minutes")


def workers_of(pid: int) -> list[int]:
    folder = Path(f"/proc/{pid}/task/{pid}/children")
    if not folder.exists():
        pytest.skip("needs /proc")
    children = map(int, folder.read_text().split())
    return [c for c in children if b"spawn_main" in Path(f"/proc/{c}/cmdline").read_bytes()]


def alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_seeds_trained_side_by_side_are_the_cells_of_each_alone(benchmark, place):
    """In mode full, whose networks can be one stack; the settings a cell is known by are the same."""
    text = (
        EXPERIMENT.format(steps=2)
        .replace('mode = "lite"', 'mode = "full", batch_size = 2, mu = 2')
        .replace("references", "# references")
    )
    (place / "tiny.toml").write_text(text)
    ran = benchmark("run", place / "tiny.toml", "--together", 2, "--only", "ours")
    assert ran.code == 0, ran.err
    found = records(place)
    assert sorted(record["seed"] for record in found.values()) == [0, 1]
    again = benchmark("run", place / "tiny.toml", "--only", "ours")
    assert "2 of 2 cells are finished and kept, 0 to run" in again.out
    assert records(place) == found
