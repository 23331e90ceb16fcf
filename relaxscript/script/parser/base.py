"""What the parsers of Relax, TIR and modules share: expressions, blame, and recovery.

    expression = name | literal | expression "." name | expression "(" arguments ")"
               | expression "[" index "]" | unary | binary | comparison | tuple | list | dict
               | expression "if" expression "else" expression | f-string

An expression evaluates to a *value*: an IR expression, or any Python value that the program
captured or wrote as a literal. The languages add meaning by overriding `call_value`, `operate` and
`find_name`. Each mistake is recorded where it stands; `Failed` then climbs to the statement, which
leaves its targets unknown, so that one run reports every independent mistake and no consequence.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import ModuleType
from typing import Any

from relaxscript.errors import (
    Diagnostic,
    DiagnosticError,
    Edit,
    InternalError,
    Label,
    Source,
    Span,
    nearest,
)
from relaxscript.ir.node import Node

from .environment import HARMLESS, Environment

__all__ = ["UNKNOWN", "ExpressionParser", "Failed", "Reporter", "safe_callables"]


class Failed(Exception):
    """A mistake inside was reported; whoever depends on it is unknown, and silent."""


class _Unknown:
    """The value of a name whose definition failed."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown()

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
UNARY: dict[type[ast.unaryop], str] = {
    ast.USub: "unary -", ast.UAdd: "unary +", ast.Invert: "~", ast.Not: "not",
}  # fmt: skip
COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
PYTHON: dict[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "**": operator.pow, "@": operator.matmul,
    "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift,
    ">>": operator.rshift, "unary -": operator.neg, "unary +": operator.pos, "~": operator.invert,
    "not": operator.not_, "==": operator.eq, "!=": operator.ne, "<": operator.lt,
    "<=": operator.le, ">": operator.gt, ">=": operator.ge, "is": operator.is_,
    "is not": operator.is_not, "in": lambda a, b: a in b, "not in": lambda a, b: a not in b,
}  # fmt: skip

CONVERSIONS: dict[str, Callable[[Any], str]] = {"r": repr, "s": str, "a": ascii}

# Callables that only build IR or annotations: the ones that data mode may call.
_SAFE: set[int] = set()
_KEPT_ALIVE: list[Any] = []
_NAMESPACES = (
    "relaxscript.script.ir",
    "relaxscript.script.relax_forms",
    "relaxscript.script.tir",
)


def safe_callables(*functions: Any) -> None:
    """Allow data mode to call these: they build IR and do nothing else."""
    for function in functions:
        _SAFE.add(id(function))
        _KEPT_ALIVE.append(function)


# What literals may grow to in data mode, where a text of a stranger must not use up the machine.
MOST_BITS = 4096
MOST_ITEMS = 1_000_000


def is_excessive(symbol: str, operands: tuple[Any, ...]) -> bool:
    """Whether an operation on Python values gives something huge."""
    match symbol, operands:
        case "**", (int() as base, int() as power):
            return power > 0 and base.bit_length() * power > MOST_BITS
        case "<<", (int() as base, int() as places):
            return base.bit_length() + places > MOST_BITS
        case "*", (int() as a, int() as b):
            return a.bit_length() + b.bit_length() > MOST_BITS
        case "*", ((str() | bytes() | list() | tuple()) as items, int() as times) | (
            int() as times,
            (str() | bytes() | list() | tuple()) as items,
        ):
            return len(items) * times > MOST_ITEMS
    return False


class Reporter:
    """Mistakes found so far in one definition; `strict` makes what cannot be decided one too."""

    def __init__(self, strict: bool = False) -> None:
        self.diagnostics: list[Diagnostic] = []
        self.strict = strict

    @property
    def failed(self) -> bool:
        return any(d.severity == "error" for d in self.diagnostics)

    def finish(self) -> list[Diagnostic]:
        """Raise the errors, in the order of their places; give back the warnings."""
        ordered = sorted(self.diagnostics, key=_position)
        if self.strict:
            ordered = [replace(d, severity="error") if d.code == "RX0207" else d for d in ordered]
        errors = [d for d in ordered if d.severity == "error"]
        if errors:
            raise DiagnosticError(errors)
        return ordered


def _position(diagnostic: Diagnostic) -> tuple[int, int]:
    span = diagnostic.span
    return (0, 0) if span is None else (span.line, span.column)


