"""A reader finds the old content or the new one, never half of either."""

import json
import os
import stat

import pytest

from jointmatch import files
from jointmatch.files import digest_of, folder_written_atomically, write_atomically, write_json, write_text


def names(folder) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def test_text_is_written_as_utf_8_and_missing_folders_are_made(tmp_path):
    write_text(tmp_path / "a" / "b" / "file.txt", "größer\n")
    assert (tmp_path / "a" / "b" / "file.txt").read_bytes() == "größer\n".encode()
    assert names(tmp_path / "a" / "b") == ["file.txt"]


def test_json_is_indented_readable_and_ends_with_a_line_break(tmp_path):
    write_json(tmp_path / "file.json", {"name": "größer", "values": [1]})
    content = (tmp_path / "file.json").read_text(encoding="utf-8")
    assert json.loads(content) == {"name": "größer", "values": [1]}
    assert '\n  "name": "größer"' in content
    assert content.endswith("}\n")


@pytest.mark.parametrize("error", [OSError("disk full"), ValueError("bug"), KeyboardInterrupt()])
@pytest.mark.parametrize("existed", [True, False])
def test_a_writer_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, error, existed):
    path = tmp_path / "file.txt"
    if existed:
        path.write_text("old")

    def write(temporary):
        temporary.write_text("half of the n")
        raise error

    with pytest.raises(type(error)):
        write_atomically(path, write)
    assert names(tmp_path) == (["file.txt"] if existed else [])
    assert not existed or path.read_text() == "old"


def test_a_value_that_is_not_json_leaves_the_old_file(tmp_path):
    write_json(tmp_path / "file.json", "old")
    with pytest.raises(TypeError):
        write_json(tmp_path / "file.json", {"new": object()})
    assert json.loads((tmp_path / "file.json").read_text()) == "old"


def test_the_old_file_is_whole_until_the_new_one_is(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("old")

    def write(temporary):
        temporary.write_text("new")
        assert path.read_text() == "old"

    write_atomically(path, write)
    assert path.read_text() == "new"


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_a_file_gets_the_permissions_any_new_file_would(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        write_text(tmp_path / "file.txt", "x")
        with folder_written_atomically(tmp_path / "folder"):
            pass
        assert os.umask(mask) == mask
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file.txt").stat().st_mode) == mode
    assert stat.S_IMODE((tmp_path / "folder").stat().st_mode) == 0o777 & ~mask


def test_a_folder_appears_when_the_block_ends_well(tmp_path):
    with folder_written_atomically(tmp_path / "deep" / "model") as temporary:
        (temporary / "part").write_text("new")
        assert not (tmp_path / "deep" / "model").exists()
    assert names(tmp_path / "deep") == ["model"]
    assert (tmp_path / "deep" / "model" / "part").read_text() == "new"


@pytest.fixture
def old_folder(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "old part").write_text("old")
    return folder


def test_a_folder_is_replaced_whole(tmp_path, old_folder):
    with folder_written_atomically(old_folder) as temporary:
        (temporary / "new part").write_text("new")
        assert names(old_folder) == ["old part"]
    assert names(old_folder) == ["new part"]
    assert names(tmp_path) == ["model"]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_a_block_that_fails_leaves_the_old_folder_and_nothing_else(tmp_path, old_folder, error):
    def write():
        with folder_written_atomically(old_folder) as temporary:
            (temporary / "new part").write_text("new")
            raise error

    with pytest.raises(error):
        write()
    assert names(tmp_path) == ["model"]
    assert names(old_folder) == ["old part"]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_a_new_folder_that_cannot_be_moved_into_place_leaves_the_old_one(old_folder, monkeypatch, error):
    replace = os.replace
    failed: list[object] = []

    def fail_once_for_the_new_one(source, target):
        if target == old_folder and not failed:
            failed.append(source)
            raise error
        replace(source, target)

    monkeypatch.setattr(files.os, "replace", fail_once_for_the_new_one)
    with pytest.raises(error), folder_written_atomically(old_folder) as temporary:
        (temporary / "new part").write_text("new")
    assert names(old_folder) == ["old part"]


def test_a_digest_depends_on_names_and_contents_and_not_on_order_place_or_time(tmp_path):
    for folder in ("one", "two"):
        write_text(tmp_path / folder / "a", "1")
        write_text(tmp_path / folder / "b", "2")
    one, two = (sorted((tmp_path / folder).iterdir()) for folder in ("one", "two"))
    os.utime(two[0], (1, 1))
    before = digest_of(one)
    assert digest_of(two[::-1]) == before
    assert digest_of(one[:1]) != before
    write_text(two[0], "3")
    assert digest_of(two) != before
    os.rename(one[1], one[1].with_name("c"))
    assert digest_of((tmp_path / "one").iterdir()) != before
