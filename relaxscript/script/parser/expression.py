"""Expressions of every language: names, literals, operators, attributes, items and f-strings.

    expression = name | literal | expression "." name | expression "(" arguments ")"
               | expression "[" index "]" | unary | binary | comparison | tuple | list | dict
               | expression "if" expression "else" expression | f-string

An expression evaluates to a *value*: an IR expression, or any Python value that the program
captured or wrote as a literal. The languages add meaning by their `Language`. Each mistake is
recorded at its place. `Failed` then climbs to the statement, which leaves its targets unknown. So
one run reports every independent mistake and no consequence.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from itertools import islice
from types import ModuleType
from typing import Any

from relaxscript.ir.node import Node
from relaxscript.ir.relax import Attrs
from relaxscript.script.names.attributes import attribute
from relaxscript.script.names.members import is_namespace
from relaxscript.script.printer.constants import METADATA_KEY, MetadataError, decode_all

from .diagnostics import UNKNOWN, Failed, Failures
from .python_operators import (
    BINARY,
    COMPARE,
    CONVERSIONS,
    MOST_ITEMS,
    PYTHON,
    UNARY,
    is_excessive,
    is_wide,
    size,
)  # fmt: skip
from .script_context import ItemUse, ScriptContext
from .suggestions import namespace_member
from .unsupported_syntax import UNSUPPORTED

__all__ = [
    "add_attributes",
    "asks_for_none",
    "captured_name",
    "check_attributes",
    "check_size",
    "compute_before",
    "key_of",
    "known_attribute",
    "parse_attribute",
    "parse_beginning",
    "parse_binary",
    "parse_boolean",
    "parse_comparison",
    "parse_conditional",
    "parse_constant",
    "parse_dict",
    "parse_expr",
    "parse_exprs",
    "parse_f_string",
    "parse_iterable",
    "parse_list",
    "parse_mapping",
    "parse_name",
    "parse_slice",
    "parse_subscript",
    "parse_tuple",
    "parse_unary",
    "python_attribute",
    "python_item",
    "python_items",
    "python_operation",
]  # fmt: skip

# Python itself writes no number of more than 4,300 digits.
MOST_BITS = 4096


# ---- expressions


def parse_expr(cx: ScriptContext, node: ast.AST) -> Any:
    """The value of an expression; raises `Failed` after recording a mistake."""
    rule = cx.rules.get(type(node))
    if rule is None:
        raise refuse_unsupported(cx, node)
    return rule(cx, node)


def parse_exprs(cx: ScriptContext, nodes: Sequence[ast.expr]) -> list[Any]:
    """The values of several expressions; mistakes in all of them are reported."""
    found: list[Any] = []
    waiting: list[tuple[int, ast.expr]] = []
    failures = Failures()
    for node in nodes:
        with failures:
            if waiting and is_computed_in_parts(node):
                for index, earlier in waiting:
                    found[index] = cx.language.compute(cx, found[index], earlier)
                waiting = []
            if type(node) is ast.Starred:
                found.extend(parse_iterable(cx, node.value))
                check_size(cx, range(len(found)), node)
                continue
            value = parse_expr(cx, node)
            if cx.language.is_deferred(cx, value):
                waiting.append((len(found), node))
            found.append(value)
    failures.settle()
    return found


# What is computed: of two such, the inner one is bound before the outer one.
_OPERATIONS = (ast.BinOp, ast.Call, ast.Compare, ast.Subscript, ast.UnaryOp)


def is_computed_in_parts(node: ast.expr) -> bool:
    """True if parts of an expression are computed before it is."""
    parts = (n for n in ast.walk(node) if isinstance(n, _OPERATIONS))
    return next(parts, None) is not None and next(parts, None) is not None


def compute_before(cx: ScriptContext, later: ast.expr, value: Any, node: ast.expr) -> Any:
    """A value, computed now where it would otherwise come after parts of what is `later`."""
    language = cx.language
    if language.is_deferred(cx, value) and is_computed_in_parts(later):
        return language.compute(cx, value, node)
    return value


def check_size(cx: ScriptContext, value: Any, node: ast.AST) -> Any:
    """A value, which in data mode may not be huge: a stranger may have written the script."""
    if cx.environment.mode == "data" and size(value) > MOST_ITEMS:
        raise cx.error(node, "RX0104", "this number or sequence is too large for a script")
    return value


def parse_iterable(
    cx: ScriptContext, node: ast.expr, use: ItemUse = ItemUse.UNPACKING
) -> list[Any]:
    """The items of a Python sequence that is unpacked at parse time."""
    return cx.language.items_of(cx, parse_expr(cx, node), node, use)


def python_items(cx: ScriptContext, value: Any, node: ast.expr, use: ItemUse) -> list[Any]:
    """The items of a value of Python, each of which is known now."""
    known = isinstance(value, Iterable) and not isinstance(value, Node)
    if not known or (isinstance(value, (str, bytes)) and use is ItemUse.UNPACKING):
        message = f"only a Python tuple or list can be {use.value} here"
        if not known and not isinstance(value, Node):
            kind = type(value).__name__
            message = f"`{cx.written(node)}` is a Python {kind}, which cannot be {use.value}"
        raise cx.error(node, "RX0104", message)
    if isinstance(value, (set, frozenset)) and use is not ItemUse.UNPACKING:
        ordered = f"sorted({cx.written(node)})"
        raise cx.error(
            node, "RX0104", "the items of a set have no order", help=f"write `{ordered}`",
            fix=ordered,
        )  # fmt: skip
    with cx.at(node):
        items = list(islice(value, MOST_ITEMS + 1))
    if len(items) > MOST_ITEMS:
        raise cx.error(node, "RX0104", "this number or sequence is too large for a script")
    return items


def refuse_unsupported(cx: ScriptContext, node: ast.AST) -> Failed:
    """Record that a form of Python has no meaning here."""
    name, help = UNSUPPORTED.get(type(node), (f"`{type(node).__name__}`", None))
    if isinstance(node, ast.NamedExpr):
        cx.names.setdefault(node.target.id, UNKNOWN)
    return cx.error(node, "RX0104", f"{name} cannot be used here", help=help)


def parse_name(cx: ScriptContext, node: ast.Name) -> Any:
    found = cx.names.get(node.id, cx)
    if found is cx:
        found = cx.language.find_name(cx, node)
    if found is UNKNOWN:
        raise Failed
    return found


def captured_name(cx: ScriptContext, node: ast.Name) -> Any:
    """A name that the script itself did not bind: captured from Python, or undefined."""
    try:
        found = cx.environment.lookup(node.id)
    except KeyError:
        raise cx.language.undefined(cx, node) from None
    return constants_of(cx, found, node) if node.id == "metadata" else found


def constants_of(cx: ScriptContext, metadata: Any, node: ast.Name) -> Any:
    """The constants of a script that Python runs: there they are still plain data."""
    if not isinstance(metadata, dict) or METADATA_KEY not in metadata:
        return metadata  # some other value of the user's
    if cx.constants is None:
        try:
            cx.constants = decode_all(metadata)
        except MetadataError as error:
            raise cx.error(node, "RX0108", f"the metadata is damaged: {error}") from None
    return cx.constants


def parse_constant(cx: ScriptContext, node: ast.Constant) -> Any:
    value = node.value
    if type(value) is int and value.bit_length() > MOST_BITS:
        raise cx.error(node, "RX0104", "this number or sequence is too large for a script")
    return value


def parse_attribute(cx: ScriptContext, node: ast.Attribute) -> Any:
    # `R.add` is looked up once per script and attribute: modules do not change meanwhile.
    base = node.value
    if type(base) is ast.Name and base.id not in cx.names:
        key = (base.id, node.attr)
        found = cx.known_attributes.get(key, cx)
        if found is cx:
            owner = owner_of(cx, base, node)
            found = cx.language.attribute_of(cx, owner, node)
            if isinstance(owner, ModuleType):
                cx.known_attributes[key] = found
        return found
    owner = parse_beginning(cx, base, node)
    found = cx.language.attribute_of(cx, owner, node)
    if isinstance(owner, ModuleType) and (path := _path(cx, node)) is not None:
        cx.known_attributes[path] = found
    return found


def known_attribute(cx: ScriptContext, node: ast.expr) -> Any:
    """The value of `R.add` or `R.nn.relu` where it was looked up before; else None."""
    path = _path(cx, node) if node.__class__ is ast.Attribute else None
    return None if path is None else cx.known_attributes.get(path)


def _path(cx: ScriptContext, node: Any) -> tuple[str, str] | None:
    """The name before one dot or two, unless the script bound it, and what is behind it."""
    base: Any = node.value
    path = node.attr
    if base.__class__ is ast.Attribute:
        path = f"{base.attr}.{path}"
        base = base.value
    if base.__class__ is not ast.Name:
        return None
    name = base.id
    return None if name in cx.names else (name, path)


def owner_of(cx: ScriptContext, node: ast.Name, whole: ast.Attribute) -> Any:
    """The value before a dot: `nn.relu` may mean `R.nn.relu`, where `nn` alone does not."""
    with cx.state(before_dot=node):
        return parse_beginning(cx, node, whole)


def parse_beginning(cx: ScriptContext, node: ast.expr, whole: ast.Attribute | ast.Call) -> Any:
    """The value before a dot or an argument list, which explain a name that means nothing."""
    cx.around.append(whole)
    try:
        return parse_expr(cx, node)
    finally:
        cx.around.pop()


def python_attribute(cx: ScriptContext, owner: Any, node: ast.Attribute) -> Any:
    """An attribute of a Python value; of IR values in the languages that give it a meaning."""
    if is_namespace(owner):
        return namespace_member(cx, owner, node)
    readable = isinstance(owner, (str, Node)) and not node.attr.startswith("__")
    if readable:
        with cx.at(node):
            return getattr(owner, node.attr)
    with cx.at(node):
        known, value = cx.environment.member(owner, node.attr)
    if known:
        return value
    if cx.environment.leave_to_run(ast.unparse(node)):
        raise Failed
    raise cx.error(node, "RX0104", "attributes of Python values are not read in data mode")


def parse_mapping(
    cx: ScriptContext,
    node: ast.expr,
    wanted: str = "only a Python dict can be unpacked with `**` here",
) -> Mapping[str, Any]:
    """A Python dict, refused in the words `wanted` where it is none."""
    value = parse_expr(cx, node)
    if isinstance(value, Mapping):
        return value
    raise cx.error(node, "RX0104", wanted)


def check_attributes(cx: ScriptContext, found: Mapping[str, Any], node: ast.expr) -> Attrs:
    """Attributes whose values have been evaluated; refuses what none can hold."""
    try:
        return Attrs(attribute(found))
    except TypeError as error:
        raise cx.error(node, "RX0104", str(error)) from None


def parse_binary(cx: ScriptContext, node: ast.BinOp) -> Any:
    # `a + b + c + ...` nests to the left as deep as it is long: descend in a loop.
    chain: list[ast.BinOp] = [node]
    while type(chain[-1].left) is ast.BinOp:
        chain.append(chain[-1].left)
    left, failures = None, Failures()
    with failures:
        left = parse_expr(cx, chain[-1].left)
    for step in reversed(chain):
        with failures:
            left = compute_before(cx, step.right, left, step.left)
            right = parse_expr(cx, step.right)
            if failures.last is None:
                left = cx.language.operate(cx, BINARY[type(step.op)], (left, right), step)
    failures.settle()
    return left


def parse_unary(cx: ScriptContext, node: ast.UnaryOp) -> Any:
    value = parse_expr(cx, node.operand)
    if type(node.op) is ast.USub and type(value) in (int, float):
        return -value
    return cx.language.operate(cx, UNARY[type(node.op)], (value,), node)


def parse_comparison(cx: ScriptContext, node: ast.Compare) -> Any:
    """Chained comparisons mean what they mean in Python: each pair, combined with `and`."""
    if asks_for_none(node):
        # Whether an argument was given is known while parsing, whatever it is.
        return (parse_expr(cx, node.left) is None) == isinstance(node.ops[0], ast.Is)
    operands = parse_exprs(cx, [node.left, *node.comparators])
    written = [node.left, *node.comparators]
    result: Any = None
    for i, op in enumerate(node.ops):
        step = node
        if len(node.ops) > 1:
            pair = ast.Compare(left=written[i], ops=[op], comparators=[written[i + 1]])
            step = ast.copy_location(pair, node)
        other = cx.language.operate(cx, COMPARE[type(op)], (operands[i], operands[i + 1]), step)
        result = other if i == 0 else cx.language.operate(cx, "and", (result, other), node)
    return result


def parse_boolean(cx: ScriptContext, node: ast.BoolOp) -> Any:
    symbol = "and" if type(node.op) is ast.And else "or"
    result = parse_expr(cx, node.values[0])
    step: ast.expr = node.values[0]
    for other in node.values[1:]:
        if not isinstance(result, Node) and bool(result) == (symbol == "or"):
            return result
        pair = ast.copy_location(ast.BoolOp(op=node.op, values=[step, other]), node)
        pair.end_lineno, pair.end_col_offset = other.end_lineno, other.end_col_offset
        result = compute_before(cx, other, result, step)
        step, result = pair, cx.language.operate(cx, symbol, (result, parse_expr(cx, other)), pair)
    return result


def python_operation(
    cx: ScriptContext, symbol: str, operands: tuple[Any, ...], node: ast.expr
) -> Any:
    """An operator applied to values: Python's own on Python values and scalar expressions."""
    if symbol in ("and", "or"):
        left, right = operands
        return (left and right) if symbol == "and" else (left or right)
    if cx.environment.mode == "data" and is_excessive(symbol, operands):
        raise cx.error(node, "RX0104", "this number or sequence is too large for a script")
    with cx.at(node):
        return PYTHON[symbol](*operands)


