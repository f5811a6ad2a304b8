"""Tables: ours beside the paper's, what was not run, leads with their interval; Markdown, CSV and LaTeX."""

import csv
import io
import json

import pytest

from jointmatch.benchmark import Results, Store
from jointmatch.benchmark.cell import cells_of
from jointmatch.benchmark.formats import Section, as_csv, latex, markdown
from jointmatch.benchmark.outcome import pseudo_labels
from jointmatch.benchmark.results import Entry, done_and_wanted
from jointmatch.benchmark.table import crossed, notes, sections
from jointmatch.benchmark.verdicts import OPEN, OTHER, SAME, claims, verdict_table
from tests.unit.benchmark.conftest import keep, record_of

TEXT = """
data = { ag_news = 10 }
seeds = 3
against = "ours"
references = ["label_spreading"]
settings.training.mode = "lite"
[variants.theirs]
title = "Theirs"
algorithm.name = "fixmatch"
paper.ag_news.10 = { accuracy = [80.2, 2.4], macro_f1 = [79, 2] }
[variants.ours]
title = "Ours"
paper.ag_news.10 = { accuracy = [87.7, 0.5] }
[variants.other]
title = "Other_one"
algorithm.name = "sat"
"""


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results")


def test_a_table_has_mean_spread_papers_number_lead_and_seeds(written, store):
    """Ours 0.86, 0.88: mean 87, population deviation 1. Theirs 0.80, 0.81 (two of three seeds): 80.5 +- 0.5.
    Differences 6, 7: mean 6.5, s 0.7071, error 0.5, t(1) = 12.706: 6.5 +- 6.353. All in points."""
    experiment = written(TEXT)
    keep(store, experiment, "ours", [0.86, 0.88, 0.87])
    keep(store, experiment, "theirs", [0.80, 0.81])
    (table,) = sections(Results(experiment, store))
    assert markdown([table]) == (
        "**AG News**\n\n"
        "| test, 10 labels per class | accuracy | macro-F1 | paper: accuracy | paper: macro-F1 "
        "| Ours ahead by | seeds |\n"
        "|---|---|---|---|---|---|---|\n"
        "| Theirs | 80.50 ± 0.50 | 79.50 ± 0.50 | 80.20 ± 2.4 | 79.00 ± 2.0 | +6.50 [+0.15, +12.85], n 2 | 2 of 3 |\n"
        "| Ours | 87.00 ± 0.82 | 86.00 ± 0.82 | 87.70 ± 0.5 |  |  | 3 |\n"
        "| Other_one | not run | not run |  |  |  | 0 of 3 |\n"
        "| label spreading | not run | not run |  |  |  | 0 of 3 |\n"
        "\n"
        "Backbone minilm; made on cpu. The paper's numbers are with BERT-base."
    )


def test_each_table_names_the_machines_of_its_own_numbers(written, store):
    experiment = written(TEXT.replace("ag_news = 10 }", "ag_news = 10, imdb = 10 }", 1))
    keep(store, experiment, "ours", [0.86])
    (cell, *_) = cells_of(experiment, "ours", "imdb", 10)
    store.write(cell.path, record_of(cell, 0.7, hardware={"device": "NVIDIA H200"}))
    first, second = sections(Results(experiment, store))
    assert "made on cpu." in markdown([first])
    assert "made on NVIDIA H200." in markdown([second])


@pytest.mark.parametrize(
    ("training", "steps", "named"),
    [
        ({"mode": "full", "warm_start": True}, [100, 200], True),
        ({"mode": "full", "warm_start": True}, [0, 100, 200], False),
        ({"mode": "full", "warm_start": False}, [100, 200], False),
        ({"mode": "lite", "warm_start": True}, [100, 200], False),
    ],
)
def test_a_row_whose_warm_start_could_not_be_kept_is_named(training, steps, named):
    record = {"settings": {"training": training}, "history": {"step": steps}, "hardware": {"device": "cpu"}}
    other = {"settings": {"training": {"mode": "lite"}}, "hardware": {"device": "cpu"}}
    entries = [Entry(title, title, "ag_news", 10, 1, [own]) for title, own in (("Ours", record), ("Theirs", other))]
    assert ("first scored after some steps: Ours." in " ".join(notes(entries))) is named


