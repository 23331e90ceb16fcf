"""Expressions of Relax: operator calls, functions of the module, tuples, and their blame.

operand    = expression            (bound to a variable first when it is not a leaf)
call       = operator "(" arguments ")" | function "(" operands ")" | front "(" arguments ")"
function   = "cls" "." name | local function | extern function
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from relaxscript.analysis.derive import kind_name
from relaxscript.builder import BlockBuilder, undecided
from relaxscript.errors import Diagnostic, Edit, Label, OperandError, Source, Span, nearest
from relaxscript.ir.prim import EQ, NE, And, Not, Or, PrimExpr, Var as PrimVar, match_dtypes
from relaxscript.ir.relax import (
    Call,
    Expr,
    Function,
    GlobalVar,
    LeafExpr,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    Var,
    as_expr,
)
from relaxscript.ir.struct_info import FuncStructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.op import REGISTRY, SYMBOLS, ArgumentError, Operator, Sugar
from relaxscript.script import relax_forms
from relaxscript.script.annotations import Front
from relaxscript.script.relax_forms import MatchCastValue
from relaxscript.sinfo import definable_shape_vars, free_shape_vars

from .annotation import AnnotationParser
from .base import Failed, Reporter
from .context import ModuleContext, ModuleName
from .environment import Environment

__all__ = ["RelaxExpressions", "mentions"]


class Method:
    """An operator with its first operand, `x.astype`, before it is called."""

    def __init__(self, operator: Operator, owner: Expr, node: ast.expr) -> None:
        self.operator = operator
        self.owner = owner
        self.node = node


def _plain_arity(operator: Operator) -> int:
    """The number of operands of an operator that takes nothing but tensors, else -1."""
    plain = all(p.kind == "operand" and p.wants == "tensor" for p in operator.parameters)
    return len(operator.parameters) if plain else -1


class RelaxExpressions(AnnotationParser):
    """Evaluates Relax expressions through the builder, which binds nested ones."""

    def __init__(
        self, source: Source, environment: Environment, reporter: Reporter, module: ModuleContext
    ) -> None:
        super().__init__(source, environment, reporter, module)
        self.builder = BlockBuilder()
        self.builder.signatures.update(module.signatures)
        self.lost: dict[str, str] = {}
        self.function_name = ""
        self._arity: dict[Operator, int] = {}

    # ---- names

    def find_name(self, node: ast.Name) -> Any:
        if node.id in self.dims:
            return self.dims[node.id]
        if node.id in self.lost:
            raise self.error(
                node, "RX0107", f"`{node.id}` is used outside its dataflow block",
                help=self.lost[node.id],
            )  # fmt: skip
        try:
            value = self.environment.lookup(node.id)
        except KeyError:
            value = None
        if node.id in self.module.global_vars and not isinstance(value, (int, str, tuple, list)):
            raise self.bare_global(node)
        return super().find_name(node)

    def bare_global(self, node: ast.Name) -> Failed:
        """Record that a function of the module was named without `cls.`"""
        name = self.module.name
        return self.error(
            node, "RX0110", f"`{node.id}` is a function of the module",
            help=f"write `{name}.{node.id}`, or `cls.{node.id}` after `cls = {name}`",
            fix=f"{name}.{node.id}",
        )  # fmt: skip

    def attribute_of(self, owner: Any, node: ast.Attribute) -> Any:
        match owner:
            case ModuleName():
                return self.global_var(node)
            case Expr():
                return self.tensor_attribute(owner, node)
        return super().attribute_of(owner, node)

    def global_var(self, node: ast.Attribute) -> GlobalVar:
        """`cls.f`: a function of the module."""
        known = self.module.global_vars.get(node.attr)
        if known is None:
            near = nearest(node.attr, self.module.global_vars)
            written = ast.unparse(node.value)
            raise self.error(
                node, "RX0101", f"the module has no function `{node.attr}`",
                help=f"did you mean `{written}.{near}`?" if near else None,
                fix=f"{written}.{near}" if near else None,
            )  # fmt: skip
        if node.attr in self.module.broken:
            raise Failed
        return known

    def tensor_attribute(self, owner: Expr, node: ast.Attribute) -> Any:
        """`x.astype`: an operator as a method of its first operand."""
        operator = REGISTRY.get(f"relax.{node.attr}")
        if (
            operator is not None
            and operator.parameters
            and operator.parameters[0].wants == "tensor"
        ):
            return Method(operator, self.leaf(owner, node.value), node.value)
        written = ast.unparse(node.value)
        help = f"write `R.shape_of({written})`" if node.attr == "shape" else None
        if help is None:
            methods = [name.removeprefix("relax.") for name in REGISTRY]
            near = nearest(node.attr, methods)
            help = f"did you mean `{written}.{near}`?" if near else None
        raise self.error(node, "RX0102", f"`{written}` has no attribute `{node.attr}`", help=help)

    def is_bound(self, var: PrimVar) -> bool:
        return self.builder.is_in_scope(var)

    # ---- operands

    def operand(self, node: ast.expr) -> Expr:
        """A Relax operand; whatever is not a leaf is bound to a variable, blamed here."""
        value = self.value(node)
        if isinstance(value, LeafExpr) and type(value) is not Tuple:
            return value
        return self.leaf(self.expr_of(value, node), node)

    def leaf(self, expr: Expr, node: ast.expr) -> Expr:
        """An expression as a leaf."""
        if isinstance(expr, LeafExpr) and type(expr) is not Tuple:
            return expr
        if not self.builder.has_open_scope:
            raise self.error(node, "RX0108", "nothing can be computed in an annotation")
        try:
            return self.builder.operand(expr)
        except OperandError as error:
            raise self.operand_error(error, node, expr) from None
        finally:
            self.note_obligations(node)

    def expr_of(self, value: Any, node: ast.AST) -> Expr:
        """A value as a Relax expression."""
        match value:
            case Expr():
                return value
            case PrimVar() | PrimExpr():
                return self.prim_value(value)
            case tuple() | list():
                return Tuple.make(tuple([self.expr_of(v, node) for v in value]))
            case ModuleName():
                raise self.error(node, "RX0201", "the module itself is not a value")
            case Operator():
                raise self.error(
                    node, "RX0309", f"the operator `R.{value.script_name}` may only be called"
                )
        try:
            return as_expr(value)
        except TypeError:
            what = getattr(value, "__name__", None) or repr(value)
            raise self.error(node, "RX0201", f"`{what}` is not a Relax expression") from None

    def prim_value(self, value: PrimExpr) -> Expr:
        """A scalar expression as a value (spec_notes: anything but a literal is computed)."""
        return relax_forms.prim_value(value)

    # ---- calls

    def call_value(self, callee: Any, node: ast.Call) -> Any:
        match callee:
            case Method():
                # The operand was evaluated with the method: it stands in the call as it is.
                owner = ast.copy_location(ast.Constant(callee.owner), callee.node)  # type: ignore[arg-type]
                call = ast.Call(func=node.func, args=[owner, *node.args], keywords=node.keywords)
                return self.operator_call(callee.operator, ast.copy_location(call, node))
            case Operator():
                return self.operator_call(callee, node)
            case Front():
                return self.front_call(callee, node)
            case Sugar():
                return self.sugar_call(callee, node)
            case Function():
                raise self.error(node.func, "RX0201", "this function is not part of the module")
            case Expr():
                return self.function_call(callee, node)
        if callee is relax_forms.match_cast:
            return self.match_cast_call(node)
        if callee is relax_forms.shape:
            return self.shape_call(node)
        return self.call_python(callee, node)

    def match_cast_call(self, node: ast.Call) -> MatchCastValue:
        """`R.match_cast(value, annotation)`: dimensions that stand alone get a value here."""
        if len(node.args) != 2 or node.keywords:
            raise self.error(
                node, "RX0103", "`R.match_cast` takes a value and an annotation",
                help='write `R.match_cast(x, R.Tensor((n, 4), "float32"))`',
            )  # fmt: skip
        value, failed = None, None
        try:
            value = self.value(node.args[0])
        except Failed as failure:
            failed = failure
        with self.unbound_dimensions():
            info = self.annotation(node.args[1])
        known = set(definable_shape_vars(info))
        for var in free_shape_vars(info):
            if var not in known and not self.is_bound(var):
                place = next((n for n in ast.walk(node.args[1]) if mentions(n, var.name)), node)
                self.check_bound_here(var, place)  # type: ignore[arg-type]
        if failed is not None:
            raise failed
        return MatchCastValue(value, info)

    def shape_call(self, node: ast.Call) -> Any:
        """`R.shape([n, 4])`: the elements are dimensions."""
        match node:
            case ast.Call(args=[ast.List(elts=dims) | ast.Tuple(elts=dims)], keywords=[]):
                return ShapeExpr.make(tuple(self.dimensions(dims)), span=self.source.span(node))
        return self.call_python(relax_forms.shape, node)

    def operator_call(self, operator: Operator, node: ast.Call) -> Any:
        """`R.add(x, y)`: the common case, operands only, is built without ceremony."""
        nodes = node.args
        arity = self._arity.get(operator)
        if arity is None:
            arity = self._arity[operator] = _plain_arity(operator)
        if arity != len(nodes) or node.keywords:
            return self.general_call(operator, node)
        args = self.call_operands(nodes)
        for arg in args:
            if not isinstance(arg, Expr):
                return self.built(operator, args, {}, node)
        spans = tuple([self.source.span(n) for n in nodes])
        return Call.make(operator.op, tuple(args), None, (), spans, span=self.source.span(node))

    def call_operands(self, nodes: list[ast.expr]) -> list[Any]:
        """Positional operands; nested calls are bound in order, mistakes in all are reported."""
        found: list[Any] = []
        failed: Failed | None = None
        for node in nodes:
            try:
                if type(node) is ast.Starred:
                    found.extend(self.host_iterable(node.value))
                    continue
                value = self.value(node)
                if isinstance(value, Expr) and not isinstance(value, LeafExpr):
                    value = self.leaf(value, node)
                found.append(value)
            except Failed as failure:
                failed = failure
        if failed is not None:
            raise failed
        return found

    def general_call(self, operator: Operator | Sugar, node: ast.Call) -> Any:
        failed: Failed | None = None
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        try:
            args = self.call_operands(node.args)
        except Failed as failure:
            failed = failure
        for keyword in node.keywords:
            try:
                kwargs.update(self._keyword(keyword))
            except Failed as failure:
                failed = failure
        if failed is not None:
            raise failed
        return self.built(operator, args, kwargs, node)

    def _keyword(self, keyword: ast.keyword) -> dict[str, Any]:
        if keyword.arg is None:
            return dict(self.host_mapping(keyword.value))
        if keyword.arg in ("out_sinfo", "sinfo_args"):
            return {keyword.arg: self.annotation_argument(keyword.value)}
        return {keyword.arg: self.call_operands([keyword.value])[0]}

    def built(
        self, operator: Operator | Sugar, args: list[Any], kwargs: dict[str, Any], node: ast.Call
    ) -> Any:
        """The call, its mistakes blamed on the arguments that made them."""
        args = [self._argument(a, n) for a, n in self._placed(args, node)]
        kwargs = {key: self._argument(value, node) for key, value in kwargs.items()}
        try:
            call = operator.build(args, kwargs)
        except OperandError as error:
            raise self.operand_error(error, node, None, operator) from None
        except ArgumentError as error:
            raise self.argument_error(error, node) from None
        if not isinstance(call, Call):
            return call
        spans: tuple[Span | None, ...] = ()
        if len(call.args) == len(node.args):
            spans = tuple([self.source.span(n) for n in node.args])
        return call.replace(span=self.source.span(node), arg_spans=spans)

    def _placed(self, args: list[Any], node: ast.Call) -> list[tuple[Any, ast.expr]]:
        nodes = node.args if len(node.args) == len(args) else [node] * len(args)
        return list(zip(args, nodes))

    def _argument(self, value: Any, node: ast.expr) -> Any:
        """Values inside tuples are bound too; shapes and plain Python values stay as they are."""
        if isinstance(value, Expr) and (type(value) is Tuple or not isinstance(value, LeafExpr)):
            return self.leaf(value, node)
        if isinstance(value, (tuple, list)) and any(isinstance(v, Expr) for v in value):
            return tuple(self._argument(v, node) for v in value)
        return value

    def sugar_call(self, sugar: Sugar, node: ast.Call) -> Any:
        """A form that stands for several nodes, such as `R.call_packed` or `R.linear`."""
        return self.general_call(sugar, node)

    def function_call(self, callee: Expr, node: ast.Call) -> Call:
        """`cls.f(x)`, `g(x)`: a call of a Relax function, PrimFunc, closure or PackedFunc."""
        if node.keywords:
            raise self.error(
                node.keywords[0], "RX0103", "a Relax function takes positional arguments only"
            )
        if isinstance(callee, GlobalVar):
            self.check_recursion(callee.name_hint, node)
        values = self.call_operands(node.args)
        args = tuple([self.leaf(self.expr_of(v, n), n) for v, n in self._placed(values, node)])
        spans = tuple([self.source.span(n) for n in node.args])
        target = self.leaf(callee, node.func)
        try:
            info = self.builder.struct_info(target)
        except OperandError as error:
            raise self.operand_error(error, node, None) from None
        if not isinstance(info, FuncStructInfo):
            written = ast.unparse(node.func)
            raise self.error(
                node.func, "RX0201",
                f"`{written}` is {kind_name(info)}, and only functions can be called",
            )  # fmt: skip
        return Call.make(target, args, None, (), spans, span=self.source.span(node))

    def check_recursion(self, callee: str, node: ast.Call) -> None:
        """Criterion 7: no call in a dataflow block may lead back to the function it stands in."""
        name = self.function_name
        if not self.builder.current_block_is_dataflow():
            return
        if callee == name or self.module.reaches(callee, name):
            written = ast.unparse(node.func)
            raise self.error(
                node, "RX0307",
                f"`{written}` is recursive and cannot be called in a dataflow block",
                help="move the call out of the dataflow block",
            )  # fmt: skip

    # ---- operators of Python

    def operate(self, symbol: str, operands: tuple[Any, ...], node: ast.expr) -> Any:
        if any(isinstance(o, Expr) for o in operands):
            nodes = _operand_nodes(node)
            placed = zip(operands, nodes if len(nodes) == len(operands) else [node] * len(operands))
            leaves = [self.leaf(o, n) if isinstance(o, Expr) else o for o, n in placed]
            return self.infix(symbol, leaves, node)
        if any(isinstance(o, PrimExpr) for o in operands):
            scalar = scalar_operation(symbol, operands)
            if scalar is not None:
                return scalar
        return super().operate(symbol, operands, node)

    def infix(self, symbol: str, operands: list[Any], node: ast.expr) -> Any:
        """`x + y` is the call that the operator of this symbol makes."""
        operands = [self.prim_value(o) if isinstance(o, PrimExpr) else o for o in operands]
        operator = SYMBOLS.get(symbol)
        if operator is None:
            shown = symbol.removeprefix("unary ")
            raise self.error(node, "RX0104", f"`{shown}` has no meaning in Relax")
        try:
            call = operator.build(operands)
        except OperandError as error:
            raise self.operand_error(error, node, None, operator) from None
        except ArgumentError as error:
            raise self.error(node, "RX0104", f"`{symbol}` cannot be used here: {error}") from None
        spans = tuple([self.source.span(n) for n in _operand_nodes(node)])
        if len(spans) != len(call.args):
            spans = ()
        return call.replace(span=self.source.span(node), arg_spans=spans)

    def subscript(self, node: ast.Subscript) -> Any:
        owner = self.value(node.value)
        if isinstance(owner, Front):
            return self.front_subscript(owner, node)
        return self.subscript_of(owner, self.value(node.slice), node)

    def subscript_of(self, owner: Any, index: Any, node: ast.Subscript) -> Any:
        if not isinstance(owner, Expr):
            return super().subscript_of(owner, index, node)
        if (
            isinstance(owner, Tuple)
            and isinstance(index, int)
            and -len(owner) <= index < len(owner)
        ):
            return owner.fields[index]
        return self.tuple_field(self.leaf(owner, node.value), index, node)

    def tuple_field(self, owner: Expr, index: Any, node: ast.Subscript) -> Expr:
        """`t[i]` of a tuple with a constant index."""
        info = self.builder.struct_info(owner)
        written = ast.unparse(node.value)
        if isinstance(info, TensorStructInfo):
            raise self.error(
                node, "RX0104", f"`{written}` is a tensor, and tensors are not indexed with `[]`",
                help=f"write `R.take({written}, index, axis)`",
            )  # fmt: skip
        if not isinstance(info, TupleStructInfo):
            what = kind_name(info)
            raise self.error(
                node, "RX0208", f"`{written}` is {what}, and only a tuple can be indexed",
                help=f"check it first: `R.match_cast({written}, R.Tuple(...))`",
            )  # fmt: skip
        if not isinstance(index, int) or isinstance(index, bool):
            raise self.error(
                node.slice, "RX0208", "the index of a tuple is a whole number written out"
            )
        count = len(info.fields)
        if not -count <= index < count:
            raise self.error(
                node.slice, "RX0208", f"the tuple has no field {index}",
                labels=[(node.value, f"has {count} field{'s' if count != 1 else ''}")],
            )  # fmt: skip
        span = self.source.span(node)
        return TupleGetItem.make(owner, index % count, self.source.span(node.value), span=span)

    # ---- blame

    def note_obligations(self, node: ast.AST) -> None:
        """What could not be decided while `node` was typed becomes one warning each."""
        obligations = self.builder.obligations
        if not obligations:
            return
        for obligation in obligations:
            self.reporter.diagnostics.append(undecided(obligation, self.source.span(node)))
        obligations.clear()

    def argument_error(self, error: ArgumentError, node: ast.Call) -> Failed:
        """Arguments that do not fit an operator's signature."""
        at: ast.AST = node
        if error.keyword is not None:
            at = next((k for k in node.keywords if k.arg == error.keyword), node)
        elif error.position is not None and error.position < len(node.args):
            at = node.args[error.position]
        span = self.source.name_span(at) if isinstance(at, ast.keyword) else self.source.span(at)
        diagnostic = error.diagnostic(span)
        suggested = re.fullmatch(r"did you mean `(\w+)`\?", diagnostic.help or "")
        if isinstance(at, ast.keyword) and suggested is not None and span is not None:
            diagnostic = replace(diagnostic, fix=(Edit(span, suggested[1]),))
        return self.report(diagnostic)

    def operand_error(
        self, error: OperandError, node: ast.AST, expr: Expr | None, callee: Any = None
    ) -> Failed:
        """Operands that do not go together, each fact at its operand and where it got it."""
        call = node if isinstance(node, ast.Call) else None
        nodes = self._operand_places(callee or self._operator_of(expr), node)
        places = {name: self.source.span(at) for name, at in nodes.items()}
        name = ast.unparse(call.func) if call is not None else _infix_text(node)
        at = self.source.span(call.func if call and error.operand == "callee" else node)
        diagnostic = error.diagnostic(name, at, places)
        if diagnostic.message.startswith("the function "):
            message = diagnostic.message.replace("the function", f"`{name}`", 1)
            diagnostic = replace(diagnostic, message=message)
        written = {name: text for name, at in nodes.items() if len(text := ast.unparse(at)) < 40}
        return self.report(
            in_the_users_words(self._with_origins(diagnostic, error, nodes), written)
        )

    def _operator_of(self, expr: Expr | None) -> Any:
        if isinstance(expr, Call):
            return REGISTRY.get(getattr(expr.op, "name", ""))
        return None

    def _operand_places(self, callee: Any, node: ast.AST) -> dict[str, ast.expr]:
        if isinstance(callee, str):
            callee = None
        parameters = [p.name for p in getattr(callee, "parameters", ())]
        if not isinstance(node, ast.Call):
            operands = _operand_nodes(node)
            return dict(zip(parameters or ("x1", "x2"), operands))
        places: dict[str, ast.expr] = dict(zip(parameters, node.args))
        if callee is None or not parameters:
            places = {f"argument {i}": a for i, a in enumerate(node.args, 1)}
            places.update(zip(_names_of(callee), node.args))
        places.update({k.arg: k.value for k in node.keywords if k.arg is not None})
        for name, at in list(places.items()):
            if isinstance(at, (ast.Tuple, ast.List)):
                places.update({f"{name}[{i}]": field for i, field in enumerate(at.elts)})
        return places

    def _with_origins(
        self, diagnostic: Diagnostic, error: OperandError, nodes: dict[str, ast.expr]
    ) -> Diagnostic:
        """Adds, for operands that are variables, the place where each fact became true."""
        labels = list(diagnostic.labels)
        for name, fact in error.facts.items():
            node = nodes.get(name)
            if name in error.dims and getattr(error.dims[name], "span", None) is not None:
                continue
            var = self.names.get(node.id) if isinstance(node, ast.Name) else None
            if isinstance(var, Var) and isinstance(node, ast.Name):
                info_span = getattr(var.struct_info, "span", None)
                at = info_span or var.span
                if at is not None and at not in [label.span for label in labels]:
                    labels.append(Label(at, f"`{node.id}` {fact} here"))
        return replace(diagnostic, labels=tuple(labels))


