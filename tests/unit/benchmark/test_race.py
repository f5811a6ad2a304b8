"""Time to accuracy: how minutes are reckoned, and that every way is run once, with its course."""

import time
from dataclasses import replace

import pytest

from jointmatch.benchmark import Store, load, race
from jointmatch.benchmark.drawing import draw
from jointmatch.benchmark.formats import markdown
from jointmatch.benchmark.race import Race, mean_course, reached, to_the_end
from jointmatch.benchmark.suite import Options
from jointmatch.benchmark.suites import suite_of
from jointmatch.errors import ConfigError, DataError, InputError

TINY = """
extends = "race"
data = { mine = 3 }
seeds = 2
rows = ["plain", "paper"]
[settings]
training = { steps = 4, evaluate_every = 2, warm_start = false, batch_size = 4, mu = 1 }
augment = { weak = "none", strong = ["none"] }
network = { max_length = 8 }
[variants.plain]
training.steps = 4
[options]
processes = []
together = ["paper"]
levels = [0.0, 1.1]
"""


def record(seed, side_by_side, seconds, course, accuracy=0.8):
    return {
        "seed": seed,
        "side_by_side": side_by_side,
        "seconds": seconds,
        "course": course,
        "steps": 20,
        "termination": "max_steps",
        "scores": {"test": {"accuracy": accuracy}},
        "device": "Some GPU",
    }


IN_TURN = [record(0, 1, 300, [[60, 10, 0.5], [120, 20, 0.9]]), record(1, 1, 180, [[60, 10, 0.9], [90, 20, 0.7]])]
BESIDE = [record(0, 2, 120, [[30, 10, 0.5], [48, 20, 0.9]]), record(1, 2, 120, [[36, 10, 0.9], [60, 20, 0.7]])]


def test_seeds_in_turn_take_their_sum_and_seeds_side_by_side_the_longest():
    """300 and 180 s are 4 minutes a seed; 120 s side by side are 1 each."""
    assert to_the_end(IN_TURN) == 4.0
    assert to_the_end(BESIDE) == 1.0


def test_a_seed_s_share_of_a_stack_is_the_same_where_not_all_are_shown():
    assert to_the_end(BESIDE[:1]) == to_the_end(BESIDE) == 1.0
    assert to_the_end([*BESIDE, IN_TURN[0]]) == pytest.approx((1 + 1 + 5) / 3)


def test_a_level_is_reached_when_the_last_seed_is_there():
    """0.9 after 120 and 60 s in turn: 1.5 minutes a seed. Side by side after 48 s, the later one: 0.4."""
    assert reached(IN_TURN, 0.9) == 1.5
    assert reached(BESIDE, 0.9) == pytest.approx(0.4)
    assert reached(IN_TURN, 0.95) is None


def test_the_course_is_the_mean_of_seeds_at_the_same_evaluation():
    assert mean_course(IN_TURN) == [[1.0, 0.7], [1.75, 0.8]]
    assert mean_course(BESIDE) == [[0.3, 0.7], [0.5, 0.8]]


@pytest.fixture
def data(tmp_path):
    """Two classes of texts without a repetition."""
    (tmp_path / "data" / "mine").mkdir(parents=True)
    for part, size in (("pool", 24), ("dev", 6), ("test", 6)):
        rows = [
            f"{word} {part} {i},{label}" for i in range(size) for word, label in (("apple", "fruit"), ("gold", "metal"))
        ]
        (tmp_path / "data" / "mine" / f"{part}.csv").write_text("\n".join(["text,label", *rows]))
    return str(tmp_path / "data")


@pytest.fixture
def tiny(tmp_path):
    (tmp_path / "tiny.toml").write_text(TINY)
    return load(tmp_path / "tiny.toml")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("levels = 0.8", "options.levels is 0.8, wanted a list of accuracies, such as [0.8, 0.84]"),
        ('levels = ["x"]', "options.levels is ['x'], wanted a list of accuracies, such as [0.8, 0.84]"),
        ("levels = [true]", "options.levels is [True], wanted a list of accuracies"),
        ("levels = [nan]", "options.levels is [nan], wanted a list of accuracies"),
        ('together = ["papr"]', "options.together has 'papr', which is no variant. Did you mean 'paper'?"),
        ("together = [3]", "options.together has 3, which is no variant."),
        ('together = "paper"', "options.together is 'paper', wanted a list of variants, such as"),
        ('processes = ["plane"]', "options.processes has 'plane', which is no variant. Did you mean 'plain'?"),
        ("processes = []\nproceses = []", "options has 'proceses'. Did you mean 'processes'?"),
        ("levels_ = []", "options has no 'levels', which the suite race must be told"),
    ],
)
def test_what_is_wrong_with_the_options_is_said_when_the_file_is_read(tmp_path, wrong, said):
    key = wrong.partition(" =")[0].rstrip("_")
    lines = [wrong if line.startswith(f"{key} =") else line for line in TINY.splitlines()]
    (tmp_path / "wrong.toml").write_text("\n".join(lines))
    with pytest.raises(ConfigError, match="wrong: options") as error:
        load(tmp_path / "wrong.toml")
    assert said in str(error.value)


