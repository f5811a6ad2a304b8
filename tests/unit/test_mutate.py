"""The mutation tool: which breaks it makes, and that it knows the tests of every rule."""

from pathlib import Path

import pytest

from jointmatch.algorithms import ALGORITHMS
from tools.mutate import ROOT, accepted, other_tests, own_tests, rules
from tools.mutations import Mutant, mutants_of
from tools.reached import body_around


def broken(tmp_path: Path, line: str) -> list[str]:
    """The line in all its mutants."""
    file = tmp_path / "rule.py"
    file.write_text(f"def rule(self, x, y, tau):\n    {line}\n")
    return [diff[2:] for mutant in mutants_of(file, tmp_path) for diff in mutant.diff() if diff[0] == "+"]


@pytest.mark.parametrize(
    ("line", "mutants"),
    [
        ("return x >= tau", {"return x > tau", "return x < tau"}),
        ("return (x + y) * tau", {"return (x - y) * tau", "return (x + y) / tau"}),
        ("return x.argmax()", {"return x.argmin()"}),
        ("return x.mean()", {"return x.sum()"}),
        ("return (x).detach()", {"return (x)"}),
        ("return x.roll(-1)", {"return x.roll(1)", "return x"}),
        ("return x.amax(-1)", {"return x.amin(-1)", "return x.amax(0)"}),
        ("return f(x, y)", {"return f(y, x)"}),
        ("x.copy_(y)", {"pass"}),
        ("self.seen += y", {"pass"}),
        ("self.seen = y", {"pass"}),
        ("return 0.5", {"return 0.25"}),
        ("return 1e-6", set()),
        ("return x.sort(stable=True)", set()),
        ("return derive(0, 'ranker', x)", set()),
        ("return zip(strict=True)", set()),
        ("return f(strict=True)", {"return f(strict=False)"}),
        ("return torch.maximum(x, y)", {"return torch.minimum(x, y)"}),
        ("return x if tau else y", {"return x if (not (tau)) else y"}),
        ("return self.momentum", {"return (1 - self.momentum)"}),
        ("return x & ~y", {"return x | ~y", "return x & y"}),
        ("return x and y", {"return x or y"}),
        ("return x == 'a'", {"return x != 'a'"}),
    ],
)
def test_each_break_is_made_and_no_other(tmp_path, line, mutants):
    assert set(broken(tmp_path, line)) == mutants


def test_annotations_messages_and_decorators_are_left_alone(tmp_path):
    file = tmp_path / "rule.py"
    file.write_text('@f(1)\ndef g(x: Range(0, 1)) -> h[2]:\n    y: k[3]\n    raise E(f"{x + 1}")\n')
    assert mutants_of(file, tmp_path) == []


def test_the_default_among_literal_options_is_broken(tmp_path):
    file = tmp_path / "rule.py"
    file.write_text('def f(*, who: Literal["own", "cross"] = "cross"): ...\n')
    (mutant,) = mutants_of(file, tmp_path)
    assert '= "own"' in mutant.mutated


def test_every_algorithm_and_every_selection_rule_is_broken():
    names = {path.stem for path in rules()}
    assert {"losses", "thresholds", "weighting", "composed", "fixmatch", "jointmatch"} <= names
    assert {"__init__", "catalogue"}.isdisjoint(names)
    modules = {ALGORITHMS[name].__module__.rpartition(".")[2] for name in ALGORITHMS if not ALGORITHMS.source(name)}
    assert modules <= names


def test_a_rules_own_tests_come_first():
    assert own_tests("src/jointmatch/selection/weighting.py") == ["tests/unit/selection/test_weighting.py"]
    assert own_tests("src/jointmatch/losses.py") == ["tests/unit/test_losses.py"]
    of_base = [f"tests/unit/algorithms/test_{name}.py" for name in ("base", "defaults")]
    assert own_tests("src/jointmatch/algorithms/base.py") == of_base


RULES = """LIMIT = 1
@ALGORITHMS.register("other")
def f(x, y=2):
    def g():
        return 3
    return g() + y

def h():
    return 4
"""


@pytest.mark.parametrize(
    ("line", "body"), [(1, None), (3, None), (5, range(2, 7)), (6, range(2, 7)), (9, range(8, 10))]
)
def test_the_body_a_line_is_in_reaches_from_the_decorators_to_the_end(line, body):
    assert body_around(RULES, line) == body


@pytest.mark.parametrize(("line", "tests"), [(5, {"a", "b"}), (9, {"c"}), (1, {"a", "b", "c", "d[other]"})])
def test_a_mutant_is_shown_to_the_tests_that_call_its_function_and_one_outside_to_all_of_its_file(line, tests):
    """f begins on line 2, g on 4, h on 8; d[other] calls nothing of this file, but names what it registers."""
    reached = {"rule.py": {2: {"a": 1.0, "b": 2.0}, 4: {"a": 1.0}, 8: {"c": 3.0}}, "other.py": {1: {"d[other]": 1.0}}}
    assert set(other_tests(Mutant("rule.py", line, "", RULES, RULES), reached)) == tests


def test_every_accepted_mutant_has_a_reason_and_is_still_made():
    made = {(m.path, "\n".join(m.diff())) for path in rules() for m in mutants_of(path, ROOT)}
    assert all(accepted().values())
    assert set(accepted()) <= made
