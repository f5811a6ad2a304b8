"""What a cell is found by: everything its numbers depend on, and nothing else."""

import shutil
from dataclasses import replace

import pytest

from jointmatch import config, resolve
from jointmatch.benchmark import Store, cell, load
from jointmatch.benchmark.cell import all_cells, cells_of
from jointmatch.errors import ConfigError
from tests.unit.benchmark.conftest import record_of

PLAIN = """
data = { ag_news = 10 }
seeds = 2
settings.training = { mode = "lite", steps = 20 }
variants.a.algorithm.tau = 0.8
"""


def first(experiment, row="a"):
    return cells_of(experiment, row, "ag_news", 10)[0]


@pytest.mark.parametrize(
    "text",
    [
        'title = "Other words"\nsort = true\n' + PLAIN,
        PLAIN.replace("seeds = 2", "seeds = 5"),
        PLAIN.replace("variants.a", "variants.renamed"),
        PLAIN + "variants.b.algorithm.tau = 0.9\n",
        PLAIN + "variants.a.training.recipe = 'best'\n",  # the default, said
        PLAIN + "variants.a.network.count = 2\n",  # as many as JointMatch trains anyway
        PLAIN + "variants.a.algorithm.alignment = 'none'\n",  # the algorithm's own default, said
        PLAIN + "variants.a.training.device = 'cpu'\n",
        PLAIN + "variants.a.network.stacked = 'auto'\n",
        PLAIN + "variants.a.network.cut = 'auto'\n",  # the recipe's, said
        "settings.algorithm.tau = 0.8\n" + PLAIN.replace("variants.a.algorithm.tau = 0.8", "variants.a = {}"),
    ],
)
def test_wording_order_and_what_does_not_matter_lose_no_cell(written, text):
    other = written(text, "other")
    assert first(other, next(iter(other.variants))).path == first(written(PLAIN)).path


@pytest.mark.parametrize(
    "more",
    [
        "variants.a.algorithm.delta = 0.7",
        "variants.a.algorithm.name = 'fixmatch'",
        "variants.a.training.learning_rate = 1e-3",
        "variants.a.training.recipe = 'paper'",
        "variants.a.network.max_length = 64",
        "variants.a.network.cut = 'end'",
        "variants.a.network.cut = 'middle'",
        "variants.a.augment.weak = 'swap:0.1'",
        "imbalance = 10",
    ],
)
def test_another_setting_is_another_cell(written, more):
    line = more + "\n"
    text = line + PLAIN if more.startswith("imbalance") else PLAIN + line
    assert first(written(text, "other")).key != first(written(PLAIN)).key


def test_seeds_of_a_row_lie_in_one_folder(written):
    paths = [cell.path for cell in cells_of(written(PLAIN), "a", "ag_news", 10)]
    assert [path.rsplit("/", 1)[1] for path in paths] == ["seed-0.json", "seed-1.json"]
    assert len({path.rsplit("/", 1)[0] for path in paths}) == 1
    assert paths[0].startswith("ag_news-10/jointmatch-best-lite-")


def test_a_backbone_is_known_by_its_content_wherever_it_lies(written, tiny_backbone, tmp_path):
    shutil.copytree(tiny_backbone, tmp_path / "elsewhere")
    experiment = written(PLAIN)
    here, there = (
        cells_of(experiment, "a", "ag_news", 10, str(folder))[0] for folder in (tiny_backbone, tmp_path / "elsewhere")
    )
    assert here.key == there.key
    assert here.key != first(experiment).key


def test_a_backbone_in_a_folder_needs_no_embedded_one(written, tiny_backbone, monkeypatch):
    monkeypatch.setattr("jointmatch.networks.backbones.EMBEDDED", {"minilm": ("no_such_module", "no-such-package")})
    cell._said_since.cache_clear()
    found = cells_of(written(PLAIN), "a", "ag_news", 10, str(tiny_backbone))
    assert found[0].path.startswith("ag_news-10/jointmatch-")