def parse_subscript(cx: ScriptContext, node: ast.Subscript) -> Any:
    owner = parse_expr(cx, node.value)
    return cx.language.subscript_of(cx, owner, parse_expr(cx, node.slice), node)


def python_item(cx: ScriptContext, owner: Any, index: Any, node: ast.Subscript) -> Any:
    if callable(owner) and not isinstance(owner, type) and not hasattr(owner, "__getitem__"):
        written, inside = ast.unparse(node.value), ast.unparse(node.slice)
        inside = inside[1:-1] if isinstance(node.slice, ast.Tuple) else inside
        call = f"{written}({inside.rstrip(',')})"
        raise cx.error(
            node, "RX0103", f"`{written}` is called with parentheses", help=f"write `{call}`",
            fix=call,
        )  # fmt: skip
    with cx.at(node):
        return owner[index]


def parse_tuple(cx: ScriptContext, node: ast.Tuple) -> Any:
    return check_size(cx, tuple(parse_exprs(cx, node.elts)), node)


def parse_list(cx: ScriptContext, node: ast.List) -> Any:
    return check_size(cx, parse_exprs(cx, node.elts), node)


def parse_dict(cx: ScriptContext, node: ast.Dict) -> Any:
    check_distinct_keys(cx, node)
    found: dict[Any, Any] = {}
    for key, value in zip(node.keys, node.values):
        if key is None:
            found.update(parse_mapping(cx, value))
            continue
        name = parse_expr(cx, key)
        with cx.at(key):
            hash(name)
        found[name] = parse_expr(cx, value)
    return check_size(cx, found, node)


