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
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from inspect import signature
from itertools import islice
from types import ModuleType
from typing import Any

from relaxscript.errors import Edit, Source
from relaxscript.ir.node import Node
from relaxscript.ir.relax import Attrs, Constant
from relaxscript.script.attributes import attribute
from relaxscript.script.printer.constants import METADATA_KEY, MetadataError, decode_all

from .blame import UNKNOWN, Failed
from .environment import Environment
from .misfits import Misfits
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
from .reporter import Reporter
from .statements import UNSUPPORTED

__all__ = ["UNKNOWN", "ExpressionParser", "Failed", "Reporter", "is_safe", "safe_callables"]


# Callables that only build IR or annotations: the ones that data mode may call.
_SAFE: set[int] = set()
_KEPT_ALIVE: list[Any] = []
_NAMESPACES = (
    "relaxscript.script.ir",
    "relaxscript.script.relax_forms",
    "relaxscript.script.relax_devices",
    "relaxscript.script.tir",
)
_OF_RELAX = _NAMESPACES[1:3]

# Python itself writes no number of more than 4,300 digits.
MOST_BITS = 4096


def safe_callables(*functions: Any) -> None:
    """Allow data mode to call these: they build IR and do nothing else."""
    for function in functions:
        _SAFE.add(id(function))
        _KEPT_ALIVE.append(function)


def is_safe(function: Any) -> bool:
    """Whether a callable only builds IR or annotations."""
    return id(function) in _SAFE