def test_rows_that_kept_their_start_are_named_with_how_many_of_their_runs_did():
    warm = {"settings": {"training": {"mode": "full", "warm_start": True}}, "hardware": {"device": "cpu"}}
    cold = {"settings": {"training": {"mode": "full"}}, "hardware": {"device": "cpu"}, "kept_step": 0}
    runs = {"Ours": [warm | {"kept_step": 0}, warm | {"kept_step": 100}, warm], "Theirs": [cold]}
    entries = [Entry(title, title, "ag_news", 10, 3, own) for title, own in runs.items()]
    said = "Runs that kept the heads on frozen features they start with, as no step was better on dev: Ours (1 of 3)."
    assert said in notes(entries)
    assert not any("start" in line for line in notes(entries[1:]))


def test_a_difference_that_may_be_none_is_called_so(written, store):
    experiment = written(TEXT)
    keep(store, experiment, "ours", [0.86, 0.88, 0.87])
    keep(store, experiment, "theirs", [0.87, 0.86, 0.87])
    assert "n 3, not distinguishable" in markdown(sections(Results(experiment, store)))


def test_several_counts_of_labels_are_columns(written, store):
    experiment = written(TEXT.replace("ag_news = 10 }", "ag_news = [5, 10] }", 1))
    keep(store, experiment, "ours", [0.86, 0.88, 0.87])
    keep(store, experiment, "theirs", [0.80, 0.81, 0.82])
    keep(store, experiment, "theirs", [0.5], labels=5)
    accuracy, f1, leads = sections(Results(experiment, store))
    assert list(accuracy.columns) == ["test, labels per class", "5", "10"]
    assert accuracy.rows[0] == [
        "Theirs",
        "50.00, 1 of 3 seeds",
        "81.00 ± 0.82 (paper 80.20 ± 2.4)",
    ]
    assert accuracy.rows[1] == ["Ours", "not run", "87.00 ± 0.82 (paper 87.70 ± 0.5)"]
    assert f1.rows[1][2] == "86.00 ± 0.82"
    assert leads.rows[0][1] == ""
    assert leads.rows[0][2].startswith("+6.00 [")


def test_csv_has_every_number_on_a_line(written, store):
    experiment = written(TEXT)
    keep(store, experiment, "ours", [0.86, 0.88])
    keep(store, experiment, "theirs", [0.80, 0.81])
    lines = list(csv.DictReader(io.StringIO(as_csv(Results(experiment, store)))))
    first = lines[0]
    assert (first["row"], first["metric"], first["mean"], first["std"]) == ("theirs", "accuracy", "80.5", "0.5")
    assert (first["paper"], first["lead"], first["n"], first["distinguishable"]) == ("80.2", "6.5", "2", "True")
    assert [line["mean"] for line in lines if line["row"] == "other"] == ["", ""]


def test_one_seed_is_shown_without_a_spread_in_every_format(written, store):
    """A spread of one value would always be 0; two equal ones do have a spread of 0."""
    experiment = written(TEXT)
    keep(store, experiment, "ours", [0.86])
    keep(store, experiment, "theirs", [0.80, 0.80])
    results = Results(experiment, store)
    assert "| Ours | 86.00 | 85.00 |" in markdown(sections(results))
    assert "| Theirs | 80.00 ± 0.00 | 79.00 ± 0.00 |" in markdown(sections(results))
    assert "Ours & 86.00 & 85.00 &" in latex(sections(results))
    lines = {line["row"]: line for line in csv.DictReader(io.StringIO(as_csv(results))) if line["metric"] == "accuracy"}
    assert (lines["ours"]["mean"], lines["ours"]["std"], lines["ours"]["seeds"]) == ("86.0", "", "1")
    assert (lines["theirs"]["mean"], lines["theirs"]["std"]) == ("80.0", "0.0")


