"""Break each selection and loss rule in turn, and see whether the tests notice.

    python tools/mutate.py                       every rule
    python tools/mutate.py src/jointmatch/selection/weighting.py
    python tools/mutate.py --list                what would be broken

Each mutant is tested in a copy of the tree, in a process forked from one that has torch loaded: first by the tests
of its own file, then by all others that call the broken function. What no test notices is printed with its place and
diff; the exit status is 1 if there is any that ``equivalent_mutants.toml`` does not name with a reason.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tools.mutations import Mutant, mutants_of  # noqa: E402
from tools.reached import Chosen, Reached, Recorder, body_around, tests_of  # noqa: E402

SOURCE = Path("src/jointmatch")
NOT_RULES = {"__init__.py", "catalogue.py"}
COPIED = ("src", "tests", "benchmarks", "tools", "examples", "pyproject.toml", "CONTRIBUTING.md", "Makefile")
EQUIVALENTS = Path(__file__).with_name("equivalent_mutants.toml")


def rules() -> list[Path]:
    """The files whose lines are rules."""
    source = ROOT / SOURCE
    found = [*source.glob("selection/*.py"), source / "losses.py", *source.glob("algorithms/*.py")]
    return sorted(path for path in found if path.name not in NOT_RULES)


TESTS = (
    *("tests/unit/algorithms", "tests/unit/selection", "tests/unit/test_losses.py"),
    *("tests/contract/test_every_algorithm.py", "tests/contract/test_every_algorithm_says.py"),
)
OPTIONS = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:logging", "--no-header")
REACHED = "reached.json"


def own_tests(path: str) -> list[str]:
    """The tests that are named like a file, which are asked first, and for an algorithm the table of all defaults."""
    file = Path(path)
    folder = "" if file.parent.name == "jointmatch" else f"{file.parent.name}/"
    own = f"tests/unit/{folder}test_{file.stem}.py"
    tests = [own] if (ROOT / own).is_file() else []
    return tests + ["tests/unit/algorithms/test_defaults.py"] * (folder == "algorithms/")


def other_tests(mutant: Mutant, reached: Reached) -> dict[str, float]:
    """Tests of any file, and their seconds, that a mutant can matter to: those that call the function it is in.

    What is in no function's body (a default, a class's attribute, a constant) can matter to all that use the file.
    """
    lines = reached.get(mutant.path, {})
    body = body_around(mutant.source, mutant.line)
    if body:
        return tests_of(lines, body)
    names = re.findall(r'ALGORITHMS\.register\("(\w+)"\)', mutant.source)
    every = {test: s for file in reached.values() for tests in file.values() for test, s in tests.items()}
    named = {test: s for test, s in every.items() if any(name in test for name in names)}
    return tests_of(lines, lines) | named


def run_tests(tree: Path, mutant: Mutant, reached: Reached) -> int:
    """In this process, which is forked for it: 0 if no test fails."""
    import pytest

    own, others = own_tests(mutant.path), other_tests(mutant, reached)
    others = {test: seconds for test, seconds in others.items() if test.partition("::")[0] not in own}
    code = pytest.main([*OPTIONS, f"--basetemp={tree / 'tmp'}", *own]) if own else 0
    if code or not others:
        return int(code)
    files = sorted({test.partition("::")[0] for test in others})
    return int(pytest.main([*OPTIONS, f"--basetemp={tree / 'tmp'}", *files], plugins=[Chosen(others)]))


def record(tree: Path) -> int:
    """Run all tests and write down what each calls, in a process forked for it: 0 if no test fails."""
    import pytest

    recorder = Recorder(tree)
    code = pytest.main([*OPTIONS, f"--basetemp={tree / 'tmp'}", *TESTS], plugins=[recorder])
    (tree / REACHED).write_text(json.dumps(recorder.reached))
    return int(code)


def forked(tree: Path, work: Callable[[], int], timeout: float, keep_bytecode: bool = False) -> int:
    """The exit status of ``work`` in a child that stands in a tree; -1 if it took too long."""
    child = os.fork()
    if child == 0:
        os.setsid()
        with (tree / "output.txt").open("w") as output:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
        sys.dont_write_bytecode = not keep_bytecode
        try:
            os.chdir(tree)
            sys.path[:0] = [str(tree / "src"), str(tree)]
            os._exit(work())
        finally:
            os._exit(99)
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -1


class Trial:
    """One worker: a tree of its own in which it breaks one line after another."""

    trees: Path
    timeout: float
    reached: Reached
    tree: Path | None = None

    @classmethod
    def survives(cls, mutant: Mutant) -> bool:
        """Whether no test notices."""
        if cls.tree is None:
            cls.tree = cls.trees / str(os.getpid())
            shutil.copytree(cls.trees / "whole", cls.tree)
        file = cls.tree / mutant.path
        before = file.stat()
        file.write_text(mutant.mutated, encoding="utf-8")
        os.utime(
            file, (before.st_atime, before.st_mtime + 10 + mutant.line)
        )  # so that no compiled form is taken for it
        try:
            return forked(cls.tree, partial(run_tests, cls.tree, mutant, cls.reached), cls.timeout) == 0
        finally:
            file.write_text(mutant.source, encoding="utf-8")
            os.utime(file, (before.st_atime, before.st_mtime))


def accepted() -> dict[tuple[str, str], str]:
    """(file, diff) -> why nothing can notice it."""
    entries = tomllib.loads(EQUIVALENTS.read_text(encoding="utf-8")).get("equivalent", [])
    return {(entry["file"], entry["diff"].strip()): entry["reason"] for entry in entries}


def check_whole(trees: Path, timeout: float) -> Reached:
    """Before anything is broken, all tests pass; this also compiles everything once. -> what each of them calls."""
    whole = trees / "whole"
    whole.mkdir()
    for name in COPIED:
        place = ROOT / name
        skipped = shutil.ignore_patterns("__pycache__", "results")
        shutil.copytree(place, whole / name, ignore=skipped) if place.is_dir() else shutil.copy2(place, whole / name)
    if forked(whole, partial(record, whole), timeout, keep_bytecode=True):
        print((whole / "output.txt").read_text())
        sys.exit(f"The tests fail before anything is broken, or take more than {timeout:g} s.")
    found = json.loads((whole / REACHED).read_text())
    return {file: {int(line): tests for line, tests in lines.items()} for file, lines in found.items()}


def main() -> None:
    """Break, test, report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, help="Files to break; all rules unless named.")
    parser.add_argument("--only", default="", help="Mutants whose diff has this text in it.")
    parser.add_argument("--jobs", type=int, default=1, help="Mutants tested at the same time.")
    parser.add_argument("--timeout", type=float, default=120, help="Seconds after which a mutant counts as noticed.")
    parser.add_argument("--list", action="store_true", help="Only show the mutants.")
    options = parser.parse_args()
    files = [path.resolve() for path in options.files] or rules()
    made = [mutant for path in files for mutant in mutants_of(path, ROOT)]
    mutants = [mutant for mutant in made if options.only in "\n".join(mutant.diff())]
    if options.list:
        for mutant in mutants:
            print(f"{mutant.path}:{mutant.line} {mutant.kind}", *mutant.diff(), sep="\n    ")
        return
    sys.exit(1 if tried(mutants, options.jobs, options.timeout) else 0)


