"""Small breaks of a source file, one at a time: what a test should notice."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], tuple[str, list[str]]] = {
    ast.GtE: (">=", [">", "<"]),
    ast.Gt: (">", [">=", "<"]),
    ast.LtE: ("<=", ["<", ">"]),
    ast.Lt: ("<", ["<=", ">"]),
    ast.Eq: ("==", ["!="]),
    ast.NotEq: ("!=", ["=="]),
    ast.Is: ("is", ["is not"]),
    ast.IsNot: ("is not", ["is"]),
    ast.In: ("in", ["not in"]),
}
ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.BitXor: ("^", "|"),
}
_PAIRS = (
    *(("argmax", "argmin"), ("amax", "amin"), ("max", "min"), ("maximum", "minimum"), ("any", "all")),
    *(("mean", "sum"), ("ones", "zeros"), ("ones_like", "zeros_like"), ("softmax", "log_softmax"), ("floor", "ceil")),
)
RENAMED = {a: b for pair in _PAIRS for a, b in (pair, pair[::-1])}
REMOVED = {
    "abs",
    "clamp",
    "clip",
    "clone",
    "detach",
    "exp",
    "flip",
    "log",
    "nan_to_num",
    "relu",
    "roll",
    "sqrt",
    "square",
}
SYMMETRIC = {"max", "min", "maximum", "minimum"}
NEGLIGIBLE = 1e-5  # a number under this keeps others off zero, and half of it does as well
NAMES_OF_CHANCE = {"derive", "generator"}  # a random stream of another name is as good
COMPLEMENTED = {"decay", "delta", "momentum", "share"}


@dataclass(frozen=True)
class Mutant:
    """A file with one place changed."""

    path: str
    line: int
    kind: str
    source: str
    mutated: str

    def diff(self) -> list[str]:
        """The lines that differ, old ones with - and new ones with +."""
        old, new = self.source.splitlines(), self.mutated.splitlines()
        while old and new and old[0] == new[0]:
            old, new = old[1:], new[1:]
        while old and new and old[-1] == new[-1]:
            old, new = old[:-1], new[:-1]
        return [f"{sign} {line.strip()}" for sign, lines in (("-", old), ("+", new)) for line in lines]


def mutants_of(path: Path, root: Path) -> list[Mutant]:
    """Every mutant of a file that still parses, no two alike."""
    source = path.read_text(encoding="utf-8")
    found: dict[str, Mutant] = {}
    finder = _Finder(source)
    for line, (kind, start, end, new) in finder.places():
        mutated = (finder.bytes[:start] + new.encode() + finder.bytes[end:]).decode()
        if mutated != source and mutated not in found and _parses(mutated):
            found[mutated] = Mutant(str(path.relative_to(root)), line, kind, source, mutated)
    return sorted(found.values(), key=lambda mutant: mutant.line)


def _parses(source: str) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


Change = tuple[str, int, int, str]  # kind, first byte, byte after the last, what stands there instead


class _Finder:
    def __init__(self, source: str) -> None:
        self.bytes = source.encode()
        self.starts = [0]
        for line in self.bytes.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.tree = ast.parse(source)
        self.rolled = {id(inner) for call in ast.walk(self.tree) if _is_roll(call) for inner in ast.walk(call)}
        self.skipped = {
            id(inner) for node in ast.walk(self.tree) for part in _unmutated(node) for inner in ast.walk(part)
        }

    def places(self) -> Iterator[tuple[int, Change]]:
        for node in ast.walk(self.tree):
            if id(node) not in self.skipped:
                for change in self._changes(node):
                    yield getattr(node, "lineno", 0), change

    def _changes(self, node: ast.AST) -> Iterator[Change]:
        match node:
            case ast.Compare() | ast.BinOp() | ast.BoolOp():
                yield from self._operator(node)
            case ast.UnaryOp():
                # The last axis is often the second: another one than -1 is 0. Only a roll has a direction.
                axis = self._text(node) == "-1" and id(node) not in self.rolled
                yield "sign", *self._span(node), "0" if axis else self._text(node.operand)
            case ast.If(test=test) | ast.IfExp(test=test):
                yield "condition", *self._span(test), f"(not ({self._text(test)}))"
            case ast.Constant():
                yield from self._constant(node)
            case ast.Call():
                yield from self._call(node)
            case ast.stmt():
                yield from self._statement(node)
            case ast.Attribute(attr=attr, ctx=ast.Load(), value=ast.Name(id="self")) if attr in COMPLEMENTED:
                yield "complement", *self._span(node), f"(1 - {self._text(node)})"

    def _operator(self, node: ast.Compare | ast.BinOp | ast.BoolOp) -> Iterator[Change]:
        match node:
            case ast.Compare(ops=[op], left=left, comparators=[right]) if type(op) in COMPARISONS:
                old, news = COMPARISONS[type(op)]
            case ast.BinOp(left=left, right=right) if type(node.op) in ARITHMETIC:
                old, *news = ARITHMETIC[type(node.op)]
            case ast.BoolOp(values=[left, right, *_]):
                old, *news = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            case _:
                return
        begin, end = self._span(left)[1], self._span(right)[0]
        at = self.bytes[begin:end].find(old.encode())
        for new in news if at >= 0 else ():
            yield "operator", begin + at, begin + at + len(old), new

    def _statement(self, node: ast.stmt) -> Iterator[Change]:
        match node:
            case ast.AugAssign():
                yield "statement removed", *self._span(node), "pass"
            case ast.Expr(value=ast.Call(func=func)) if "super()" not in self._text(func):
                yield "statement removed", *self._span(node), "pass"
            case ast.FunctionDef():
                yield from self._function(node)

    def _constant(self, node: ast.Constant) -> Iterator[Change]:
        value = node.value
        if isinstance(value, bool):
            yield "constant", *self._span(node), str(not value)
        elif isinstance(value, int):
            yield "constant", *self._span(node), str(value + 1)
        elif isinstance(value, float) and not 0 < value < NEGLIGIBLE:
            yield "constant", *self._span(node), repr(value / 2 if value else 1.0)

    def _call(self, node: ast.Call) -> Iterator[Change]:
        symmetric = _name(node.func) in SYMMETRIC
        for first, second in zip(node.args, node.args[1:], strict=False) if not symmetric else ():
            if not any(isinstance(a, ast.Starred) for a in (first, second)):
                (start, middle), (rest, end) = self._span(first), self._span(second)
                between = self.bytes[middle:rest].decode()
                yield "arguments swapped", start, end, self._text(second) + between + self._text(first)
        if isinstance(node.func, ast.Attribute):
            name = node.func.attr
            end = self._span(node.func)[1]
            if name.rstrip("_") in RENAMED:
                yield "renamed", end - len(name), end, RENAMED[name.rstrip("_")] + "_" * name.endswith("_")
            if name in REMOVED:
                yield "call removed", *self._span(node), self._called_on(node, end - len(name))

    def _called_on(self, node: ast.Call, name_start: int) -> str:
        """What a call is made on: x of x.f(...) and of torch.f(x, ...)."""
        assert isinstance(node.func, ast.Attribute)
        if self._text(node.func.value) in ("torch", "F"):
            return self._text(node.args[0])
        start = self._span(node)[0]
        return self.bytes[start : self.bytes.rfind(b".", start, name_start)].decode()

    def _function(self, node: ast.FunctionDef) -> Iterator[Change]:
        """Another of a keyword's literal options as its default, and no writing to what is kept."""
        for arg, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
            options = _literals(arg.annotation)
            if isinstance(default, ast.Constant) and default.value in options:
                other = options[(options.index(default.value) + 1) % len(options)]
                yield "default", *self._span(default), f'"{other}"'
        if node.name != "__init__":
            for inner in ast.walk(node):
                if isinstance(inner, ast.Assign) and isinstance(inner.targets[0], ast.Attribute | ast.Subscript):
                    yield "statement removed", *self._span(inner), "pass"

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self.starts[node.lineno - 1] + node.col_offset
        return start, self.starts[node.end_lineno - 1] + node.end_col_offset

    def _text(self, node: ast.expr) -> str:
        start, end = self._span(node)
        return self.bytes[start:end].decode()


