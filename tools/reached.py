"""Which tests call which functions: only these can notice that one is broken."""

from __future__ import annotations

import ast
import sys
import time
from collections import defaultdict
from collections.abc import Generator, Iterable
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

Reached = dict[str, dict[int, dict[str, float]]]  # file -> first line of a function -> test -> its seconds


class Recorder:
    """A plug-in of pytest that writes down the functions of a tree that each test calls."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        self.reached: Reached = defaultdict(lambda: defaultdict(dict))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        codes: set[CodeType] = set()
        forget_answers()
        start = time.perf_counter()
        sys.settrace(lambda frame, event, arg: codes.add(frame.f_code))
        try:
            return (yield)
        finally:
            sys.settrace(None)
            seconds = time.perf_counter() - start
            for code in codes:
                file = Path(code.co_filename)
                if file.is_relative_to(self.tree / "src"):
                    lines = self.reached[str(file.relative_to(self.tree))]
                    lines[code.co_firstlineno][item.nodeid] = seconds


class Chosen:
    """A plug-in of pytest that runs some tests alone, the quickest first."""

    def __init__(self, tests: dict[str, float]) -> None:
        self.tests = tests

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((i for i in items if i.nodeid in self.tests), key=lambda i: self.tests[i.nodeid])


def forget_answers() -> None:
    """A function whose answers are kept is called by every test, not by the first alone."""
    for name, module in list(sys.modules.items()):
        if name.startswith("jointmatch"):
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


def tests_of(lines: dict[int, dict[str, float]], within: Iterable[int]) -> dict[str, float]:
    """The tests that call a function that begins on one of these lines."""
    return {test: seconds for line in within for test, seconds in lines.get(line, {}).items()}


def body_around(source: str, line: int) -> range | None:
    """The lines of the function, with all it has inside, in whose body a line is; None outside of any."""
    for node in ast.walk(ast.parse(source)):  # outer ones come first
        if isinstance(node, ast.FunctionDef) and node.body[0].lineno <= line <= (node.end_lineno or 0):
            return range(min([node.lineno, *(d.lineno for d in node.decorator_list)]), (node.end_lineno or 0) + 1)
    return None
