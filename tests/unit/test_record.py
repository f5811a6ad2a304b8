"""The run folder: who may claim it, and what is never touched."""

from __future__ import annotations

import pytest

from jointmatch.errors import OutputError
from jointmatch.record import EARLIER, RunFolder


def earlier_run(folder, *extra: str) -> None:
    for name in (
        "config.toml",
        "result.json",
        "hits.json",
        "checkpoints/last.safetensors",
        "model/jointmatch.json",
        *extra,
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("old")


def fail(folder, error: type[BaseException], *written: str, **rules: bool) -> None:
    with RunFolder(folder).claimed(**rules):
        for name in written:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("new")
        raise error


def names(folder) -> set[str]:
    return {p.name for p in folder.iterdir()}


@pytest.mark.parametrize("rules", [{}, {"overwrite": True}, {"resume": True}])
def test_a_new_folder_is_made_with_its_parents_and_left_empty(tmp_path, rules):
    folder = tmp_path / "deep" / "run"
    RunFolder(folder).claim(**rules)
    assert names(folder) == set()


def test_an_empty_folder_may_be_claimed(tmp_path):
    RunFolder(tmp_path).claim()
    assert names(tmp_path) == set()


def test_a_folder_that_holds_a_run_is_refused_with_both_ways_out(tmp_path):
    earlier_run(tmp_path)
    with pytest.raises(OutputError, match=r"already holds a run.*--resume.*--overwrite"):
        RunFolder(tmp_path).claim()
    assert (tmp_path / "result.json").read_text() == "old"


def test_which_texts_were_right_is_read_as_it_was_written_and_earlier_runs_have_none(tmp_path):
    hits = {"test": {"texts": "digest", "right": {"jointmatch": "101"}}}
    assert RunFolder(tmp_path).read_hits() == {}
    RunFolder(tmp_path).write_hits(hits)
    assert RunFolder(tmp_path).read_hits() == hits


def test_overwrite_removes_the_run_and_nothing_else_when_the_new_one_is_complete(tmp_path):
    earlier_run(tmp_path, "seed-0/config.toml", "notes.txt")
    with RunFolder(tmp_path).claimed(overwrite=True):
        assert names(tmp_path) == {"notes.txt", EARLIER}
        (tmp_path / "result.json").write_text("new")
    assert names(tmp_path) == {"notes.txt", "result.json"}


@pytest.mark.parametrize("error", [OutputError, KeyboardInterrupt])
def test_a_run_that_fails_before_any_work_puts_the_earlier_one_back(tmp_path, error):
    earlier_run(tmp_path, "seed-0/config.toml", "notes.txt")
    before = names(tmp_path)
    with pytest.raises(error):
        fail(tmp_path, error, "config.toml", overwrite=True)
    assert names(tmp_path) == before
    assert (tmp_path / "config.toml").read_text() == "old"


def test_a_run_that_fails_before_any_work_leaves_a_new_folder_empty(tmp_path):
    with pytest.raises(OutputError):
        fail(tmp_path, OutputError, "config.toml")
    assert names(tmp_path) == set()


@pytest.mark.parametrize("work", ["history.jsonl", "seed-1/checkpoints/last.safetensors"])
def test_what_was_worked_for_stays_and_so_does_the_earlier_run_until_all_is_done(tmp_path, work):
    earlier_run(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        fail(tmp_path, KeyboardInterrupt, work, overwrite=True)
    assert (tmp_path / work).exists()
    assert (tmp_path / EARLIER / "result.json").read_text() == "old"
    with RunFolder(tmp_path).claimed(resume=True):
        pass
    assert names(tmp_path) == {work.split("/")[0]}


def test_what_was_replacing_a_run_is_replaced_itself_before_that_one_is_given_up(tmp_path):
    earlier_run(tmp_path)
    RunFolder(tmp_path).claim(overwrite=True)  # and killed after a while
    (tmp_path / "config.toml").write_text("half")
    with pytest.raises(OutputError):
        fail(tmp_path, OutputError, overwrite=True)
    assert (tmp_path / "config.toml").read_text() == "old"


def test_a_run_that_was_killed_at_once_is_not_taken_for_foreign_files(tmp_path):
    earlier_run(tmp_path)
    RunFolder(tmp_path).claim(overwrite=True)
    with pytest.raises(OutputError, match="already holds a run"):
        RunFolder(tmp_path).claim()


def test_resume_keeps_everything(tmp_path):
    earlier_run(tmp_path)
    before = names(tmp_path)
    RunFolder(tmp_path).claim(resume=True)
    assert names(tmp_path) == before


def test_a_run_of_several_seeds_counts_as_a_run(tmp_path):
    (tmp_path / "seed-3").mkdir()
    (tmp_path / "seed-3" / "config.toml").write_text("")
    with pytest.raises(OutputError, match="already holds a run"):
        RunFolder(tmp_path).claim()
    RunFolder(tmp_path).claim(overwrite=True)
    assert names(tmp_path) == {EARLIER}


@pytest.mark.parametrize("rules", [{}, {"overwrite": True}, {"resume": True}])
def test_a_folder_with_foreign_files_is_never_claimed(tmp_path, rules):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "thesis.txt").write_text("mine")
    with pytest.raises(OutputError, match="not a run's"):
        RunFolder(tmp_path).claim(**rules)
    assert (tmp_path / "model" / "thesis.txt").read_text() == "mine"


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "run").write_text("mine")
    with pytest.raises(OutputError, match="is a file, wanted a folder"):
        RunFolder(tmp_path / "run").claim()


@pytest.mark.parametrize("place", ["file/run", "/proc/jointmatch/run"])
def test_a_folder_that_cannot_be_made_is_refused(tmp_path, place):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OutputError, match="cannot be written"):
        RunFolder(tmp_path / place).claim(overwrite=True)


def test_a_folder_without_the_right_to_write_is_refused(tmp_path, monkeypatch):
    def denied(*args: object, **kwargs: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("jointmatch.record.tempfile.TemporaryFile", denied)
    with pytest.raises(OutputError, match="cannot be written: Permission denied"):
        RunFolder(tmp_path).claim()
