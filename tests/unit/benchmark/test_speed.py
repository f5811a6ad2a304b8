"""The speed suite: what is measured, how it is reckoned, and that nothing is measured twice."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from jointmatch.benchmark import load
from jointmatch.benchmark.drawing import draw
from jointmatch.benchmark.formats import markdown
from jointmatch.benchmark.speed import WAYS, Load, _flops_per_step, measure
from jointmatch.benchmark.speed_figures import draw_growth, draw_ways
from jointmatch.benchmark.speed_suite import Speed, compile_ahead
from jointmatch.benchmark.store import Store
from jointmatch.benchmark.suite import Options
from jointmatch.benchmark.suites import suite_of
from jointmatch.errors import ConfigError, InputError, UnknownNameError

TINY = """
extends = "speed"
[options]
shapes = ["tiny"]
ways = ["published", "apart", "stacked"]
ours = "stacked"
compared = [{}]
beside = [{ algorithm = "fixmatch", networks = 1 }, { seeds = 2 }]
usual = { batch = 4, mu = 2, length = 12, pool = 40 }
steps = { other = 3 }
[options.grow]
mu = [1, 2]
"""
CPU = torch.device("cpu")


@pytest.fixture
def tiny(tmp_path):
    (tmp_path / "tiny.toml").write_text(TINY)
    return load(str(tmp_path / "tiny.toml"))


def test_every_load_is_measured_once_and_shown(tiny, tmp_path):
    """Three ways, two beside them, and mu 1; mu 2 is what the stacked way has."""
    said: list[str] = []
    options = Options(tmp_path / "results", say=said.append)
    suite, store = suite_of(tiny), Store(tmp_path / "results")
    assert suite.progress(tiny, store, "auto") == (0, 6)
    suite.run(tiny, options)
    assert len(said) == 6
    assert suite.progress(tiny, store, "auto") == (6, 6)
    suite.run(tiny, options)
    assert len(said) == 6
    shown = markdown(suite.tables(tiny, store, "auto"))
    assert "not run" not in shown
    assert "One outer step, cpu" in shown
    assert "tiny, ms per step by mu" in shown


def test_a_way_that_there_is_none_of_is_an_error(tiny, tmp_path):
    with pytest.raises(UnknownNameError, match=r"no way 'stakced'. Known: published, apart, stacked"):
        Speed().run(tiny, Options(tmp_path, only=["stakced"]))


def test_ratios_are_of_milliseconds_per_step_and_seed(tiny, tmp_path):
    """100 ms published, 40 apart; two seeds in 25 ms, 12.5 each: 8.0 and 3.2 times. 50 of 200 TFLOP/s are 25 %."""
    store = Store(tmp_path)
    names = {"published": (100.0, 1), "apart": (40.0, 1), "seeds": (25.0, 2)}
    for one in Speed()._loads(tiny):
        ms, seeds = (
            names["seeds" if one.seeds == 2 else one.way] if one.way != "stacked" or one.seeds == 2 else (50.0, 1)
        )
        found = {"ms_per_step": ms, "ms_per_step_and_seed": ms / seeds, "texts_per_second": 1.0, "tflops": 50.0}
        rest = {"peak_memory_gib": 1.5, "peak_tflops": 200.0, "device": "Some GPU"}
        store.write(f"speed/some-gpu/{one.name}.json", {"name": one.name, **found, **rest})
    ways = Speed().shown(tiny, store, "auto", "ways")
    assert ways[0]["bars"][0] == [WAYS["published"].title, 100.0, 1.0]
    assert ways[0]["bars"][-1] == [f"{WAYS['stacked'].title} (seeds 2)", 12.5, 8.0]
    assert ways[0]["bars"][-2] == [f"{WAYS['stacked'].title} (algorithm fixmatch, networks 1)", 50.0, None]
    assert Speed().shown(tiny, store, "auto", "growth") == [
        {"axis": "mu", "device": "Some GPU", "lines": {f"tiny: {WAYS['stacked'].title}": [[1, 50.0], [2, 50.0]]}}
    ]
    shown = markdown(Speed().tables(tiny, store, "auto", "ways"))
    assert "(seeds 2) | 12.50 | 8.0 | 3.2 | 1 | 50.0 | 25 % | 1.5 GiB |" in shown
    assert "(algorithm fixmatch, networks 1) | 50.00 |  |  | 1 |" in shown  # nothing that does the same was measured
    assert "Measured on Some GPU; its largest bf16 product reaches 200 TFLOP/s." in shown


def test_growth_shows_other_ways_where_more_than_the_usual_load_was_timed(tiny, tmp_path):
    """Of the apart way mu 1 was timed besides, though nobody asks for it; of the published way only mu 2, the usual."""
    suite, store = Speed(), Store(tmp_path)
    usual = {load.way: load for load in suite._loads(tiny) if (load.mu, load.seeds, load.networks) == (2, 1, 2)}
    timed = {usual["published"]: 90.0, usual["apart"]: 40.0, replace(usual["apart"], mu=1): 30.0}
    for one, ms in timed.items():
        store.write(f"speed/some-gpu/{one.name}.json", {"name": one.name, "ms_per_step": ms, "device": "Some GPU"})
    (table,) = suite.tables(tiny, store, "auto", "growth")
    assert table.rows == [[WAYS["apart"].title, "30.0", "40.0"], [WAYS["stacked"].title, "not run", "not run"]]
    assert suite.progress(tiny, store, "auto") == (2, 6)
    (panel,) = suite.shown(tiny, store, "auto", "growth")
    assert panel["lines"] == {f"tiny: {WAYS['apart'].title}": [[1, 30.0], [2, 40.0]]}


@pytest.mark.parametrize("kind", sorted(Speed.pictures))
def test_pictures_show_what_was_measured_and_nothing_before(tiny, tmp_path, kind):
    pytest.importorskip("matplotlib")
    suite, store = Speed(), Store(tmp_path)
    assert suite.shown(tiny, store, "auto", kind) == []
    for one in suite._loads(tiny):
        found = {"ms_per_step": 7.5, "ms_per_step_and_seed": 7.5, "device": "Some GPU"}
        store.write(f"speed/some-gpu/{one.name}.json", {"name": one.name, **found})
    draw(suite.shown(tiny, store, "auto", kind), suite.pictures[kind].painter, tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "Some GPU" in text
    assert "tiny" in text
    assert ("7.5 ms" in text) == (kind == "ways")


def test_floating_point_operations_are_counted_by_hand():
    """Width 16, inner 32, two layers, texts of 10 tokens.

    A token's products are 2 (4 * 256 + 2 * 512) = 4,096 a layer, and 4 * 10 * 16 = 640 for attention: 9,472 in all. Two
    labelled and four unlabelled texts: four weak ones and three times six learnt from are 22 texts, 220 tokens, of two
    networks: 4,167,680.
    """
    assert _flops_per_step(Load("tiny", batch=2, mu=2), np.array([10, 10])) == 4_167_680


def test_attention_is_counted_by_pairs_of_tokens_in_each_text():
    """Texts of 5 and 15 tokens have 10 on average, and 125 pairs instead of 100: 2 * 4 * 16 * 25 more a text, of 44."""
    more = _flops_per_step(Load("tiny", batch=2, mu=2), np.array([5, 15])) - 4_167_680
    assert more == 2 * 4 * 16 * 25 * 44


def test_names_are_of_what_is_unusual():
    assert Load().name == "minilm_stacked"
    assert Load("tiny", "apart", mu=3, seeds=5).name == "tiny_apart_seeds-5_mu-3"


@pytest.mark.parametrize("way", list(WAYS))
def test_every_way_trains(way):
    found = measure(Load("tiny", way, batch=2, mu=2, length=8, shortest=3, pool=12), CPU, 3)
    assert found["ms_per_step"] > 0
    assert found["tokens_per_text"] < 8
    assert found["first_steps_seconds"] > 0


@pytest.mark.parametrize(("way", "told"), [("apart", True), ("published", False)])
def test_a_device_without_bf16_is_told_of_by_the_ways_that_want_it(monkeypatch, way, told):
    monkeypatch.setattr("jointmatch.training.full.has_bf16", lambda device: False)
    notes = measure(Load("tiny", way, batch=2, mu=2, length=8, pool=12), CPU, 3)["notes"]
    assert any("has no bf16" in note for note in notes) is told


def test_each_size_is_compiled_ahead_once():
    """Two networks with two seeds are four; the pool changes nothing, length does; other ways are not compiled."""
    usual = Load("tiny", "compiled", batch=2, mu=1, length=8, pool=8)
    odd: list[dict[str, Any]] = [
        {},
        {"pool": 9},
        {"length": 12},
        {"seeds": 2},
        {"networks": 4},
        {"networks": 3, "way": "stacked"},
    ]
    loads = [replace(usual, **own) for own in odd]
    assert compile_ahead(loads, jobs=1, say=print) == 3
    assert compile_ahead(loads[:1], jobs=2, say=print) == 1  # in a process of its own


def test_what_cannot_be_compiled_ahead_stops_nothing():
    """Twelve that compile at once may not fit into a GPU of which each alone takes half."""
    said: list[str] = []
    unknown = Load("tiny", "compiled", batch=2, mu=1, length=8, pool=8)
    object.__setattr__(unknown, "algorithm", "no such rule")  # for a fault of the other process: one here is refused
    assert compile_ahead([unknown], jobs=2, say=said.append) == 1
    assert len(said) == 1
    assert said[0].startswith(f"{unknown.name} is not compiled ahead: Unknown algorithm")


def test_texts_of_different_lengths_are_held_against_the_same_texts(tmp_path):
    (tmp_path / "ragged.toml").write_text(TINY.replace("compared = [{}]", "compared = [{}, { shortest = 5 }]"))
    ragged, store = load(str(tmp_path / "ragged.toml")), Store(tmp_path)
    for number, one in enumerate(Speed()._loads(ragged)):
        ms = {"published": 90.0, "apart": 45.0}.get(one.way, 9.0) / (3.0 if one.shortest else 1.0)
        found = {"ms_per_step": ms, "ms_per_step_and_seed": ms, "texts_per_second": 1.0, "tflops": 50.0}
        rest = {"peak_memory_gib": 1.5, "peak_tflops": 200.0 + number, "device": "Some GPU"}
        notes = {"notes": ["Something is slower."]} if one.way == "apart" else {}
        store.write(f"speed/some-gpu/{one.name}.json", {"name": one.name, **found, **rest, **notes})
    shown = markdown(Speed().tables(ragged, store, "auto", "ways"))
    assert "stacked, replayed (texts of 5 tokens and more) | 3.00 | 10.0 | 5.0 |" in shown
    assert "reaches 200 to 208 TFLOP/s" in shown
    assert "tiny, networks apart, bf16, one update: Something is slower." in shown


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ('shapes = ["tny"]', "options.shapes has 'tny'. Did you mean 'tiny'?"),
        ("shapes = [3]", "options.shapes has 3. Known: tiny,"),
        ("shapes = []", "options.shapes is [], wanted a list of shapes, such as"),
        ("ways = []", "1 setting is wrong:\n  - wrong: options.ways is [], wanted a list of ways, such as"),
        ('shapes = "tiny"', "options.shapes is 'tiny', wanted a list of shapes, such as"),
        ('ways = ["stacked", "published", "apert"]', "options.ways has 'apert'. Did you mean 'apart'?"),
        ('ours = "staked"', "options.ours has 'staked'. Did you mean 'stacked'? Known: published, apart, stacked."),
        ('ours = "fused"', "options.ours has 'fused'. Known: published, apart, stacked."),
        ("usual = { batch = 0, mu = 2 }", "options.usual: load.batch is 0, wanted a number at least 1"),
        ('usual = { batch = "8" }', "options.usual: load.batch is '8', wanted a whole number at least 1"),
        ("usual = { length = 900 }", "load.length is 900, wanted a number from 1 to 512"),
        ("usual = { length = 20, shortest = 30 }", "load.shortest is 30, wanted at most length, which is 20"),
        ('usual = { length = "x" }', "load.length is 'x', wanted a whole number from 1 to 512"),
        ("usual = { lenght = 20 }", "options.usual: a load has no 'lenght'. Did you mean 'length'?"),
        ("usual = { dropout = 2.0 }", "load.dropout is 2.0, wanted a number from 0 to 1"),
        ('usual = { dropout = "x" }', "load.dropout is 'x', wanted a number from 0 to 1"),
        ("usual = { shape = [1] }", "load.shape is [1], wanted text"),
        ("compared = [3]", "options.compared has 3, wanted a table, such as { seeds = 5 }"),
        ('compared = [{ way = "fused" }]', "options.compared has the way 'fused', which is not in options.ways"),
        (
            'beside = [{ algorithm = "fixmach" }]',
            "options.beside: unknown algorithm 'fixmach'. Did you mean 'fixmatch'?",
        ),
        ("beside = 3", "options.beside is 3, wanted a list of loads, such as"),
        ('steps = { other = "x" }', "options.steps.other is 'x', wanted a whole number at least 1"),
        ("steps = { other = 0 }", "options.steps.other is 0, wanted a whole number at least 1"),
        ("steps = { publishd = 3 }", "options.steps has 'publishd'. Did you mean 'published'?"),
        ("steps = 3", "options.steps is 3, wanted a number for each way, such as"),
        ("mu = 3", "options.grow.mu is 3, wanted a list of numbers, such as [1, 2]"),
        ("mu = []", "options.grow.mu is [], wanted a list of numbers, such as [1, 2]"),
        ("mu = [1, 0]", "options.grow: load.mu is 0, wanted a number at least 1"),
        ("mu = [1]\nmuu = [1]", "options.grow has 'muu'. Did you mean 'mu'? Known: networks, seeds, mu, length, pool."),
        ("ours = 'stacked'\nour = 'stacked'", "options has 'our'. Did you mean 'ours'? Known: shapes,"),
    ],
)
def test_what_cannot_be_measured_is_said_when_the_file_is_read(tmp_path, wrong, said):
    key = wrong.partition(" =")[0]
    lines = [wrong if line.startswith(f"{key} =") else line for line in TINY.splitlines()]
    (tmp_path / "wrong.toml").write_text("\n".join(lines))
    with pytest.raises(ConfigError, match=r"wrong: options") as error:
        load(str(tmp_path / "wrong.toml"))
    assert said in str(error.value)


def test_all_that_is_wrong_with_loads_is_said_at_once(tmp_path):
    (tmp_path / "wrong.toml").write_text(TINY.replace("seeds = 2", "seeds = 0").replace("mu = [1, 2]", "pool = [0]"))
    with pytest.raises(ConfigError) as error:
        load(str(tmp_path / "wrong.toml"))
    assert [fault.split(": ")[1] for fault in error.value.faults] == ["options.beside", "options.grow"]


def test_it_is_said_where_layers_could_not_be_compiled():
    found = measure(Load("tiny", "compiled", batch=2, mu=1, length=8, pool=8), CPU, 1, 1)
    assert found["notes"] == ["Layers are not compiled: it pays on a GPU only, and this is cpu."]


def test_what_the_suite_cannot_do_is_said(tiny, tmp_path):
    said: list[str] = []
    Speed().run(tiny, Options(tmp_path, seconds=-1, say=said.append))
    assert said == ["The time is up: 6 of 6 loads are left."]


@pytest.mark.parametrize(
    ("seeds", "asked", "said"),
    [
        ([], {"backbone": "bert-base-uncased"}, "no --backbone."),
        ([0, 1, 2], {}, "no --seeds."),
        ([], {"together": 2}, "no --together."),
        ([], {"compiled": False}, "no --not-compiled."),
        ([0], {"backbone": "minilm", "together": 1}, "no --backbone, --seeds, --together."),
    ],
)
def test_what_would_change_nothing_is_refused(tiny, tmp_path, seeds, asked, said):
    with pytest.raises(InputError, match=r"tiny times random networks of its own shapes \(tiny\)") as error:
        Speed().run(replace(tiny, seeds=seeds), Options(tmp_path, **asked))
    assert str(error.value).endswith(said)


def test_a_time_that_never_comes_is_refused(tmp_path):
    with pytest.raises(InputError, match="--seconds is nan, wanted a number"):
        Options(tmp_path, seconds=float("nan"))


def test_ways_are_chosen_by_pattern_too(tiny, tmp_path):
    said: list[str] = []
    Speed().run(tiny, Options(tmp_path, only=["publ*", "apart"], say=said.append))
    assert [text.split("_")[1] for text in said] == ["published", "apart"]


def test_the_shipped_one_compares_with_the_published_way_and_grows_every_axis():
    shipped = load("speed")
    loads = Speed()._loads(shipped)
    assert {one.way for one in loads} == set(WAYS) - {"apart_fp32", "stacked_fp32"}  # which a CPU is timed by
    assert len({one.name for one in loads}) == len(loads)
    assert set(shipped.options["grow"]) == {"networks", "seeds", "mu", "length", "pool"}
    assert Path(shipped.name).stem == "speed"


def test_a_shape_that_the_first_panel_lacks_is_in_the_legend_and_looks_the_same_everywhere():
    figure = pytest.importorskip("matplotlib.figure").Figure(layout="constrained")
    both = {"large": [[1, 9.0], [2, 12.0]], "small": [[1, 3.0], [2, 4.0]]}
    shown = [
        {"axis": "networks", "device": "Some GPU", "lines": {"large": both["large"]}},
        {"axis": "seeds", "device": "Some GPU", "lines": {"small": both["small"]}},
        {"axis": "mu", "device": "Some GPU", "lines": both},
    ]
    draw_growth(figure, shown)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["large", "small"]
    alone, beside = figure.axes[1].lines[0], figure.axes[2].lines[1]
    assert (alone.get_color(), alone.get_marker()) == (beside.get_color(), beside.get_marker())


def test_a_way_has_one_colour_whatever_is_trained_by_it():
    figure = pytest.importorskip("matplotlib.figure").Figure(layout="constrained")
    bars = [["plain", 9.0, 1.0], ["ours", 3.0, 3.0], ["plain (mu 1)", 8.0, 1.0], ["ours (mu 1)", 2.0, 4.0]]
    draw_ways(figure, [{"shape": "small", "device": "Some GPU", "bars": bars}])
    colours = [patch.get_facecolor() for patch in figure.axes[0].patches]
    assert colours[0] == colours[2] != colours[1] == colours[3]


def test_no_data_set_can_be_chosen_of_what_has_none():
    with pytest.raises(
        UnknownNameError, match=r"speed has no data set 'imdb'\. It has none at all: leave --dataset out\."
    ):
        load("speed").on_sets(["imdb"])