def test_the_recipes_lite_part_counts_where_heads_start_warm(written, monkeypatch):
    """In full mode under recipe best, heads are first trained by the recipe's lite settings."""
    experiment = written(PLAIN.replace('"lite"', '"full"').replace("variants.a.algorithm.tau = 0.8", "variants.a = {}"))
    before = first(experiment)
    recipe = config.recipe

    def changed(name, mode, algorithm="jointmatch"):
        more = {"training": {"learning_rate": 9e-3}} if mode == "lite" else {}
        return config.merge(recipe(name, mode, algorithm), more)

    monkeypatch.setattr(resolve.config, "recipe", changed)
    assert first(experiment).key != before.key


def test_a_setting_added_later_keeps_old_records_and_a_changed_default_does_not(written, tmp_path):
    store, cell = Store(tmp_path), first(written(PLAIN))
    record = record_of(cell, 0.9)
    older = {k: dict(v) for k, v in cell.settings.items()}
    del older["training"]["warmup_steps"]  # as if the setting had not been there
    assert replace(cell, settings=older).key == cell.key
    store.write(cell.path, {**record, "settings": older})
    assert store.find(cell) is not None
    older["training"]["warmup_steps"] = 100  # as if that had been the default
    store.write(cell.path, {**record, "settings": older})
    assert store.find(cell) is None


def test_a_search_takes_a_finished_cell_but_a_table_wants_one_with_test_scores(written, tmp_path):
    store, cell = Store(tmp_path), first(written(PLAIN))
    store.write(cell.path, record_of(replace(cell, test=False), 0.9))
    assert store.find(cell) is None
    assert store.find(replace(cell, test=False)) is not None


def test_references_are_one_cell_for_every_table_that_shows_them():
    cells = {}
    for name in ("main", "components", "delta", "algorithms"):
        found = [row[0] for row in all_cells(load(name)) if row[0].reference and row[0].data == "ag_news"]
        assert len(found) == 1  # for both references
        cells[name] = found[0].path
    assert len(set(cells.values())) == 1


def test_a_cell_that_rows_share_is_the_first_ones_that_is_asked_for(written):
    found = written('references = ["supervised", "label_spreading"]\n' + PLAIN + "variants.b.algorithm.tau = 0.8\n")
    assert [row[0].row for row in all_cells(found)] == ["a", "supervised"]
    assert [row[0].row for row in all_cells(found, only=["b", "label_spreading"])] == ["b", "label_spreading"]


def test_tables_share_the_cells_they_have_in_common():
    """JointMatch under the paper's recipe is in the main table, the parts, and each grid at its own value."""
    places = [("main", "jointmatch, recipe paper"), ("components", "jointmatch, recipe paper")]
    places += [("delta", "delta 0.9"), ("lambda", "momentum 0.9"), ("tau", "tau 0.98"), ("mu", "mu 10")]
    places += [("figures", "jointmatch, recipe paper")]
    assert len({first(load(name), row).path for name, row in places}) == 1


def test_lambda_one_is_not_the_same_cell_as_a_fixed_threshold():
    """They are the same rule, which the two numbers can show."""
    assert first(load("lambda"), "momentum 1.0").key != first(load("components"), "fixed threshold").key


def test_views_are_never_stood_in_for(written):
    assert first(written(PLAIN + "variants.a.augment.fallback = 'swap:0.1'\n")).asked["augment"]["fallback"] == ""


def test_a_fault_in_a_variants_settings_names_the_variant(written):
    with pytest.raises(ConfigError, match=r"mine, a, ag_news: .*tau"):
        first(written(PLAIN.replace("0.8", "8")))


def test_faults_of_all_variants_are_raised_together_each_once(written):
    variants = "{ a.algorithm.tau = 8, b.training.steps = -1, c.algorithm.tau = 8 }"
    wrong = f"data = {{ ag_news = 10, imdb = 10 }}\nvariants = {variants}"
    with pytest.raises(ConfigError) as error:
        list(all_cells(written(wrong)))
    assert [fault.split(": ")[0] for fault in error.value.faults] == ["mine, a, ag_news", "mine, b, ag_news"]


def test_a_cell_with_a_word_reader_names_the_cell_of_its_networks():
    main = load("main")
    with_words, alone = (first(main, row) for row in ("jointmatch, and words", "jointmatch"))
    assert with_words.path != alone.path
    networks = with_words.without_words()
    assert networks is not None
    assert networks.path == alone.path
    assert networks.settings == alone.settings
    assert networks.asked["network"]["word_reader"] is False
    assert alone.without_words() is None
