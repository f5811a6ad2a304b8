"""The example in ``examples/plugin``: installed by pip into a folder of its own, then used from the command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import topic_texts
from tests.end_to_end.conftest import write_csv

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "plugin"


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """Without the network: what builds it is among the developers' packages."""
    source = tmp_path_factory.mktemp("plugin") / "source"
    shutil.copytree(EXAMPLE, source, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    target = source.parent / "target"
    words = ["install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target", target, source]
    subprocess.run([sys.executable, "-m", "pip", *map(str, words)], check=True, timeout=300)
    return target


def python(installed: Path, *words: object) -> subprocess.CompletedProcess[str]:
    paths = [str(installed), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, timeout=600)


def test_it_is_listed_with_where_it_comes_from(installed):
    shown = python(installed, "jointmatch", "algorithms")
    assert shown.returncode == 0, shown.stderr
    assert "entropy comes from the plug-in jointmatch-entropy 0.1.0." in shown.stdout
    assert "* entropy: a prediction is its own soft target" in shown.stdout


@pytest.mark.slow
def test_it_trains_on_a_small_file_with_the_real_backbone(installed, tmp_path):
    texts, labels = topic_texts(60)
    train = write_csv(tmp_path / "train.csv", texts[:45], labels[:9] + [""] * 36)
    test = write_csv(tmp_path / "test.csv", texts[45:], labels[45:])
    words = ["train", train, "--test", test, "--output", tmp_path / "run", "--algorithm", "entropy", "--mode", "lite"]
    ran = python(installed, "jointmatch", *words, "--set", "algorithm.ramp=0.2", "--json", "--quiet")
    assert ran.returncode == 0, ran.stderr
    result = json.loads(ran.stdout)
    assert result["algorithm"] == "entropy"
    assert result["scores"]["test"]["accuracy"] > 0.8
    assert "ramp = 0.2" in (tmp_path / "run" / "config.toml").read_text()


def test_it_keeps_the_contract_of_every_algorithm(installed):
    suite = sorted(map(str, Path("tests/contract").glob("test_every_algorithm*.py")))
    ran = python(installed, "pytest", "-q", "-p", "no:cacheprovider", "-k", "entropy", *suite)
    assert ran.returncode == 0, ran.stdout
    assert " passed" in ran.stdout


def test_a_broken_plug_in_is_one_clear_line_and_the_rest_works(installed, tmp_path):
    broken = shutil.copytree(installed, tmp_path / "broken")
    (broken / "jointmatch_entropy.py").write_text("raise RuntimeError('made for version 9')")
    shown = python(broken, "jointmatch", "algorithms")
    assert shown.returncode == 0
    assert "jointmatch" in shown.stdout
    assert shown.stderr == (
        "Warning: The plug-in jointmatch-entropy 0.1.0 gives no 'entropy' (RuntimeError: made for version 9). "
        "The others are not affected.\n"
    )


def test_the_page_names_what_is_there():
    page = (EXAMPLE / "README.md").read_text()
    assert "jointmatch algorithms entropy" in page
    assert 'entropy = "jointmatch_entropy:Entropy"' in (EXAMPLE / "pyproject.toml").read_text()