def _name(func: ast.expr) -> str:
    """Of what is called: f of f(...), x.f(...) and torch.f(...)."""
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def _is_roll(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and _name(node.func) == "roll"


def _literals(annotation: ast.expr | None) -> list[str]:
    """The options of ``Literal["a", "b"]``."""
    if not (isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "Literal"):
        return []
    inner = annotation.slice
    options = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    return [option.value for option in options if isinstance(option, ast.Constant) and isinstance(option.value, str)]


def _unmutated(node: ast.AST) -> list[ast.AST]:
    """Parts that say nothing about numbers: annotations, decorators, messages, names of random streams."""
    match node:
        case ast.arg(annotation=annotation) if annotation:
            return [annotation]
        case ast.AnnAssign(annotation=annotation):
            return [annotation]
        case ast.FunctionDef(returns=returns, decorator_list=decorators):
            return [*decorators, *([returns] if returns else [])]
        case ast.ClassDef(decorator_list=decorators, bases=bases):
            return [*decorators, *bases]
        case ast.UnaryOp(operand=ast.Constant() as operand):
            return [operand]
        case ast.Call(func=func) if _name(func) in NAMES_OF_CHANCE:
            return [node]
        case ast.Call(func=ast.Name(id="zip"), keywords=keywords):
            return list(keywords)
        case ast.keyword(arg="stable"):  # on a CPU every sort of torch is stable: only another device can tell
            return [node]
        case ast.Raise() | ast.Assert() | ast.JoinedStr():
            return [node]
    return []
