"""Mechanical corrections: the edits that put a piece of syntax right."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from relaxscript.errors import Edit, Source

__all__ = [
    "add_argument",
    "add_decorator",
    "add_else",
    "add_output",
    "between",
    "by_position",
    "defaults_of",
    "end_with",
    "gather",
    "in_parentheses",
    "leave_out_argument",
    "leave_out_bases",
    "leave_out_default",
    "leave_out_name",
    "leave_out_parameter",
    "leave_out_statement",
    "return_after",
]  # fmt: skip


def _ends(source: Source, node: ast.AST) -> tuple[int, int]:
    """The begin and end of a piece of syntax, in characters of the source from 0."""
    span = source.span(node)
    return source.offset(*span.start), source.offset(*span.end)


def _at(source: Source, start: int, end: int, text: str) -> Edit:
    return Edit(source.between(start, end), text)


def in_parentheses(source: Source, node: ast.expr) -> bool:
    """True if parentheses are around the only argument `node` that are not its own: `f((4))`."""
    span = source.span(node)
    before = source.line(span.line)[: span.column - 1].rstrip()
    after = source.line(span.end_line)[span.end_column - 1 :].lstrip()
    return before.endswith("((") and after.startswith(")")


def add_argument(source: Source, call: ast.expr, text: str) -> Edit:
    """`f` as `f(text)`, `f(x)` as `f(x, text)`."""
    _, end = _ends(source, call)
    if not isinstance(call, ast.Call):
        return _at(source, end, end, f"({text})")
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not given:
        return _at(source, end - 1, end - 1, text)
    last = max(_ends(source, value)[1] for value in given)
    return _at(source, last, last, f", {text}")


def leave_out_argument(source: Source, call: ast.Call, keyword: ast.keyword) -> Edit:
    """`f(x, a=3)` as `f(x)`: with the comma before it, or behind it where it is the first."""
    start, end = _ends(source, keyword)
    before = [_ends(source, a)[1] for a in [*call.args, *(k.value for k in call.keywords)]]
    earlier = [place for place in before if place <= start]
    if earlier:
        return _at(source, max(earlier), end, "")
    while source.text[end : end + 1] in (",", " "):
        end += 1
    return _at(source, start, end, "")


def gather(source: Source, nodes: Sequence[ast.expr]) -> tuple[Edit, str]:
    """`3, 2` as `(3, 2)`, and how that is written."""
    start, end = _ends(source, nodes[0])[0], _ends(source, nodes[-1])[1]
    comma = "," if len(nodes) == 1 else ""
    written = f"({source.text[start:end]}{comma})"
    return _at(source, start, end, written), written


def by_position(source: Source, definition: ast.FunctionDef | None, call: ast.Call) -> list[Edit]:
    """The keywords of a call, each as the argument of its place in a definition."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if definition is None:
        return []
    names = [arg.arg for arg in definition.args.args][len(call.args) :]
    if set(names) != set(given):
        return []
    places = zip(call.keywords, names)
    return [Edit(source.span(k), source.span(given[name]).text) for k, name in places]


def defaults_of(args: ast.arguments) -> list[tuple[ast.arg, ast.expr]]:
    """The parameters that have a default value, with it."""
    plain = [*args.posonlyargs, *args.args]
    found = list(zip(plain[len(plain) - len(args.defaults) :], args.defaults))
    return found + [(a, d) for a, d in zip(args.kwonlyargs, args.kw_defaults) if d is not None]


def leave_out_default(source: Source, parameter: ast.arg, default: ast.expr) -> Edit:
    """`x: R.Tensor = None` as `x: R.Tensor`; `x = R.Tensor` as `x: R.Tensor`."""
    _, end = _ends(source, parameter)
    if parameter.annotation is None:
        return _at(source, end, _ends(source, default)[0], ": ")
    return _at(source, end, _ends(source, default)[1], "")


def between(source: Source, left: ast.AST, right: ast.AST, text: str) -> Edit:
    """Another string between two pieces of syntax."""
    return _at(source, _ends(source, left)[1], _ends(source, right)[0], text)


