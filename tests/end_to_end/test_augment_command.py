"""``jointmatch augment``: views of a file's texts, into the cache or a file."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from jointmatch.augment import add_engine
from tests.end_to_end.conftest import FAST
from tests.end_to_end.tables import read_table

SPECS = ("--weak", "swap:0.5", "--strong", "deletion:0.5", "--strong", "masking:0.5")


@pytest.fixture
def augment(command, toy, tiny_backbone):
    def call(*words):
        return command("augment", toy / "train.csv", "--backbone", tiny_backbone, *words)

    return call


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_each_augmenter_gets_a_column_beside_the_rows_as_they_were(augment, toy, tmp_path, suffix):
    target = tmp_path / f"views.{suffix}"
    ran = augment(*SPECS, "--output", target)
    assert ran.code == 0, ran.err
    rows, before = read_table(target), read_table(toy / "train.csv")
    assert list(rows[0]) == ["text", "label", "weak", "strong", "strong_2"]
    assert [row["text"] for row in rows] == [row["text"] for row in before]
    assert all(sorted(row["weak"].split()) == sorted(row["text"].split()) for row in rows)
    assert all(set(row["strong"].split()) <= set(row["text"].split()) for row in rows)
    assert any("[MASK]" in row["strong_2"] for row in rows)


def test_the_same_views_come_again_and_json_counts_them(augment, tmp_path):
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    ran = augment(*SPECS, "--output", first, "--json")
    augment(*SPECS, "--output", second)
    assert first.read_bytes() == second.read_bytes()
    account = json.loads(ran.out)
    assert [made["column"] for made in account] == ["weak", "strong", "strong_2"]
    rows = read_table(first)
    assert account[0]["changed"] == sum(row["weak"] != row["text"] for row in rows) > 0


def test_it_says_what_is_kept_where_and_what_is_not(augment, tmp_path, monkeypatch):
    """Cheap views are not kept; dear ones are, but not in a cache that cannot be written."""
    add_engine("shouting", lambda texts: [text.upper() for text in texts], key="shouting-1")
    ran = augment("--weak", "swap")
    assert "Nothing was kept." in ran.out
    ran = augment("--weak", "swap", "--strong", "backtranslation:shouting")
    assert "Kept in the cache for 'jointmatch train': strong." in ran.out
    (tmp_path / "file").touch()
    monkeypatch.setenv("JOINTMATCH_CACHE", str(tmp_path / "file" / "folder"))
    ran = augment("--strong", "backtranslation:shouting")
    assert ran.code == 0
    assert "Views are not kept for the next run: the cache" in ran.err
    assert "Nothing was kept." in ran.out


def test_several_views_of_each_text_are_numbered_and_differ(augment, tmp_path):
    augment("--strong", "deletion:0.5", "--strong", "none", "--views", 2, "--output", tmp_path / "v.jsonl")
    rows = read_table(tmp_path / "v.jsonl")
    assert list(rows[0]) == ["text", "label", "strong", "strong_2", "strong_3"]
    assert any(row["strong"] != row["strong_2"] for row in rows)
    assert all(row["strong_3"] == row["text"] for row in rows)


def test_several_views_of_each_text_are_reported_as_views(augment):
    """60 texts, two views of each."""
    add_engine("shouting", lambda texts: [text.upper() for text in texts], key="shouting-1")
    ran = augment("--strong", "swap+backtranslation:shouting", "--views", 2)
    assert "of 120 view(s) 120 made, 0 unchanged." in ran.err


def test_texts_for_which_a_function_gives_nothing_are_told_even_in_quiet(augment):
    """One of 60 texts."""
    add_engine("limited", lambda texts: ["", *(text.upper() for text in texts[1:])], key="limited-1")
    ran = augment("--strong", "backtranslation:limited", "--quiet")
    assert ran.code == 0
    assert "of 60 view(s) 59 made, 0 unchanged, 1 left as they were: the function gave nothing" in ran.err


def test_a_file_of_views_trains(augment, command, toy, tiny_backbone, tmp_path):
    augment(*SPECS[:4], "--output", tmp_path / "views.csv")
    words = ("--weak-column", "weak", "--strong-column", "strong", "--backbone", tiny_backbone, *FAST)
    ran = command("train", tmp_path / "views.csv", "--output", tmp_path / "run", *words)
    assert ran.code == 0, ran.err
    assert "views: weak from the column 'weak', strong from the column 'strong'." in ran.err


def test_views_of_the_unlabelled_file_alone_train(command, toy, tiny_backbone, tmp_path):
    (tmp_path / "pool.jsonl").write_text('{"text": "some old plum", "w": "old plum"}\n' * 2)
    words = ("--unlabeled", tmp_path / "pool.jsonl", "--weak-column", "w", "--backbone", tiny_backbone, *FAST)
    ran = command("train", toy / "test.csv", "--output", tmp_path / "run", *words)
    assert ran.code == 0, ran.err
    assert "views: weak from the column 'w', strong" in ran.err
    ran = command("train", toy / "test.csv", "--output", tmp_path / "other", *words, "--unlabeled", toy / "dev.csv")
    assert ran.code == 2
    assert "dev.csv has no column 'w' (--weak-column); it has 'text', 'label'." in ran.err


def test_what_a_column_stands_in_for_need_not_be_installed(augment, command, tiny_backbone, tmp_path):
    """The backbone has no language model, which nobody asks for where the views are there already."""
    augment(*SPECS[:4], "--output", tmp_path / "views.csv")
    words = ("--weak", "mlm", "--strong", "mlm", "--backbone", tiny_backbone, *FAST)
    columns = ("--weak-column", "weak", "--strong-column", "strong")
    ran = command("train", tmp_path / "views.csv", "--output", tmp_path / "run", *words, *columns)
    assert ran.code == 0, ran.err
    assert "needs" not in ran.err
    ran = command("train", tmp_path / "views.csv", "--output", tmp_path / "other", *words, *columns[:2])
    assert "mlm:0.15 needs" in ran.err or "mlm needs" in ran.err


def test_train_takes_augmenters_and_several_views(command, toy, tiny_backbone, tmp_path):
    words = ("--weak", "swap", "--strong", "deletion:0.3", "--strong", "swap|masking", "--views", 2)
    ran = command("train", toy / "train.csv", "--output", tmp_path / "run", "--backbone", tiny_backbone, *words, *FAST)
    assert ran.code == 0, ran.err
    assert "views: weak swap:0.1, strong deletion:0.3 or swap:0.1|masking:0.1" in ran.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "Nothing to make: name an augmenter with --weak or --strong"),
        (("--weak", "deletio"), "Did you mean 'deletion'"),
        (("--weak", "swap:2"), "wanted a rate from 0 to 1"),
        (("--weak", "swap", "--output", "views.xls"), "extension '.xls'"),
        (("--weak", "swap", "--text-column", "txt"), "Did you mean 'text'"),
        (("--strong", "backtranslation:marian-xx"), "needs the models"),
    ],
)
def test_what_cannot_be_made_is_said_in_one_line_and_nothing_written(augment, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    ran = augment(*words)
    assert ran.code == 2
    assert message in ran.err
    assert "Traceback" not in ran.err
    assert list(tmp_path.glob("*.xls")) == []


def test_a_missing_resource_of_a_run_is_replaced_said_and_recorded(command, toy, tiny_backbone, tmp_path):
    words = ("--strong", "backtranslation:marian-xx", "--backbone", tiny_backbone, *FAST)
    ran = command("train", toy / "train.csv", "--output", tmp_path / "run", *words, "--quiet")
    assert ran.code == 0, ran.err
    assert "backtranslation:marian-xx needs the models" in ran.err
    assert "Until then deletion:0.1+swap:0.1 is used instead." in ran.err
    result = json.loads((tmp_path / "run/result.json").read_text())
    assert any("backtranslation" in warning for warning in result["warnings"])
    assert "deletion:0.1+swap:0.1" in (tmp_path / "run/config.toml").read_text()


def test_views_that_need_no_backbone_are_made_without_loading_torch(tmp_path):
    """Loading it takes longer than reading thousands of views from the cache."""
    (tmp_path / "in.csv").write_text("text\nthe old train was late again\n")
    words = ["augment", "in.csv", "--weak", "deletion:0.3", "--output", "out.csv"]
    code = (
        f"import sys; from jointmatch.cli.main import main; sys.argv[1:] = {words}\n"
        "try: main()\nexcept SystemExit: pass\nprint('torch' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout.strip().endswith("False")
    assert "weak" in (tmp_path / "out.csv").read_text()


@pytest.mark.parametrize(("views", "more"), [(1, False), (2, True)])
def test_columns_that_train_does_not_read_are_said(command, tmp_path, views, more):
    (tmp_path / "in.csv").write_text("text\nthe old train was late again\n")
    words = ["--weak", "deletion:0.3", "--strong", "swap:0.3", "--views", views, "--output", tmp_path / "out.csv"]
    ran = command("augment", tmp_path / "in.csv", *words)
    assert ran.code == 0, ran.err
    assert "--weak-column weak --strong-column strong" in ran.out
    assert ("one column of each kind" in ran.out) == more


@pytest.mark.parametrize(
    ("header", "row", "next_step"),
    [
        ("text,label", "the old train,a", "jointmatch train {} --weak-column weak ...\n"),
        ("text", "the old train", "jointmatch train LABELED --unlabeled {} --weak-column weak ...\n"),
        ("text,label", "the old train,", "jointmatch train LABELED --unlabeled {} --weak-column weak ...\n"),
        ("text,weak", "the old train,x", "jointmatch train LABELED --unlabeled {} --weak-column weak ...\n"),
        (
            "text,Kategorie",
            "the old train,a",
            "jointmatch train LABELED --unlabeled {0} --weak-column weak ..., or, if a column holds labels: "
            "jointmatch train {0} --label-column NAME --weak-column weak ...\n",
        ),
    ],
    ids=["labels", "texts alone", "blank labels", "views", "perhaps labels"],
)
def test_the_next_step_names_a_labelled_file_unless_this_is_one(command, tmp_path, header, row, next_step):
    (tmp_path / "in.csv").write_text(f"{header}\n{row}\n")
    target = tmp_path / "out.csv"
    ran = command("augment", tmp_path / "in.csv", "--weak", "swap", "--output", target)
    assert ran.out.endswith(f"Wrote {target}. To train with these very views: {next_step.format(target)}")


def test_views_of_texts_alone_train_as_the_next_step_says(command, toy, tiny_backbone, tmp_path):
    (tmp_path / "pool.csv").write_text("text\nsome old plum\nthe new iron\n")
    command("augment", tmp_path / "pool.csv", "--weak", "swap", "--output", tmp_path / "views.parquet")
    words = ("--unlabeled", tmp_path / "views.parquet", "--weak-column", "weak", "--backbone", tiny_backbone, *FAST)
    ran = command("train", toy / "test.csv", "--output", tmp_path / "run", *words)
    assert ran.code == 0, ran.err
    assert "views: weak from the column 'weak'" in ran.err
