"""Data statistics: counted from the texts at hand, again where these are others."""

import csv
import io
from dataclasses import replace

import pytest

from jointmatch.benchmark import Store
from jointmatch.benchmark.suite import Options
from jointmatch.benchmark.suites import suite_of
from jointmatch.errors import ConfigError, InputError

TEXT = """
suite = "data"
[options.first]
title = "Some data"
note = "Ours, and theirs."
columns = ["pool", "dev", "test"]
[options.first.data.mine]
labels = "kinds of thing"
classes = 2
pool = 24
dev = 4
test = 4
"""


def write_data(folder, pool):
    (folder / "mine").mkdir(parents=True, exist_ok=True)
    for part, size in (("pool", pool), ("dev", 2), ("test", 2)):
        rows = [f"{label} {part} {i},{label}" for i in range(size) for label in ("fruit", "metal")]
        (folder / "mine" / f"{part}.csv").write_text("\n".join(["text,label", *rows]))
    return str(folder)


@pytest.mark.parametrize(("pool", "said"), [(12, 1), (13, 2)])
def test_a_set_is_counted_again_only_where_other_texts_lie_under_its_name(written, tmp_path, pool, said):
    heard: list[str] = []
    experiment = written(TEXT)
    data = write_data(tmp_path / "data", 12)
    options = Options(tmp_path / "results", data_dir=data, say=heard.append)
    suite_of(experiment).run(experiment, options)
    write_data(tmp_path / "data", pool)
    suite_of(experiment).run(experiment, options)
    assert len(heard) == said
    record = Store(tmp_path / "results").read("data/mine.json")
    assert record is not None
    assert (record["classes"], record["pool"]) == (2, 2 * pool)


def test_what_was_counted_stays_where_the_texts_are_gone(written, tmp_path):
    heard: list[str] = []
    experiment = written(TEXT)
    data = write_data(tmp_path / "data", 12)
    suite_of(experiment).run(experiment, Options(tmp_path / "results", data_dir=data, say=heard.append))
    suite_of(experiment).run(experiment, Options(tmp_path / "results", data_dir=str(tmp_path), say=heard.append))
    assert len(heard) == 1
    assert suite_of(experiment).progress(experiment, Store(tmp_path / "results"), "auto") == (1, 1)


def test_its_csv_has_a_line_for_each_number(written, tmp_path):
    experiment, store = written(TEXT), Store(tmp_path / "results")
    options = Options(store.folder, data_dir=write_data(tmp_path / "data", 12), say=lambda text: None)
    suite_of(experiment).run(experiment, options)
    lines = list(csv.DictReader(io.StringIO(suite_of(experiment).csv(experiment, store, "auto"))))
    assert [line["column"] for line in lines] == ["labels", "classes", "pool", "dev", "test", "set aside"]
    assert lines[2] == {"table": "Some data", "row": "mine", "column": "pool", "value": "24 (paper 24)"}


@pytest.mark.parametrize(
    ("seeds", "asked", "said"),
    [
        ([0, 1], {}, "no --seeds."),
        ([], {"jobs": 2, "seconds": 5.0}, "no --jobs, --seconds."),
        ([], {"only": ["mine"], "compiled": True}, "no --only, --compiled."),
        ([], {"together": 2}, "no --together."),
    ],
)
def test_what_would_change_nothing_is_refused(written, tmp_path, seeds, asked, said):
    experiment = replace(written(TEXT), seeds=seeds)
    with pytest.raises(InputError, match="counts texts, all of them each time") as error:
        suite_of(experiment).run(experiment, Options(tmp_path, **asked))
    assert str(error.value).endswith(said)


def test_what_is_wrong_with_its_tables_is_said_at_once(written):
    wrong = (
        TEXT.replace("classes = 2\n", "clases = 2\n")
        .replace('note = "Ours, and theirs."\n', "")
        .replace("= 24", '= "24"')
    )
    with pytest.raises(ConfigError) as error:
        written(wrong)
    assert [fault.removeprefix("mine: options.first") for fault in error.value.faults] == [
        " has no 'note', wanted title, note, columns and data",
        ".data.mine has 'clases'. Did you mean 'classes'? Known: labels, classes, pool, dev, test, by_class",
        ".data.mine has classes None, wanted a whole number",
        ".data.mine has pool '24', wanted a whole number",
    ]
    with pytest.raises(ConfigError, match=r"options.first.data has '\.\./mine', wanted a data set's name"):
        written(TEXT.replace("data.mine", "data.'../mine'"))
    with pytest.raises(ConfigError, match="there are no options"):
        written('suite = "data"')