def test_a_variant_that_is_no_row_may_be_among_those_side_by_side(tmp_path):
    (tmp_path / "tiny.toml").write_text(TINY.replace('together = ["paper"]', 'together = ["paper", "best"]'))
    assert list(load(tmp_path / "tiny.toml").variants) == ["plain", "paper"]


def test_every_way_is_run_once_and_shown(tiny, tiny_backbone, data, tmp_path):
    pytest.importorskip("matplotlib")
    said: list[str] = []
    options = Options(tmp_path / "results", str(tiny_backbone), data, say=said.append)
    suite, store = suite_of(tiny), Store(tmp_path / "results")
    suite.run(tiny, options)
    assert suite.progress(tiny, store, str(tiny_backbone)) == (4, 4)
    assert len(said) == 4
    suite.run(tiny, options)
    assert len(said) == 4
    plain, paper = (store.read(f"race/cpu/{way}/seed-1.json") for way in ("plain", "paper"))
    assert plain is not None
    assert paper is not None
    assert (plain["side_by_side"], paper["side_by_side"]) == (1, 2)
    assert [step for _, step, _ in paper["course"]] == [2, 4]
    assert 0 < paper["course"][0][0] < paper["course"][1][0] <= paper["seconds"]
    assert plain["settings"]["training"]["update"] == "alternating"
    shown = markdown(suite.tables(tiny, store, str(tiny_backbone)))
    assert "not reached" in shown  # nobody is right more often than always
    assert "2 of 2" in shown
    draw(suite.shown(tiny, store, str(tiny_backbone), "race"), suite.pictures["race"].painter, tmp_path / "a.svg")
    assert "minutes a seed" in (tmp_path / "a.svg").read_text(encoding="utf-8")


def test_a_race_of_another_backbone_is_neither_shown_nor_overwritten(tiny, tiny_backbone, data, tmp_path):
    options = Options(tmp_path / "results", str(tiny_backbone), data, say=lambda text: None)
    Race().run(tiny, options)
    assert Race().progress(tiny, Store(tmp_path / "results"), "minilm") == (0, 4)
    with pytest.raises(DataError, match=r"holds a race of the backbone tiny-bert\. Choose another --results"):
        Race().run(tiny, replace(options, backbone="minilm"))


@pytest.mark.parametrize("other", ["steps = 4", "data = { mine = 3 }"])
def test_a_race_of_other_settings_or_texts_is_neither_shown_nor_overwritten(tiny, tiny_backbone, data, tmp_path, other):
    options = Options(tmp_path / "results", str(tiny_backbone), data, say=lambda text: None)
    Race().run(tiny, options)
    changed = {"steps = 4": "steps = 6", "data = { mine = 3 }": "data = { mine = 4 }"}
    (tmp_path / "other.toml").write_text(TINY.replace(other, changed[other]))
    race = load(tmp_path / "other.toml")
    assert Race().progress(race, Store(tmp_path / "results"), str(tiny_backbone)) == (0, 4)
    with pytest.raises(DataError, match=r"holds a race of other settings or texts\. Choose another --results"):
        Race().run(race, options)


def test_a_race_on_what_has_no_dev_part_is_refused(tmp_path, tiny_backbone):
    (tmp_path / "demo.toml").write_text(TINY.replace("mine", "demo"))
    with pytest.raises(DataError, match="accuracy on dev"):
        Race().run(load(tmp_path / "demo.toml"), Options(tmp_path / "results", str(tiny_backbone)))


def test_after_the_time_nothing_new_is_started(tiny, tiny_backbone, data, tmp_path):
    said: list[str] = []
    options = Options(tmp_path / "results", str(tiny_backbone), data, seconds=-1.0, say=said.append)
    Race().run(tiny, options)
    assert all(line.startswith("Time is up") for line in said)
    assert Race().progress(tiny, Store(tmp_path / "results"), str(tiny_backbone)) == (0, 4)