class ExpressionParser(Misfits):
    """Evaluates Python expressions of a script to values; the languages derive from it."""

    # What to write instead of a text that says what is known only later.
    help_of_text = "print values by `R.print(x, format=...)`"

    def __init__(self, source: Source, environment: Environment, reporter: Reporter) -> None:
        super().__init__(source, environment, reporter)
        self._attributes: dict[tuple[str, str], Any] = {}
        self._constants: dict[str, list[Constant]] | None = None
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
        waiting: list[tuple[int, ast.expr]] = []
        failed: Failed | None = None
        for node in nodes:
            try:
                if waiting and self.binds(node):
                    for index, earlier in waiting:
                        found[index] = self.computed(found[index], earlier)
                    waiting = []
                if type(node) is ast.Starred:
                    found.extend(self.host_iterable(node.value))
                    self.bounded(range(len(found)), node)
                    continue
                value = self.value(node)
                if self.waits(value):
                    waiting.append((len(found), node))
                found.append(value)
            except Failed as failure:
                failed = failure
        if failed is not None:
            raise failed
        return found

    def waits(self, value: Any) -> bool:
        """Whether a value is a call that is written where its whole statement is."""
        return False

    def binds(self, node: ast.expr) -> bool:
        """Whether parts of an expression are computed before it is."""
        return False

    def computed(self, value: Any, node: ast.expr) -> Any:
        """A value, computed now."""
        return value

    def before(self, later: ast.expr, value: Any, node: ast.expr) -> Any:
        """A value, computed now where it would otherwise come after parts of what is `later`."""
        return self.computed(value, node) if self.waits(value) and self.binds(later) else value

    def bounded(self, value: Any, node: ast.AST) -> Any:
        """A value, which in data mode may not be huge: a stranger may have written the text."""
        if self.environment.mode == "data" and size(value) > MOST_ITEMS:
            raise self.error(node, "RX0104", "this number or sequence is too large for a script")
        return value

    def host_iterable(self, node: ast.expr, use: str = "unpacked with `*`") -> list[Any]:
        """The items of a Python sequence that is unpacked at parse time."""
        return self.items_of(self.value(node), node, use)

    def items_of(self, value: Any, node: ast.expr, use: str) -> list[Any]:
        """The items of a value of Python, each of which is known now."""
        known = isinstance(value, Iterable) and not isinstance(value, Node)
        if not known or (isinstance(value, (str, bytes)) and use.endswith("`*`")):
            message = f"only a Python tuple or list can be {use} here"
            if not known and not isinstance(value, Node):
                kind = type(value).__name__
                message = f"`{self.written(node)}` is a Python {kind}, which cannot be {use}"
            raise self.error(node, "RX0104", message)
        with self.at(node):
            items = list(islice(value, MOST_ITEMS + 1))
        if len(items) > MOST_ITEMS:
            raise self.error(node, "RX0104", "this number or sequence is too large for a script")
        return items

    def unsupported(self, node: ast.AST) -> Failed:
        """Record that a form of Python has no meaning here."""
        name, help = UNSUPPORTED.get(type(node), (f"`{type(node).__name__}`", None))
        if isinstance(node, ast.NamedExpr):
            self.names.setdefault(node.target.id, UNKNOWN)
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
            found = self.environment.lookup(node.id)
        except KeyError:
            raise self.undefined(node) from None
        return self.constants_of(found, node) if node.id == "metadata" else found

    def constants_of(self, metadata: Any, node: ast.Name) -> Any:
        """The constants of a script that Python runs: there they are still plain data."""
        if not isinstance(metadata, dict) or METADATA_KEY not in metadata:
            return metadata  # some other value of the user's
        if self._constants is None:
            try:
                self._constants = decode_all(metadata)
            except MetadataError as error:
                raise self.error(node, "RX0108", f"the metadata is damaged: {error}") from None
        return self._constants

    def constant(self, node: ast.Constant) -> Any:
        value = node.value
        if type(value) is int and value.bit_length() > MOST_BITS:
            raise self.error(node, "RX0104", "this number or sequence is too large for a script")
        return value

    def attribute(self, node: ast.Attribute) -> Any:
        # `R.add` is looked up once per script and attribute: modules do not change meanwhile.
        base = node.value
        if type(base) is ast.Name and base.id not in self.names:
            key = (base.id, node.attr)
            found = self._attributes.get(key, self)
            if found is self:
                owner = self.owner(base, node)
                found = self.attribute_of(owner, node)
                if isinstance(owner, ModuleType):
                    self._attributes[key] = found
            return found
        try:
            owner = self.value(base)
        except Failed:
            self.explain_absent(node)
            raise
        return self.attribute_of(owner, node)

    def owner(self, node: ast.Name, whole: ast.Attribute) -> Any:
        """What stands before a dot: `nn.relu` may mean `R.nn.relu`, where `nn` alone does not."""
        self._before_dot, before = node, self._before_dot
        try:
            return self.value(node)
        except Failed:
            self.explain_absent(whole)
            raise
        finally:
            self._before_dot = before

    def attribute_of(self, owner: Any, node: ast.Attribute) -> Any:
        """An attribute of a Python value; of IR values in the languages that give it a meaning."""
        namespace = isinstance(owner, ModuleType) and owner.__name__.startswith("relaxscript.")
        if namespace:
            return self.namespace_member(owner, node)
        readable = isinstance(owner, (str, Node)) and not node.attr.startswith("__")
        if readable:
            with self.at(node):
                return getattr(owner, node.attr)
        with self.at(node):
            known, value = self.environment.member(owner, node.attr)
        if known:
            return value
        if self.environment.leave_to_run(ast.unparse(node)):
            raise Failed
        raise self.error(node, "RX0104", "attributes of Python values are not read in data mode")

    def call(self, node: ast.Call) -> Any:
        return self.call_value(self.callee(node), node)

    def callee(self, node: ast.Call) -> Any:
        """What is called."""
        try:
            return self.value(node.func)
        except Failed:
            self.explain_called(node)
            raise

    def call_value(self, callee: Any, node: ast.Call) -> Any:
        """A call of a Python callable at parse time."""
        return self.call_python(callee, node)

    def call_python(self, callee: Any, node: ast.Call) -> Any:
        """Call a Python callable with the values of the arguments."""
        if not callable(callee):
            raise self.error(
                node.func, "RX0201",
                f"`{ast.unparse(node.func)}` is no function and cannot be called",
                **self.without_parentheses(node),
            )  # fmt: skip
        args, kwargs = self.arguments_for(callee, node)
        self.check_taken(callee, (*args, *kwargs.values()), node)
        if getattr(callee, "__module__", None) in _NAMESPACES:
            self.check_signature(callee, args, kwargs, node)
        code = "RX0201" if getattr(callee, "__module__", "") in _OF_RELAX else "RX0112"
        try:
            with self.at(node, code):
                result = callee(*args, **kwargs)
        except Failed:
            self.explain_failure((*args, *kwargs.values()), node)
            raise
        if isinstance(result, Node) and result.span is None:
            return result.replace(span=self.span(node))
        return result

    def arguments_for(self, callee: Any, node: ast.Call) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of a function of Python, if it may be called with them."""
        ours = is_safe(callee) or getattr(callee, "__module__", None) in _NAMESPACES
        environment = self.environment
        if not ours and not environment.may_call(callee, ()):
            written = ast.unparse(node.func)
            if not environment.leave_to_run(written):
                raise self.error(node, "RX0104", f"`{written}` is not called in data mode")
        args, kwargs = self.arguments(node)
        if not ours and not environment.may_call(callee, (*args, *kwargs.values())):
            environment.leave_to_run(ast.unparse(node.func))
            raise Failed
        return args, kwargs

    def without_parentheses(self, node: ast.Call) -> dict[str, Any]:
        """What to write for `x.shape()`: an attribute that is no method is not called."""
        if not isinstance(node.func, ast.Attribute) or node.args or node.keywords:
            return {}
        func, whole = self.span(node.func), self.span(node)
        if func is None or whole is None:
            return {}
        written = func.text
        edit = Edit(whole, written)
        return {"help": f"leave the parentheses out: `{written}`", "edits": [edit]}

    def check_taken(self, callee: Any, args: Sequence[Any], node: ast.Call) -> None:
        """A chance to refuse a call of Python that cannot mean what it says."""

    def explain_failure(self, args: Sequence[Any], node: ast.Call) -> None:
        """A chance to say more about a call of Python that was just reported to have failed."""

    def check_signature(
        self, callee: Any, args: Sequence[Any], kwargs: Mapping[str, Any], node: ast.Call
    ) -> None:
        """A form of ours is called with the arguments it has."""
        try:
            taken = signature(callee)
        except (TypeError, ValueError):
            return
        try:
            taken.bind(*args, **kwargs)
        except TypeError:
            raise self.misfit_of(taken, node, len(args), kwargs) from None

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
                    kwargs.update(self.host_keywords(keyword.value))
                else:
                    kwargs[keyword.arg] = self.value(keyword.value)
            except Failed as failure:
                failed = failure
        if failed is not None:
            raise failed
        if self.environment.mode == "data":
            self.bounded([*args, *kwargs.values()], node)
        return args, kwargs

    def host_mapping(
        self, node: ast.expr, wanted: str = "only a Python dict can be unpacked with `**` here"
    ) -> Mapping[str, Any]:
        """A Python dict, refused in the words `wanted` where it is none."""
        value = self.value(node)
        if isinstance(value, Mapping):
            return value
        raise self.error(node, "RX0104", wanted)

    def checked_attributes(self, found: Mapping[str, Any], node: ast.expr) -> Attrs:
        """Attributes whose values have been evaluated; refuses what none can hold."""
        try:
            return Attrs(attribute(found))
        except TypeError as error:
            raise self.error(node, "RX0104", str(error)) from None

    def host_keywords(self, node: ast.expr) -> Mapping[str, Any]:
        """The items of a Python dict that are passed as keyword arguments."""
        found = self.host_mapping(node)
        for key in found:
            if not isinstance(key, str):
                raise self.error(
                    node, "RX0103", f"an argument is given by its name, and {key!r} is no name"
                )
        return found

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
                left = self.before(step.right, left, step.left)
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
        written = [node.left, *node.comparators]
        result: Any = None
        for i, op in enumerate(node.ops):
            step = node
            if len(node.ops) > 1:
                pair = ast.Compare(left=written[i], ops=[op], comparators=[written[i + 1]])
                step = ast.copy_location(pair, node)
            other = self.operate(COMPARE[type(op)], (operands[i], operands[i + 1]), step)
            result = other if i == 0 else self.operate("and", (result, other), node)
        return result

    def boolean(self, node: ast.BoolOp) -> Any:
        symbol = "and" if type(node.op) is ast.And else "or"
        result = self.value(node.values[0])
        step: ast.expr = node.values[0]
        for other in node.values[1:]:
            if not isinstance(result, Node) and bool(result) == (symbol == "or"):
                return result
            pair = ast.copy_location(ast.BoolOp(op=node.op, values=[step, other]), node)
            pair.end_lineno, pair.end_col_offset = other.end_lineno, other.end_col_offset
            result = self.before(other, result, step)
            step, result = pair, self.operate(symbol, (result, self.value(other)), pair)
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
        try:
            index = self.value(node.slice)
        except Failed:
            self.check_number_of_indices(owner, node)
            raise
        return self.subscript_of(owner, index, node)

    def check_number_of_indices(self, owner: Any, node: ast.Subscript) -> None:
        """Refuse more or fewer indices than `owner` takes, where these are not all known."""

    def subscript_of(self, owner: Any, index: Any, node: ast.Subscript) -> Any:
        if callable(owner) and not isinstance(owner, type) and not hasattr(owner, "__getitem__"):
            written, inside = ast.unparse(node.value), ast.unparse(node.slice)
            inside = inside[1:-1] if isinstance(node.slice, ast.Tuple) else inside
            call = f"{written}({inside.rstrip(',')})"
            raise self.error(
                node, "RX0103", f"`{written}` is called with parentheses", help=f"write `{call}`",
                fix=call,
            )  # fmt: skip
        with self.at(node):
            return owner[index]

    def tuple(self, node: ast.Tuple) -> Any:
        return self.bounded(tuple(self.values(node.elts)), node)

    def list(self, node: ast.List) -> Any:
        return self.bounded(self.values(node.elts), node)

    def dict(self, node: ast.Dict) -> Any:
        self.check_distinct_keys(node)
        found: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values):
            if key is None:
                found.update(self.host_mapping(value))
                continue
            name = self.value(key)
            with self.at(key):
                hash(name)
            found[name] = self.value(value)
        return self.bounded(found, node)

    def check_distinct_keys(self, node: ast.Dict) -> None:
        """A text that is a key twice is a slip, whose first value would be lost."""
        first: MutableMapping[str, ast.expr] = {}
        for key in node.keys:
            match key:
                case ast.Constant(value=str(name)):
                    earlier = first.setdefault(name, key)
                    if earlier is not key:
                        raise self.error(
                            key, "RX0302", f"`{name}` is given twice",
                            labels=[(earlier, "the first one")], help="leave one of them out",
                        )  # fmt: skip

    def add_attributes(
        self, known: MutableMapping[str, Any], found: Mapping[str, Any], node: ast.AST
    ) -> None:
        """Attributes beside those that a function has; each has one value."""
        for key, value in found.items():
            if key in known:
                message = f"the function has the attribute `{key}` already"
                place = key_of(node, key)
                raise self.error(place or node, "RX0302", message, help="leave one of them out")
            known[key] = value

    def conditional(self, node: ast.IfExp) -> Any:
        """`a if c else b` of values known now; the languages say what it is of others."""
        return self.value(node.body if self.value(node.test) else node.orelse)

    def text(self, node: ast.JoinedStr) -> Any:
        parts: list[str] = []
        length = 0
        for part in node.values:
            match part:
                case ast.FormattedValue():
                    parts.append(self.formatted(part, node))
                case _:
                    parts.append(str(self.value(part)))
            length += len(parts[-1])
            self.bounded(range(length), node)
        return "".join(parts)

    def formatted(self, part: ast.FormattedValue, node: ast.JoinedStr) -> str:
        """A value in braces as text; `node` is the whole, since parts have no place before 3.12."""
        value = self.value(part.value)
        if isinstance(value, Node):
            written = ast.unparse(part.value)
            raise self.error(
                part.value, "RX0104",
                f"`{written}` is known only later, and an f-string is made now",
                help=self.help_of_text,
            )  # fmt: skip
        form = "" if part.format_spec is None else self.value(part.format_spec)
        if self.environment.mode == "data" and is_wide(form):
            raise self.error(node, "RX0104", "this text is too long for a script")
        if part.conversion != -1:
            value = CONVERSIONS[chr(part.conversion)](value)
        with self.at(part):
            return format(value, form)

    def slice(self, node: ast.Slice) -> Any:
        parts = [None if p is None else self.value(p) for p in (node.lower, node.upper, node.step)]
        return slice(*parts)


def key_of(node: ast.AST, key: str) -> ast.expr | None:
    """Where a key of a dict is written."""
    keys = node.keys if isinstance(node, ast.Dict) else ()
    return next((k for k in keys if isinstance(k, ast.Constant) and k.value == key), None)