def tried(mutants: list[Mutant], jobs: int, timeout: float) -> int:
    """Test them all; print and count the survivors that are not accepted."""
    import numpy  # noqa: F401 - what takes long to load is loaded once, here, for all that are forked
    import pytest  # noqa: F401
    import torch

    torch.set_num_threads(1)
    torch.testing.assert_close(torch.zeros(1), torch.zeros(1))
    known, kinds, unknown = accepted(), Counter[str](), 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        Trial.trees, Trial.timeout = Path(folder), timeout
        Trial.reached = check_whole(Trial.trees, 10 * timeout)
        with multiprocessing.get_context("fork").Pool(jobs) as pool:
            for mutant, survived in zip(mutants, pool.imap(Trial.survives, mutants), strict=True):
                kinds["survived" if survived else "noticed"] += 1
                if not survived:
                    continue
                diff = "\n".join(mutant.diff())
                reason = known.get((mutant.path, diff))
                unknown += reason is None
                print(f"{mutant.path}:{mutant.line} {mutant.kind}: {reason or 'NOT NOTICED'}\n{diff}\n", flush=True)
    print(
        f"{len(mutants)} mutants, {kinds['noticed']} noticed, {kinds['survived']} survived, {unknown} of them unknown."
    )
    return unknown


if __name__ == "__main__":
    main()