def test_a_run_that_is_under_way_when_the_time_is_up_ends_there_and_is_run_again_later(
    tiny, tiny_backbone, data, tmp_path, monkeypatch
):
    """The first evaluation, after two of four steps, is the last; what was found by then is shown as such."""
    said: list[str] = []
    options = Options(tmp_path / "results", str(tiny_backbone), data, say=said.append, only=["plain"])
    store, path = Store(tmp_path / "results"), "race/cpu/plain/seed-0.json"
    monkeypatch.setattr(race, "time", Timed(after=1))
    Race().run(tiny, replace(options, seconds=0.5))
    stopped = store.read(path)
    assert stopped is not None
    assert [step for _, step, _ in stopped["course"]] == [2]
    assert said[0].startswith("plain, seed 0: stopped after 2 steps and ")
    assert said[1].startswith("Time is up")
    assert "| stopped |" in markdown(Race().tables(tiny, store, str(tiny_backbone)))
    assert "more than 2" in markdown(Race().tables(tiny, store, str(tiny_backbone)))
    monkeypatch.undo()
    Race().run(tiny, options)
    finished = store.read(path)
    assert finished is not None
    assert finished["steps"] == 4
    assert "stopped" not in markdown(Race().tables(tiny, store, str(tiny_backbone)))


def test_seeds_in_processes_of_their_own_are_timed_as_one(tiny, tiny_backbone, data, tmp_path):
    """Each comes to what it comes to alone; the time a seed is that of all over their number."""
    options = Options(tmp_path / "turns", str(tiny_backbone), data, say=lambda text: None, only=["plain"])
    Race().run(tiny, options)
    tiny.options["processes"] = ["plain"]
    Race().run(tiny, replace(options, results=tmp_path / "processes"))
    stores = [Store(tmp_path / name) for name in ("turns", "processes")]
    turns, processes = ([s.read(f"race/cpu/plain/seed-{seed}.json") or {} for seed in (0, 1)] for s in stores)
    assert [r["side_by_side"] for r in (*turns, *processes)] == [1, 1, 2, 2]
    for alone, beside in zip(turns, processes, strict=True):
        assert beside["scores"] == alone["scores"]
        assert [point[1:] for point in beside["course"]] == [point[1:] for point in alone["course"]]
    assert to_the_end(processes) == pytest.approx(max(r["seconds"] for r in processes) / 60 / 2)


def test_a_stack_that_is_under_way_when_the_time_is_up_leaves_its_courses(
    tiny, tiny_backbone, data, tmp_path, monkeypatch
):
    options = Options(tmp_path / "results", str(tiny_backbone), data, say=lambda text: None, only=["paper"])
    store = Store(tmp_path / "results")
    monkeypatch.setattr(race, "time", Timed(after=2))
    Race().run(tiny, replace(options, seconds=0.5))
    stopped = store.read("race/cpu/paper/seed-0.json")
    assert stopped is not None
    assert [step for _, step, _ in stopped["course"]] == [2]
    assert stopped["side_by_side"] == 2
    assert "| stopped |" in markdown(Race().tables(tiny, store, str(tiny_backbone)))
    monkeypatch.undo()
    Race().run(tiny, options)
    assert Race().progress(tiny, store, str(tiny_backbone)) == (2, 4)


class Timed:
    """A clock that is a second later at each look after so many."""

    def __init__(self, after):
        self.looks, self.after = 0, after
        self.perf_counter = time.perf_counter

    def monotonic(self):
        self.looks += 1
        return float(max(0, self.looks - self.after - 1))


def test_without_its_data_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("jointmatch.benchmark.race.why_absent", lambda name, folder: f"no {name}")
    with pytest.raises(DataError, match="no ag_news"):
        Race().run(load("race"), Options(tmp_path))


@pytest.mark.parametrize(
    ("asked", "refused"),
    [
        ({"jobs": 2}, "--jobs"),
        ({"together": 1}, "--together"),
        ({"compiled": True}, "--compiled"),
        ({"compiled": False}, "--not-compiled"),
    ],
)
def test_seeds_run_as_the_file_says_and_not_otherwise(tmp_path, asked, refused):
    with pytest.raises(InputError, match=rf"race is timed, .* run at once, and how: no {refused}\."):
        Race().run(load("race"), Options(tmp_path, **asked))
    assert not list(tmp_path.iterdir())


def test_the_shipped_one_compares_the_published_way_with_the_same_updates_and_others():
    shipped = load("race")
    rows = Race()._rows(shipped, "auto", [])
    updates = {name: cells[0].settings["training"]["update"] for name, cells in rows.items()}
    joint = dict.fromkeys(("paper", "skipping", "best"), "joint")
    assert updates == {"plain": "alternating", "same": "alternating", **joint}
    assert {*shipped.options["together"]} == {*updates} - {"plain"}
