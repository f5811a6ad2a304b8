"""Benchmarks by name: from a folder, from the hub through a stand-in for its client, or a clear error."""

import json
import sys
from collections import Counter
from collections.abc import Sequence
from types import SimpleNamespace

import pytest

from jointmatch.data import datasets
from jointmatch.data.datasets import BENCHMARKS, Benchmark, is_known, load_benchmark, read_benchmark, split_train
from jointmatch.data.splits import Rows
from jointmatch.errors import DataError, MissingExtraError, UnknownNameError


def write_part(folder, part: str, rows: Sequence[tuple[str | None, str]], suffix: str = "jsonl"):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{part}.{suffix}"
    if suffix == "csv":
        path.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in rows))
    else:
        path.write_text("".join(json.dumps({"text": t, "label": y}) + "\n" for t, y in rows))


@pytest.fixture
def folder(tmp_path):
    pool = [(f"{y} pool {i}", y) for y in ("a", "b") for i in range(10)]
    write_part(tmp_path / "mine", "pool", pool)
    write_part(tmp_path / "mine", "dev", [("a dev", "a"), ("b dev", "b")], "csv")
    write_part(tmp_path / "mine", "test", [("a test", "a"), ("b test", "b"), ("b test", "b")])
    return tmp_path


class FakeHub:
    """Stands in for the ``datasets`` package."""

    def __init__(self, text: str, label: str, names: list[str] | None, error: Exception | None = None):
        self.text, self.label, self.names, self.error = text, label, names, error
        self.asked: list[tuple] = []

    def part(self, name: str, per_class: int):
        features = {self.label: SimpleNamespace(names=self.names) if self.names else object()}
        rows = [(f"{name} text {y} {i}", y) for i in range(per_class) for y in (0, 1)]

        class Part(dict):
            pass

        part = Part({self.text: [t for t, _ in rows], self.label: [y for _, y in rows]})
        part.features = features  # type: ignore[attr-defined]
        return part

    def load_dataset(self, *args):
        self.asked.append(args)
        if self.error:
            raise self.error
        return {"train": self.part("train", 9), "test": self.part("test", 3)}


@pytest.fixture
def hub(monkeypatch):
    def install(**options) -> FakeHub:
        fake = FakeHub(**{"text": "text", "label": "label", "names": ["neg", "pos"], **options})
        monkeypatch.setitem(sys.modules, "datasets", fake)
        small = {
            name: Benchmark(**{**vars(b), "pool_per_class": 5, "dev_per_class": 2}) for name, b in BENCHMARKS.items()
        }
        monkeypatch.setattr(datasets, "BENCHMARKS", small)
        return fake

    return install


@pytest.mark.parametrize("named", [True, False], ids=["--data-dir", "JOINTMATCH_DATA"])
def test_a_folder_with_pool_dev_and_test_is_a_data_set(folder, monkeypatch, named):
    monkeypatch.setenv("JOINTMATCH_DATA", str(folder / "elsewhere" if named else folder))
    where = folder if named else None
    assert is_known("mine", where)
    splits = load_benchmark("mine", 3, seed=0, data_dir=where)
    assert Counter(splits.labeled.labels) == {0: 3, 1: 3}
    assert Counter(splits.pool.labels) == {0: 7, 1: 7}
    assert splits.dev is not None
    assert splits.test is not None
    assert (len(splits.dev), len(splits.test)) == (2, 3)
    assert set(splits.labeled.texts).isdisjoint(splits.pool.texts)


def test_the_seed_decides_the_draw(folder):
    draws = [load_benchmark("mine", 3, seed, folder).labeled.texts for seed in (0, 0, 1)]
    assert draws[0] == draws[1]
    assert set(draws[0]) != set(draws[2])


def test_pool_texts_that_repeat_or_stand_in_dev_or_test_are_set_aside_before_the_draw(folder):
    shared = [("a dev", "a"), ("a  dev", "a"), ("b test", "b"), ("same", "a"), ("same", "a"), ("other", "b")]
    write_part(folder / "mine", "pool", shared)
    splits = load_benchmark("mine", 1, seed=0, data_dir=folder)
    assert sorted(splits.labeled.texts) == ["other", "same"]
    assert len(splits.pool) == 0
    assert splits.counts["set_aside"] == 4
    assert (splits.counts["labelled_in_dev"], splits.counts["labelled_in_test"]) == (0, 0)