def leave_out_bases(source: Source, node: ast.ClassDef) -> Edit:
    """`class M(Base):` as `class M:`."""
    start = source.offset(*source.name_span(node).end)
    last = max(_ends(source, n)[1] for n in [*node.bases, *(k.value for k in node.keywords)])
    return _at(source, start, source.text.index(")", last) + 1, "")


def leave_out_name(source: Source, opened: ast.expr, name: ast.expr) -> Edit:
    """`with f() as name:` as `with f():`."""
    return _at(source, _ends(source, opened)[1], _ends(source, name)[1], "")


def leave_out_parameter(source: Source, node: ast.FunctionDef, parameter: ast.arg) -> Edit:
    """`(self, x)` as `(x)`."""
    start, end = _ends(source, parameter)
    others = [a for a in (*node.args.posonlyargs, *node.args.args) if a is not parameter]
    after = [place for place in (_ends(source, a)[0] for a in others) if place > start]
    return _at(source, start, min(after) if after else end, "")


def leave_out_statement(source: Source, node: ast.stmt) -> Edit:
    """A statement that does nothing: its line goes, or where others share that, it is `pass`."""
    start, end = _ends(source, node)
    whole = source.text[source.offset(node.lineno, 1) : start].strip() == ""
    last = source.span(node).end_line
    rest = source.line(last)[source.span(node).end_column - 1 :].strip()
    if not whole or (rest and not rest.startswith("#")) or last >= len(source.lines):
        return _at(source, start, end, "pass")
    return _at(source, source.offset(node.lineno, 1), source.offset(last + 1, 1), "")


def add_decorator(source: Source, node: ast.stmt, text: str) -> Edit:
    """`@text` in a line of its own above a definition."""
    above = getattr(node, "decorator_list", [])
    line = min([node.lineno, *(decorator.lineno for decorator in above)])
    indent = source.line(node.lineno)[: source.span(node).column - 1]
    start = source.offset(line, 1)
    return _at(source, start, start, f"{indent}@{text}\n")


def end_with(source: Source, node: ast.FunctionDef, text: str) -> Edit:
    """A statement in a line of its own at the end of a function."""
    first, last = node.body[0], node.body[-1]
    indent = source.line(first.lineno)[: source.span(first).column - 1]
    _, end = _ends(source, last)
    return _at(source, end, end, f"\n{indent}{text}")


def add_else(source: Source, node: ast.If, name: str) -> Edit:
    """An `else` in which a name keeps its value."""
    keyword = source.line(node.lineno)
    indent = keyword[: len(keyword) - len(keyword.lstrip())]
    inside = source.line(node.body[-1].lineno)[: source.span(node.body[-1]).column - 1]
    _, end = _ends(source, node.body[-1])
    return _at(source, end, end, f"\n{indent}else:\n{inside}{name} = {name}")


def return_after(source: Source, node: ast.If, name: str) -> list[Edit]:
    """Both branches of an `if` bind the value that each returned; it is returned behind them."""
    lasts = (node.body[-1], node.orelse[-1])
    if not all(isinstance(last, ast.Return) and last.value is not None for last in lasts):
        return []
    starts = [_ends(source, last)[0] for last in lasts]
    values = [_ends(source, last.value)[0] for last in lasts]  # type: ignore[attr-defined]
    keyword = source.line(node.lineno)
    indent = keyword[: len(keyword) - len(keyword.lstrip())]
    _, end = _ends(source, lasts[1])
    return [
        *(_at(source, a, b, f"{name} = ") for a, b in zip(starts, values)),
        _at(source, end, end, f"\n{indent}return {name}"),
    ]


def add_output(source: Source, block: ast.With, output: ast.Call | None, name: str) -> Edit:
    """`name` among those that leave a dataflow block."""
    if output is not None:
        return add_argument(source, output, name)
    last = block.body[-1]
    indent = source.line(last.lineno)[: source.span(last).column - 1]
    _, end = _ends(source, last)
    return _at(source, end, end, f"\n{indent}R.output({name})")