def check_distinct_keys(cx: ScriptContext, node: ast.Dict) -> None:
    """A string that is a key twice is a slip, whose first value would be lost."""
    first: MutableMapping[str, ast.expr] = {}
    for key in node.keys:
        match key:
            case ast.Constant(value=str(name)):
                earlier = first.setdefault(name, key)
                if earlier is not key:
                    raise cx.error(
                        key, "RX0302", f"`{name}` is given twice",
                        labels=[(earlier, "the first one")], help="leave one of them out",
                    )  # fmt: skip


def add_attributes(
    cx: ScriptContext, known: MutableMapping[str, Any], found: Mapping[str, Any], node: ast.AST
) -> None:
    """Attributes beside those that a function has; each has one value."""
    for key, value in found.items():
        if key in known:
            message = f"the function has the attribute `{key}` already"
            place = key_of(node, key)
            raise cx.error(place or node, "RX0302", message, help="leave one of them out")
        known[key] = value


def parse_conditional(cx: ScriptContext, node: ast.IfExp) -> Any:
    """`a if c else b` of values known now; the languages say what it is of others."""
    return parse_expr(cx, node.body if parse_expr(cx, node.test) else node.orelse)


def parse_f_string(cx: ScriptContext, node: ast.JoinedStr) -> Any:
    parts: list[str] = []
    length = 0
    for part in node.values:
        match part:
            case ast.FormattedValue():
                parts.append(format_part(cx, part, node))
            case _:
                parts.append(str(parse_expr(cx, part)))
        length += len(parts[-1])
        check_size(cx, range(length), node)
    return "".join(parts)