def test_csv_has_what_further_columns_show(written, store):
    """Two seeds; half of the pool has pseudo-labels, and nine tenths of these are right."""
    experiment = written(
        'columns = ["accuracy", "last", "pseudo_labels"]\nsettings.network.word_reader = false\n' + TEXT
    )
    keep(store, experiment, "ours", [0.86, 0.88], pseudo_labels={"share": 0.5, "accuracy": 0.9})
    lines = list(csv.DictReader(io.StringIO(as_csv(Results(experiment, store)))))
    found = {(line["part"], line["metric"]): line["mean"] for line in lines if line["row"] == "ours"}
    assert list(found)[2:] == [
        ("test", "accuracy of the last step"),
        ("pool", "share with a pseudo-label"),
        ("pool", "pseudo-labels that are right"),
    ]
    assert [found["pool", what] for _, what in list(found)[3:]] == ["50.0", "90.0"]
    assert {line["seeds"] for line in lines if line["row"] == "ours"} == {"2"}


def test_latex_escapes_what_latex_reads(written, store):
    (odd,) = latex([Section("", ["a~b^c\\d<e>"], [])]).splitlines()[4:5]
    assert odd == r"a\textasciitilde{}b\textasciicircum{}c\textbackslash{}d$<$e$>$ \\"
    text = latex(sections(Results(written(TEXT), store)))
    assert r"Other\_one & not run" in text
    assert r"80.20 $\pm$ 2.4" in text
    assert text.count(r"\\") == 5  # the heading and four rows
    assert r"\caption{AG News. The paper's numbers are with BERT-base.}" in text


def test_the_best_comes_first_where_that_is_asked_for_and_what_was_not_run_last(written, store):
    experiment = written("sort = true\n" + TEXT)
    keep(store, experiment, "ours", [0.86])
    keep(store, experiment, "other", [0.96])
    (table,) = sections(Results(experiment, store))
    assert [row[0] for row in table.rows] == ["Other_one", "Ours", "Theirs", "label spreading"]


def test_a_reference_is_read_from_the_baselines_of_its_cell(written, store):
    experiment = written(TEXT)
    keep(store, experiment, "label_spreading", [0.7, 0.7, 0.7])
    entry = Results(experiment, store).entries["label_spreading", "ag_news", 10]
    assert entry.values() == {0: 0.7, 1: 0.7, 2: 0.7}
    assert done_and_wanted(experiment, store) == (3, 12)


def test_a_search_is_shown_on_dev_alone(written, store):
    experiment = written("test = false\n" + TEXT)
    keep(store, experiment, "ours", [0.86])
    (table,) = sections(Results(experiment, store))
    assert table.columns[0] == "dev, 10 labels per class"
    assert table.rows[1][1] == "86.00"


def test_runs_from_before_there_were_cells_are_shown_until_there_is_one(written, store):
    experiment = written(TEXT)
    scores = {"test": {"accuracy": 0.5, "macro_f1": 0.5}}
    run = {"experiment": "mine", "variant": "ours", "data": "ag_news", "labels": 10, "seed": 0, "imbalance": None}
    run |= {"asked": {"training": {"mode": "lite"}}, "scores": scores, "scores_of_last_step": scores}
    better = {"test": {"accuracy": 0.9, "macro_f1": 0.9}}
    other = {**run, "seed": 1, "scores": better, "asked": {"training": {"mode": "full"}}}  # not what is asked for now
    pack = {"format": 1, "machine": {"device": "abacus"}, "runs": [run, other]}
    (store.folder / "earlier").mkdir(parents=True)
    (store.folder / "earlier" / "mine.json").write_text(json.dumps(pack))
    assert "| Ours | 50.00 |" in (text := markdown(sections(Results(experiment, store))))
    assert "abacus" in text
    assert "under the recipe of that time" in text
    assert done_and_wanted(experiment, store)[0] == 0  # shown, but not taken for finished
    keep(store, experiment, "ours", [0.9])
    assert "| Ours | 90.00 |" in (text := markdown(sections(Results(experiment, Store(store.folder)))))
    assert "abacus" not in text
    assert "under the recipe of that time" not in text