def in_the_users_words(diagnostic: Diagnostic, written: Mapping[str, str]) -> Diagnostic:
    """Parameters that were given as names are called by these names, wherever code is quoted."""
    words = "|".join(sorted(written, key=len, reverse=True))
    if not words:
        return diagnostic
    name = re.compile(rf"(?<![\w.\"])({words})(?![\w\"]|\s*=)")

    def mended(text: str) -> str:
        return re.sub(r"`[^`]*`", lambda code: name.sub(lambda m: written[m[1]], code[0]), text)

    return replace(
        diagnostic,
        labels=tuple(Label(at, mended(text)) for at, text in diagnostic.labels),
        notes=tuple(mended(note) for note in diagnostic.notes),
        help=None if diagnostic.help is None else mended(diagnostic.help),
    )


def _names_of(callee: Any) -> list[str]:
    return [p.name for p in getattr(callee, "parameters", ())]


def _operand_nodes(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.UnaryOp(operand=operand):
            return [operand]
        case ast.Compare(left=left, comparators=[right]):
            return [left, right]
    return []


def _infix_text(node: ast.AST) -> str:
    return ast.unparse(node) if isinstance(node, ast.expr) else "this"


def mentions(node: ast.AST, name: str) -> bool:
    """Whether a piece of syntax is a name, or a string that holds it."""
    match node:
        case ast.Name(id=found):
            return found == name
        case ast.Constant(value=str(text)):
            try:
                inner = ast.parse(text.strip(), mode="eval")
            except SyntaxError:
                return False
            return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(inner))
    return False


def scalar_operation(symbol: str, operands: tuple[Any, ...]) -> PrimExpr | None:
    """Comparison for equality and logic of scalar expressions, which Python cannot overload."""
    if symbol == "not":
        return Not.make(operands[0])
    makers: dict[str, Any] = {"==": EQ, "!=": NE, "and": And, "or": Or}
    maker = makers.get(symbol)
    if maker is None:
        return None
    a, b = match_dtypes(*operands)
    result: PrimExpr = maker.make(a, b)
    return result
