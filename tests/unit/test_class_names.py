"""The measurement of what a class's name is worth, on a tiny backbone."""

import json

import benchmarks.class_names as measured
from tests.unit.training.toy import topic_splits


def test_every_class_gets_one_more_text_its_name():
    plain = topic_splits()
    more = measured.named(plain, "a text about {}")
    added = len(plain.classes)
    assert more.labeled.texts[:-added] == plain.labeled.texts
    assert more.labeled.texts[-added:] == [f"a text about {name}" for name in plain.classes]
    assert more.labeled.labels == [*plain.labeled.labels, *range(added)]
    assert more.pool is plain.pool


def test_all_that_may_stand_beside_the_labelled_texts_is_scored(tiny_backbone, tmp_path, monkeypatch):
    asked: list[int] = []

    def splits(cell, data_dir):
        asked.append(cell.labels)
        return topic_splits()

    monkeypatch.setattr(measured, "splits_of", splits)
    target = tmp_path / "names.json"
    options = ["--data-dir", "nowhere", "--data", "imdb", "--backbone", str(tiny_backbone), "--result", str(target)]
    measured.main(options)
    result = json.loads(target.read_text(encoding="utf-8"))
    rows = result["accuracy"]["imdb"]
    assert list(rows) == ["nothing", "name", "phrase", "text"]
    assert all(len(values) == 5 for row in rows.values() for values in row.values())
    assert rows["nothing"] == rows["text"]  # the toy texts are the same for any number of labels
    assert sorted(set(asked)) == [10, 11]
    assert result["machine"]["device"]