def test_with_a_reader_of_words_no_score_is_the_last_step_s(written, store):
    """It was taught by the weights that were kept."""
    experiment = written('columns = ["accuracy", "last"]\nvariants.alone.network.word_reader = false\n' + TEXT)
    for row in ("ours", "alone"):
        keep(store, experiment, row, [0.86])
    (table,) = sections(Results(experiment, store))
    shown = {row[0]: row[1:] for row in table.rows}
    assert shown["Ours"] == ["86.00", ""]
    assert shown["alone"] == ["86.00", "86.00"]


def test_crossed_variants_are_a_table_of_weak_by_strong(written, store):
    experiment = written(
        'data = { ag_news = 10 }\nsettings.training.mode = "lite"\n'
        'variants."weak a, strong b".algorithm.tau = 0.1\nvariants."weak c, strong d".algorithm.tau = 0.2\n'
    )
    keep(store, experiment, "weak a, strong b", [0.5])
    assert markdown([crossed(Results(experiment, store), "ag_news", 10)]) == (
        "| dev / test | strong b | strong d |\n|---|---|---|\n"
        "| weak a | 50.00 / 50.00 |  |\n| weak c |  | not run / not run |"
    )


@pytest.mark.parametrize(
    ("theirs", "verdict"),
    [([0.80, 0.81, 0.80], SAME), ([0.95, 0.96, 0.95], OTHER), ([0.86, 0.88, 0.87], OPEN)],
)
def test_a_verdict_says_whether_the_papers_order_came_out_again(written, store, theirs, verdict):
    experiment = written(TEXT)
    keep(store, experiment, "ours", [0.86, 0.87, 0.87])
    keep(store, experiment, "theirs", theirs)
    (claim,) = claims(Results(experiment, store))
    assert claim.paper == pytest.approx(0.075)
    assert claim.verdict == verdict
    table = verdict_table(Results(experiment, store))
    assert table.rows[0][0] == "Ours and Theirs (AG News, 10 labels)"
    assert table.rows[0][1] == "+7.50"
    assert table.notes == [f"Of 1 comparisons in the paper's table: 1 {verdict}."]


def test_nothing_is_said_of_what_was_not_run(written, store):
    table = verdict_table(Results(written(TEXT), store))
    assert table.rows == []
    assert table.notes == ["Of 1 comparisons in the paper's table: 1 not run."]


def test_a_seed_without_pseudo_labels_has_a_share_of_none_and_nothing_to_be_right(written, store):
    """Shares of 60 %, none and none: 20 in the mean; right are 90 %, of one seed."""
    mine = written('data = { ag_news = 10 }\nseeds = 3\ncolumns = ["pseudo_labels"]\nvariants.a = {}')
    for cell, own in zip(cells_of(mine, "a", "ag_news", 10), ({"share": 0.6, "accuracy": 0.9}, {}, {}), strict=True):
        store.write(cell.path, record_of(cell, 0.8, pseudo_labels=own))
    assert "| a | 20.00 ± 28.28 | 90.00, 1 of 3 seeds |" in markdown(sections(Results(mine, store)))


def test_what_is_kept_of_pseudo_labels_is_their_state_at_the_end():
    some = {"selected": 0.5, "pseudo_label_accuracy": 0.9}
    none = {"selected": 0.0, "pseudo_label_accuracy": None}
    assert pseudo_labels([none, some]) == {"share": 0.5, "accuracy": 0.9}
    assert pseudo_labels([some, none]) == {"share": 0.0}
    assert pseudo_labels([none, none]) == {}