def test_dev_and_test_may_be_missing(tmp_path):
    write_part(tmp_path / "mine", "pool", [("x one", "a"), ("y one", "b")])
    assert read_benchmark("mine", tmp_path)[1:] == (None, None)


def test_a_missing_text_is_empty_not_the_word_none(folder):
    write_part(folder / "mine", "pool", [(None, "a"), ("x", "a"), ("y", "b")])
    assert read_benchmark("mine", folder)[0].texts == ["", "x", "y"]


def test_an_unknown_name_gets_the_nearest_and_all_known_ones(folder):
    with pytest.raises(UnknownNameError) as raised:
        load_benchmark("agnews", 1, 0, folder)
    message = str(raised.value)
    assert "Unknown data set 'agnews'. Did you mean 'ag_news'?" in message
    assert all(name in message for name in BENCHMARKS)
    assert "--data-dir" in message


def test_a_folder_comes_before_the_hub(folder, hub):
    fake = hub()
    write_part(folder / "imdb", "pool", [("x one", "a"), ("y one", "b")])
    assert read_benchmark("imdb", folder)[0].texts == ["x one", "y one"]
    assert fake.asked == []


def test_the_hub_s_training_part_becomes_pool_and_dev_and_class_names_are_used(hub):
    fake = hub()
    pool, dev, test = read_benchmark("imdb")
    assert fake.asked == [("stanfordnlp/imdb", None)]
    assert dev is not None
    assert test is not None
    assert Counter(pool.labels) == {"neg": 5, "pos": 5}
    assert Counter(dev.labels) == {"neg": 2, "pos": 2}
    assert Counter(test.labels) == {"neg": 3, "pos": 3}
    assert set(pool.texts).isdisjoint(dev.texts)
    assert all(
        text.startswith("train text 0") == (label == "neg") for text, label in zip(pool.texts, pool.labels, strict=True)
    )


def test_a_data_set_with_other_columns_and_plain_labels_is_read_by_its_own_names(hub):
    hub(text="best_answer", label="topic", names=None)
    pool, _, test = read_benchmark("yahoo_answers")
    assert test is not None
    assert Counter(pool.labels) == {0: 5, 1: 5}
    assert test.texts[0] == "test text 0 0"


def test_offline_the_error_says_why_and_where_to_put_the_files(hub):
    hub(error=ConnectionError("no route to the hub"))
    with pytest.raises(DataError) as raised:
        load_benchmark("ag_news", 1, 0)
    message = str(raised.value)
    assert "fancyzhx/ag_news could not be read (no route to the hub)" in message
    assert "--data-dir or JOINTMATCH_DATA" in message


def test_without_the_extra_the_error_has_the_install_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtraError, match=r'--data-dir.*pip install "jointmatch\[hub\]"'):
        load_benchmark("ag_news", 1, 0)


@pytest.mark.parametrize("name", [name for name, b in BENCHMARKS.items() if b.hub is None])
def test_what_is_not_on_the_hub_asks_for_a_folder(hub, name):
    fake = hub()
    with pytest.raises(DataError, match=r"not on the hub in this form\..*--data-dir"):
        load_benchmark(name, 1, 0)
    assert fake.asked == []


def test_pool_and_dev_of_a_training_part_are_disjoint_and_of_the_sizes_asked_for():
    train = Rows([str(i) for i in range(30)], ["a", "b", "c"] * 10)
    pool, dev = split_train(train, Benchmark(3, "toy", pool_per_class=6, dev_per_class=3))
    assert Counter(pool.labels) == dict.fromkeys("abc", 6)
    assert Counter(dev.labels) == dict.fromkeys("abc", 3)
    assert set(pool.texts).isdisjoint(dev.texts)


def test_a_folder_of_data_that_is_not_there_is_named_with_who_named_it(monkeypatch, tmp_path):
    with pytest.raises(DataError, match=r"^--data-dir is .*nowhere, which is not there"):
        load_benchmark("ag_news", 1, 0, tmp_path / "nowhere")
    monkeypatch.setenv("JOINTMATCH_DATA", str(tmp_path / "gone"))
    with pytest.raises(DataError, match=r"^JOINTMATCH_DATA is .*gone, which is not there"):
        load_benchmark("ag_news", 1, 0)
    assert not is_known("mine")  # what needs no data is not held up
