"""Who follows the contributing page to the letter has an algorithm that passes the tests the page names."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    """A copy of the project with the page's file in it, imported and named where the page says."""
    copy = tmp_path_factory.mktemp("contributor")
    for name in ("src", "tests", "benchmarks", "pyproject.toml"):
        source = ROOT / name
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "results")
        shutil.copytree(source, copy / name, ignore=ignored) if source.is_dir() else shutil.copy(source, copy / name)
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    algorithms = copy / "src" / "jointmatch" / "algorithms"
    (algorithms / "yourname.py").write_text(block, encoding="utf-8")
    index = algorithms / "__init__.py"
    text = index.read_text(encoding="utf-8")
    text = text.replace("\n__all__ = [", "from jointmatch.algorithms.yourname import YourName\n\n__all__ = [", 1)
    index.write_text(text.replace('    "build",', '    "YourName",\n    "build",', 1), encoding="utf-8")
    return copy


def python(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", *words]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tree, timeout=600)


def test_the_contract_tests_cover_it_and_pass(tree):
    ran = python(tree, "pytest", "-q", "-p", "no:cacheprovider", "tests/contract", "-k", "yourname")
    assert ran.returncode == 0, ran.stdout
    assert int(re.findall(r"(\d+) passed", ran.stdout)[0]) > 50


def test_the_only_other_test_that_asks_for_it_is_the_one_the_page_names(tree):
    ran = python(tree, "pytest", "-q", "-p", "no:cacheprovider", "tests/unit/algorithms", "tests/unit/test_exports.py")
    failed = re.findall(r"^FAILED (\S+)", ran.stdout, flags=re.MULTILINE)
    assert failed == ["tests/unit/algorithms/test_defaults.py::test_every_method_is_in_the_table"], ran.stdout
    assert "put the defaults of yourname into SETTINGS" in ran.stdout


def test_the_linter_has_nothing_to_say_of_it(tree):
    files = ["src/jointmatch/algorithms/yourname.py", "src/jointmatch/algorithms/__init__.py"]
    ran = python(tree, "ruff", "check", "--no-cache", *files)
    assert ran.returncode == 0, ran.stdout