def format_part(cx: ScriptContext, part: ast.FormattedValue, node: ast.JoinedStr) -> str:
    """A value in braces as a string; `node` is the whole, since parts have no place before 3.12."""
    value = parse_expr(cx, part.value)
    if isinstance(value, Node):
        written = ast.unparse(part.value)
        raise cx.error(
            part.value, "RX0104",
            f"`{written}` is known only later, and an f-string is made now",
            help=cx.language.help_of_f_string,
        )  # fmt: skip
    form = "" if part.format_spec is None else parse_expr(cx, part.format_spec)
    if cx.environment.mode == "data" and is_wide(form):
        raise cx.error(node, "RX0104", "this string is too long for a script")
    if part.conversion != -1:
        value = CONVERSIONS[chr(part.conversion)](value)
    with cx.at(part):
        return format(value, form)


def parse_slice(cx: ScriptContext, node: ast.Slice) -> Any:
    parts = [None if p is None else parse_expr(cx, p) for p in (node.lower, node.upper, node.step)]
    return slice(*parts)


def key_of(node: ast.AST, key: str) -> ast.expr | None:
    """The syntax of a key of a dict, if it is written."""
    keys = node.keys if isinstance(node, ast.Dict) else ()
    return next((k for k in keys if isinstance(k, ast.Constant) and k.value == key), None)


def asks_for_none(node: ast.Compare) -> bool:
    """True if it is `x is None` or `x is not None`."""
    match node:
        case ast.Compare(ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return True
    return False