class ExpressionParser:
    """Evaluates Python expressions of a script to values; the languages derive from it."""

    def __init__(self, source: Source, environment: Environment, reporter: Reporter) -> None:
        self.source = source
        self.environment = environment
        self.reporter = reporter
        self.names: dict[str, Any] = {}
        self._attributes: dict[tuple[str, str], Any] = {}
        self._rules: dict[type[ast.AST], Callable[[Any], Any]] = {
            ast.Name: self.name,
            ast.Constant: self.constant,
            ast.Attribute: self.attribute,
            ast.Call: self.call,
            ast.BinOp: self.binary,
            ast.UnaryOp: self.unary,
            ast.Compare: self.comparison,
            ast.BoolOp: self.boolean,
            ast.Subscript: self.subscript,
            ast.Tuple: self.tuple,
            ast.List: self.list,
            ast.Dict: self.dict,
            ast.IfExp: self.conditional,
            ast.JoinedStr: self.text,
            ast.Slice: self.slice,
        }

    # ---- blame

    def error(
        self, node: ast.AST | None, code: str, message: str, *, help: str | None = None,
        labels: Sequence[tuple[ast.AST | Span | None, str]] = (), notes: Sequence[str] = (),
        fix: str | None = None,
    ) -> Failed:  # fmt: skip
        """Record a mistake at `node`; raise what this returns.

        `fix` is the text to write in the place of `node`.
        """
        span = None if node is None else self.span(node)
        placed = [(self.span(at) if isinstance(at, ast.AST) else at, text) for at, text in labels]
        edits = (Edit(span, fix),) if fix is not None and span is not None else ()
        marks = tuple(Label(at, text) for at, text in placed if at is not None)
        self.reporter.diagnostics.append(
            Diagnostic(code, message, span, marks, tuple(notes), help, edits)
        )
        return Failed()

    def report(self, diagnostic: Diagnostic) -> Failed:
        """Record a finished diagnostic."""
        self.reporter.diagnostics.append(diagnostic)
        return Failed()

    def span(self, node: ast.AST) -> Span | None:
        """Where a piece of syntax stands."""
        return self.source.span(node)

    @contextmanager
    def at(self, node: ast.AST, code: str = "RX0112") -> Iterator[None]:
        """Whatever the user's Python raises inside is blamed on `node`."""
        try:
            yield
        except (Failed, InternalError):
            raise
        except DiagnosticError as error:
            self.reporter.diagnostics.extend(error.diagnostics)
            raise Failed from None
        except Exception as error:
            reason = str(error) or type(error).__name__
            if code != "RX0112":
                raise self.error(node, code, reason) from error
            message = f"evaluating this Python raised {type(error).__name__}: {reason}"
            raise self.error(node, code, message) from error

    # ---- expressions

    def value(self, node: ast.AST) -> Any:
        """The value of an expression; raises `Failed` after recording a mistake."""
        rule = self._rules.get(type(node))
        if rule is None:
            raise self.unsupported(node)
        return rule(node)

    def values(self, nodes: Sequence[ast.expr]) -> list[Any]:
        """The values of several expressions; mistakes in all of them are reported."""
        found: list[Any] = []
        failed: Failed | None = None
        for node in nodes:
            try:
                if type(node) is ast.Starred:
                    found.extend(self.host_iterable(node.value))
                else:
                    found.append(self.value(node))
            except Failed as failure:
                failed = failure
        if failed is not None:
            raise failed
        return found

    def host_iterable(self, node: ast.expr) -> list[Any]:
        """The items of a Python sequence that is unpacked at parse time."""
        value = self.value(node)
        if isinstance(value, (list, tuple, range)):
            return list(value)
        raise self.error(
            node, "RX0104", "only a Python tuple or list can be unpacked with `*` here"
        )

    def unsupported(self, node: ast.AST) -> Failed:
        """Record that a form of Python has no meaning here."""
        name, help = UNSUPPORTED.get(type(node), (f"`{type(node).__name__}`", None))
        return self.error(node, "RX0104", f"{name} cannot be used here", help=help)

    def name(self, node: ast.Name) -> Any:
        found = self.names.get(node.id, self)
        if found is self:
            found = self.find_name(node)
        if found is UNKNOWN:
            raise Failed
        return found

    def find_name(self, node: ast.Name) -> Any:
        """A name that the script itself did not bind: captured from Python, or undefined."""
        try:
            return self.environment.lookup(node.id)
        except KeyError:
            raise self.undefined(node) from None

    def undefined(self, node: ast.Name) -> Failed:
        """Record an undefined name, with the nearest one that is defined."""
        near = nearest(node.id, [*self.names, *self.environment.names()])
        help = f"did you mean `{near}`?" if near else None
        return self.error(node, "RX0101", f"`{node.id}` is not defined", help=help, fix=near)

    def constant(self, node: ast.Constant) -> Any:
        return node.value

    def attribute(self, node: ast.Attribute) -> Any:
        # `R.add` is looked up once per script and attribute: modules do not change meanwhile.
        base = node.value
        if type(base) is ast.Name and base.id not in self.names:
            key = (base.id, node.attr)
            found = self._attributes.get(key, self)
            if found is self:
                owner = self.value(base)
                found = self.attribute_of(owner, node)
                if isinstance(owner, ModuleType):
                    self._attributes[key] = found
            return found
        return self.attribute_of(self.value(base), node)

    def attribute_of(self, owner: Any, node: ast.Attribute) -> Any:
        """An attribute of a Python value; of IR values in the languages that give it a meaning."""
        namespace = isinstance(owner, ModuleType) and owner.__name__.startswith("relaxscript.")
        if namespace:
            return self.namespace_member(owner, node)
        if self.environment.mode == "data" and not isinstance(owner, (str, Node)):
            raise self.error(
                node, "RX0104", "attributes of Python values are not read in data mode"
            )
        with self.at(node):
            return getattr(owner, node.attr)

    def namespace_member(self, namespace: ModuleType, node: ast.Attribute) -> Any:
        """A public name of `R`, `T` or `I`; the nearest is offered for a misspelt one."""
        public = getattr(namespace, "__all__", None) or dir(namespace)
        if node.attr in public or (not node.attr.startswith("_") and hasattr(namespace, node.attr)):
            return getattr(namespace, node.attr)
        written = ast.unparse(node.value)
        near = self._nearest_member(namespace, node.attr, public)
        help = f"did you mean `{written}.{near}`?" if near else None
        message = f"`{written}` has no `{node.attr}`"
        fix = f"{written}.{near}" if near else None
        raise self.error(node, "RX0102", message, help=help, fix=fix)

    def _nearest_member(
        self, namespace: ModuleType, name: str, public: Sequence[str]
    ) -> str | None:
        members = {member: member for member in public}
        for part in public:
            inner = getattr(namespace, part, None)
            if isinstance(inner, ModuleType):
                for member in getattr(inner, "__all__", ()):
                    members.setdefault(member, f"{part}.{member}")
        near = nearest(name, members) if name not in members else name
        return None if near is None else members[near]

    def call(self, node: ast.Call) -> Any:
        return self.call_value(self.value(node.func), node)

    def call_value(self, callee: Any, node: ast.Call) -> Any:
        """A call of a Python callable at parse time."""
        return self.call_python(callee, node)

    def call_python(self, callee: Any, node: ast.Call) -> Any:
        """Call a Python callable with the values of the arguments."""
        if (
            self.environment.mode == "data"
            and id(callee) not in _SAFE
            and not self._harmless(callee)
        ):
            written = ast.unparse(node.func)
            raise self.error(node, "RX0104", f"`{written}` is not called in data mode")
        args, kwargs = self.arguments(node)
        with self.at(node):
            result = callee(*args, **kwargs)
        if isinstance(result, Node) and result.span is None:
            return result.replace(span=self.span(node))
        return result

    def _harmless(self, callee: Any) -> bool:
        ours = getattr(callee, "__module__", None) in _NAMESPACES
        return ours or any(callee is function for function in HARMLESS.values())

    def arguments(self, node: ast.Call) -> tuple[list[Any], dict[str, Any]]:
        """The values of positional and keyword arguments; mistakes in all of them are reported."""
        failed: Failed | None = None
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        try:
            args = self.values(node.args)
        except Failed as failure:
            failed = failure
        for keyword in node.keywords:
            try:
                if keyword.arg is None:
                    kwargs.update(self.host_mapping(keyword.value))
                else:
                    kwargs[keyword.arg] = self.value(keyword.value)
            except Failed as failure:
                failed = failure
        if failed is not None:
            raise failed
        return args, kwargs

    def host_mapping(self, node: ast.expr) -> Mapping[str, Any]:
        value = self.value(node)
        if isinstance(value, Mapping):
            return value
        raise self.error(node, "RX0104", "only a Python dict can be unpacked with `**` here")

    def binary(self, node: ast.BinOp) -> Any:
        # `a + b + c + ...` nests to the left as deep as it is long: descend in a loop.
        chain: list[ast.BinOp] = [node]
        while type(chain[-1].left) is ast.BinOp:
            chain.append(chain[-1].left)
        failed: Failed | None = None
        left: Any = None
        try:
            left = self.value(chain[-1].left)
        except Failed as failure:
            failed = failure
        for step in reversed(chain):
            try:
                right = self.value(step.right)
                if failed is None:
                    left = self.operate(BINARY[type(step.op)], (left, right), step)
            except Failed as failure:
                failed = failed or failure
        if failed is not None:
            raise failed
        return left

    def unary(self, node: ast.UnaryOp) -> Any:
        value = self.value(node.operand)
        if type(node.op) is ast.USub and type(value) in (int, float):
            return -value
        return self.operate(UNARY[type(node.op)], (value,), node)

    def comparison(self, node: ast.Compare) -> Any:
        """Chained comparisons mean what they mean in Python: each pair, combined with `and`."""
        operands = self.values([node.left, *node.comparators])
        results = [
            self.operate(COMPARE[type(op)], (operands[i], operands[i + 1]), node)
            for i, op in enumerate(node.ops)
        ]
        result = results[0]
        for other in results[1:]:
            result = self.operate("and", (result, other), node)
        return result

    def boolean(self, node: ast.BoolOp) -> Any:
        symbol = "and" if type(node.op) is ast.And else "or"
        result = self.value(node.values[0])
        for other in node.values[1:]:
            if not isinstance(result, Node) and bool(result) == (symbol == "or"):
                return result
            result = self.operate(symbol, (result, self.value(other)), node)
        return result

    def operate(self, symbol: str, operands: tuple[Any, ...], node: ast.expr) -> Any:
        """An operator applied to values: Python's own on Python values and scalar expressions."""
        if symbol in ("and", "or"):
            left, right = operands
            return (left and right) if symbol == "and" else (left or right)
        if self.environment.mode == "data" and is_excessive(symbol, operands):
            raise self.error(node, "RX0104", "this number or sequence is too large for a script")
        with self.at(node):
            return PYTHON[symbol](*operands)

    def subscript(self, node: ast.Subscript) -> Any:
        owner = self.value(node.value)
        return self.subscript_of(owner, self.value(node.slice), node)

    def subscript_of(self, owner: Any, index: Any, node: ast.Subscript) -> Any:
        with self.at(node):
            return owner[index]

    def tuple(self, node: ast.Tuple) -> Any:
        return tuple(self.values(node.elts))

    def list(self, node: ast.List) -> Any:
        return self.values(node.elts)

    def dict(self, node: ast.Dict) -> Any:
        if None in node.keys:
            raise self.unsupported(node)
        keys = self.values([k for k in node.keys if k is not None])
        return dict(zip(keys, self.values(node.values)))

    def conditional(self, node: ast.IfExp) -> Any:
        test = self.value(node.test)
        if isinstance(test, Node):
            raise self.error(
                node, "RX0104",
                "`a if c else b` chooses at parse time, but `c` is known only later",
                help="write an `if` statement, or `R.where(c, a, b)`",
            )  # fmt: skip
        return self.value(node.body if test else node.orelse)

    def text(self, node: ast.JoinedStr) -> Any:
        parts: list[str] = []
        for part in node.values:
            match part:
                case ast.FormattedValue(value=inner, conversion=conversion, format_spec=spec):
                    value = self.value(inner)
                    if conversion != -1:
                        value = CONVERSIONS[chr(conversion)](value)
                    with self.at(part):
                        parts.append(format(value, "" if spec is None else self.value(spec)))
                case _:
                    parts.append(str(self.value(part)))
        return "".join(parts)

    def slice(self, node: ast.Slice) -> Any:
        parts = [None if p is None else self.value(p) for p in (node.lower, node.upper, node.step)]
        return slice(*parts)

    def literal(self, node: ast.expr, what: str) -> Any:
        """A value that must be written out; raises RX0104 naming `what` otherwise."""
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError):
            raise self.error(node, "RX0104", f"{what} must be written as a literal") from None


UNSUPPORTED: dict[type[ast.AST], tuple[str, str | None]] = {
    ast.ListComp: ("a list comprehension", "write the elements out"),
    ast.SetComp: ("a set comprehension", None),
    ast.DictComp: ("a dict comprehension", "write the items out"),
    ast.GeneratorExp: ("a generator expression", "write the elements out"),
    ast.Lambda: ("a lambda", "define a function"),
    ast.Await: ("`await`", None),
    ast.Yield: ("`yield`", None),
    ast.YieldFrom: ("`yield from`", None),
    ast.NamedExpr: ("`:=`", "assign in a statement of its own"),
    ast.Set: ("a set", "write a tuple"),
    ast.Starred: ("`*` unpacking", None),
}
