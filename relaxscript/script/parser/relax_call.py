"""Calls of Relax: operators, functions of the module, closures, and the forms that stand for calls.

call       = operator "(" arguments ")" | function "(" operands ")" | front "(" arguments ")"
function   = "cls" "." name | local function | extern function
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from relaxscript.analysis.derive import check_argument_count, kind_name
from relaxscript.errors import Diagnostic, OperandError, Span, did_you_mean
from relaxscript.ir.prim import PrimExpr, Var as PrimVar
from relaxscript.ir.prim_checks import reason
from relaxscript.ir.relax import Call, Expr, GlobalVar, LeafExpr, ShapeExpr, Tuple, Var
from relaxscript.ir.struct_info import FuncStructInfo, StructInfo
from relaxscript.op import ArgumentError, Operator, Parameter, Sugar
from relaxscript.op.parameters import SYNONYMS, convert_attribute
from relaxscript.script import relax_forms
from relaxscript.script.annotations import Front
from relaxscript.script.relax_forms import MatchCastValue
from relaxscript.sinfo import definable_shape_vars, free_shape_vars

from .base import UNKNOWN, Failed
from .blame import PartlyFailed
from .corrections import by_position, gather, leave_out_argument
from .dimensions import plain
from .host_python import ScriptLambda
from .relax_attribute import Method
from .relax_expression import mentions
from .relax_python import RelaxPython

__all__ = ["RelaxCalls"]


class RelaxCalls(RelaxPython):
    """Evaluates calls; nested ones are bound to variables first, in order."""

    def call_value(self, callee: Any, node: ast.Call) -> Any:
        match callee:
            case Method():
                # The operand was evaluated with the method: it stands in the call as it is.
                owner = ast.copy_location(ast.Constant(callee.owner), callee.node)  # type: ignore[arg-type]
                given = self.method_arguments(callee, node)
                call = ast.Call(func=node.func, args=[owner, *given], keywords=node.keywords)
                return self.operator_call(callee.operator, ast.copy_location(call, node))
            case Operator():
                return self.operator_call(callee, node)
            case Front():
                return self.front_call(callee, node)
            case Sugar():
                return self.sugar_call(callee, node)
            case ScriptLambda():
                args, kwargs = self.arguments(node)
                return self.call_lambda(callee, args, kwargs, node)
            case Expr():
                return self.function_call(callee, node)
        if callee is relax_forms.match_cast:
            return self.match_cast_call(node)
        if callee is relax_forms.shape:
            return self.shape_call(node)
        return self.call_python(callee, node)

    def match_cast_call(self, node: ast.Call) -> MatchCastValue:
        """`R.match_cast(value, annotation)`: dimensions that stand alone get a value here."""
        given = dict(zip(("value", "struct_info"), node.args))
        given.update({SYNONYMS.get(k.arg, k.arg): k.value for k in node.keywords if k.arg})
        if set(given) != {"value", "struct_info"} or len(node.args) + len(node.keywords) != 2:
            raise self.error(
                node, "RX0103", "`R.match_cast` takes a value and an annotation",
                help='write `R.match_cast(x, R.Tensor((n, 4), "float32"))`',
            )  # fmt: skip
        value, failed = None, None
        try:
            value = self.value(given["value"])
            if isinstance(value, Expr):
                value = self.leaf(value, given["value"])
        except Failed as failure:
            failed = failure
        annotation = given["struct_info"]
        with self.unbound_dimensions():
            info = self.annotation(annotation)
        self.check_dimensions_bound(info, annotation, set(definable_shape_vars(info)))
        if failed is not None:
            raise failed
        return MatchCastValue(value, info)

    def check_dimensions_bound(
        self, info: StructInfo, annotation: ast.expr, known: set[PrimVar]
    ) -> None:
        """Refuse dimensions in an annotation that have no value, but for those in `known`."""
        for var in free_shape_vars(info):
            if var not in known and not self.is_bound(var):
                place = next((n for n in ast.walk(annotation) if mentions(n, var.name)), annotation)
                self.check_bound_here(var, place)  # type: ignore[arg-type]

    def shape_call(self, node: ast.Call) -> Any:
        """`R.shape([n, 4])`: the elements are dimensions."""
        match node:
            case ast.Call(args=[ast.List(elts=dims) | ast.Tuple(elts=dims)], keywords=[]):
                return ShapeExpr.make(tuple(self.dimensions(dims)), span=self.source.span(node))
        return self.call_python(relax_forms.shape, node)

    def operator_call(self, operator: Operator, node: ast.Call) -> Any:
        """`R.add(x, y)`: the common case, operands only, is built without ceremony."""
        nodes = node.args
        arity = operator.plain_count
        if arity != len(nodes) or node.keywords:
            return self.general_call(operator, node)
        args = self.call_operands(nodes)
        if len(args) != arity:
            return self.built(operator, args, {}, node)
        for arg in args:
            if not isinstance(arg, Expr):
                return self.built(operator, args, {}, node)
            if type(arg) is Tuple:
                return self.built(operator, args, {}, node)
        spans = tuple([self.source.span(n) for n in nodes])
        attrs, span = operator.default_attrs, self.source.span(node)
        return Call.make(operator.op, tuple(args), attrs, (), spans, span=span)

    def call_operands(self, nodes: list[ast.expr]) -> list[Any]:
        """Positional operands; nested calls are bound in order, mistakes in all are reported."""
        found: list[Any] = []
        failed = uncounted = False
        for node in nodes:
            try:
                if type(node) is ast.Starred:
                    found.extend(self.host_iterable(node.value))
                    continue
                value = self.value(node)
                if isinstance(value, Expr) and not isinstance(value, LeafExpr):
                    value = self.leaf(value, node)
                elif isinstance(value, MatchCastValue):
                    value = self.cast(value, node)
                found.append(value)
            except Failed:
                failed = True
                uncounted = uncounted or type(node) is ast.Starred
                found.append(UNKNOWN)
        if failed:
            raise PartlyFailed(None if uncounted else found)
        return found

    def general_call(self, operator: Operator | Sugar, node: ast.Call) -> Any:
        failed: Failed | None = None
        args: list[Any] | None = []
        kwargs: dict[str, Any] = {}
        try:
            args = self.call_operands(node.args)
        except PartlyFailed as failure:
            failed, args = failure, failure.values
        for keyword in node.keywords:
            try:
                kwargs.update(self._keyword(keyword))
            except Failed as failure:
                failed = failure
                if keyword.arg is None:
                    args = None
                else:
                    kwargs[keyword.arg] = UNKNOWN
        if failed is None and args is not None:
            return self.built(operator, args, kwargs, node)
        if args is not None:
            self.blame_arguments(operator, args, kwargs, node)
        raise failed or Failed

    def _keyword(self, keyword: ast.keyword) -> dict[str, Any]:
        if keyword.arg is None:
            return dict(self.host_keywords(keyword.value))
        name = SYNONYMS.get(keyword.arg, keyword.arg)
        if name in ("out_sinfo", "sinfo_args"):
            return {keyword.arg: self.annotation_argument(keyword.value)}
        return {keyword.arg: self.call_operands([keyword.value])[0]}

    def built(
        self, operator: Operator | Sugar, args: list[Any], kwargs: dict[str, Any], node: ast.Call
    ) -> Any:
        """The call, its mistakes blamed on the arguments that made them."""
        for given, place in self._placed(args, node):
            if isinstance(given, Operator):
                raise self.operator_as_value(given, place)
        args = [plain(self._argument(a, n)) for a, n in self._placed(args, node)]
        kwargs = {key: plain(self._argument(value, node)) for key, value in kwargs.items()}
        self._name_dimensions(operator, args, kwargs, node)
        self._find_named(operator, args, kwargs, node)
        try:
            call = operator.build(args, kwargs)
        except (OperandError, ArgumentError) as error:
            self.explain_arguments(operator, args, kwargs, node)
            failed = self.blame_arguments(operator, args, kwargs, node)
            if failed is None:
                failed = self.mistaken_call(error, operator, node)
            raise failed from None
        except (TypeError, ValueError) as error:
            # An attribute of a packed function that no attribute can be.
            at = next((k for k in node.keywords if f"`{k.arg}`" in str(error)), node)
            raise self.error(at, "RX0103", reason(error)) from None
        if not isinstance(call, Call):
            return call
        spans: tuple[Span | None, ...] = ()
        if len(call.args) == len(node.args):
            spans = tuple([self.source.span(n) for n in node.args])
        return call.replace(span=self.source.span(node), arg_spans=spans)

    def blame_arguments(
        self, operator: Operator | Sugar, args: list[Any], kwargs: dict[str, Any], node: ast.Call
    ) -> Failed | None:
        """Record every mistake in the arguments that does not follow from an UNKNOWN one."""
        failed: Failed | None = None
        for error in operator.mistakes(args, kwargs, UNKNOWN):
            failed = self.mistaken_call(error, operator, node)
        return failed

    def mistaken_call(
        self, error: ArgumentError | OperandError, operator: Operator | Sugar, node: ast.Call
    ) -> Failed:
        if isinstance(error, OperandError):
            return self.operand_error(error, node, None, operator)
        return self.argument_error(error, node)

    def explain_arguments(
        self, operator: Operator | Sugar, args: list[Any], kwargs: dict[str, Any], node: ast.Call
    ) -> None:
        """Record that arguments were given one by one where one takes them all, if that is it."""
        for index, count in together(operator.parameters, args):
            gathered = [*args[:index], tuple(args[index : index + count]), *args[index + count :]]
            try:
                self.builder.struct_info(operator.build(gathered, kwargs))
            except (OperandError, ArgumentError, TypeError, ValueError):
                continue
            if len(node.args) != len(args):
                return
            edit, written = gather(self.source, node.args[index : index + count])
            name = operator.parameters[index].name
            callee = ast.unparse(node.func)
            said = f"`{callee}` takes `{name}` as one tuple"
            help = f"write `{written}`"
            raise self.report(Diagnostic("RX0103", said, edit.span, help=help, fix=(edit,)))

    def _name_dimensions(
        self, operator: Operator | Sugar, args: list[Any], kwargs: dict[str, Any], node: ast.Call
    ) -> None:
        """`R.reshape(x, ("n", 4))`: a dimension in quotes is the one of that name."""
        for position, parameter in enumerate(getattr(operator, "parameters", ())):
            if parameter.kind != "shape":
                continue
            if position < len(args):
                place = node.args[position] if len(node.args) == len(args) else node
                args[position] = self._named_dimensions(args[position], place)
            elif parameter.name in kwargs:
                kwargs[parameter.name] = self._named_dimensions(kwargs[parameter.name], node)

    def _find_named(
        self, operator: Operator | Sugar, args: list[Any], kwargs: dict[str, Any], node: ast.Call
    ) -> None:
        """`R.to_vdevice(x, "llvm:1")`: texts name virtual devices and functions of the module."""
        for position, parameter in enumerate(operator.parameters):
            find = self._finder(parameter)
            given: Any = args if position < len(args) else kwargs
            key: Any = position if position < len(args) else parameter.name
            if find is None or (given is kwargs and key not in kwargs):
                continue
            nodes = dict(enumerate(node.args)) | {k.arg: k.value for k in node.keywords}
            given[key] = find(parameter, given[key], nodes.get(key, node))

    def _finder(self, parameter: Parameter) -> Callable[[Parameter, Any, ast.expr], Any] | None:
        if parameter.annotation == "VirtualDevice":
            return self._vdevice_named
        return self._function_named if parameter.wants == "function" else None

    def _vdevice_named(self, parameter: Parameter, value: Any, node: ast.expr) -> Any:
        try:
            asked = convert_attribute(parameter, value)
        except OperandError:
            return value  # said when the call is built
        return self.known_vdevice(value, asked, node)

    def _function_named(self, parameter: Parameter, value: Any, node: ast.expr) -> Any:
        if not isinstance(value, str):
            return value
        known = self.module.global_vars.get(value)
        if known is None:
            near = self.near(value, self.module.global_vars)
            raise self.error(
                node, "RX0101", f"the module has no function `{value}`",
                help=did_you_mean(near and f'"{near}"'),
                fix=f'"{near}"' if near else None,
            )  # fmt: skip
        if value in self.module.broken:
            raise Failed
        return known

    def _named_dimensions(self, shape: Any, node: ast.expr) -> Any:
        if not isinstance(shape, (tuple, list)):
            return shape
        parts: Sequence[ast.expr] = getattr(node, "elts", ())
        parts = parts if len(parts) == len(shape) else [node] * len(shape)
        return [
            self.as_dimension(d, self._place_of(d, at)) if isinstance(d, (str, Expr)) else d
            for d, at in zip(shape, parts)
        ]

    def _place_of(self, value: Any, call: ast.expr) -> ast.expr:
        """Where a dimension stands among the arguments of a call."""
        for node in ast.walk(call):
            match node:
                case ast.Name(id=name) if self.names.get(name) is value:
                    return node
                case ast.Constant(value=known) if isinstance(value, str) and known == value:
                    return node
        return call

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
        stray = next((k for k in node.keywords if k.arg != "sinfo_args"), None)
        if stray is not None:
            raise self.error(
                stray, "RX0103", "a Relax function takes positional arguments only",
                help="give the arguments in the order of the parameters",
                edits=by_position(self.source, self.definition_of(callee), node),
            )  # fmt: skip
        self.check_recursion(callee, node)
        # The callee is evaluated first; what cannot be called is said after its arguments.
        target, uncallable = callee, None
        try:
            target = self.leaf(callee, node.func)
        except Failed as failure:
            uncallable = failure
        try:
            values = self.call_operands(node.args)
        except PartlyFailed as failure:
            if uncallable is not None:
                raise uncallable from None
            # A PrimFunc is not called in this way anyway.
            if failure.values is not None and not self.is_prim_func(
                getattr(callee, "name_hint", "")
            ):
                self.check_count(self.callee_type(callee, node), len(failure.values), node)
            raise
        if uncallable is not None:
            raise uncallable
        args = tuple([self.leaf(self.expr_of(v, n), n) for v, n in self._placed(values, node)])
        spans = tuple([self.source.span(n) for _, n in self._placed(values, node)])
        infos = self.results_of(self.callee_type(target, node), node)
        return Call.make(target, args, None, infos, spans, span=self.source.span(node))

    def callee_type(self, callee: Expr, node: ast.Call) -> FuncStructInfo:
        """The type of what is called."""
        try:
            info = self.builder.struct_info(callee)
        except OperandError as error:
            raise self.operand_error(error, node, None) from None
        if isinstance(info, FuncStructInfo):
            return info
        written = ast.unparse(node.func)
        raise self.error(
            node.func, "RX0201",
            f"`{written}` is {kind_name(info)}, and only functions can be called",
            **self.without_parentheses(node),
        )  # fmt: skip

    def check_count(self, callee: FuncStructInfo, given: int, node: ast.Call) -> None:
        """Refuse more or fewer arguments than a function takes."""
        try:
            check_argument_count(callee, given)
        except OperandError as error:
            raise self.operand_error(error, node, None) from None

    def definition_of(self, callee: Expr) -> ast.FunctionDef | None:
        """The definition of a function of the module, where it stands in the same class."""
        return self.module.definitions.get(getattr(callee, "name_hint", ""))

    def results_of(self, info: FuncStructInfo, node: ast.Call) -> tuple[StructInfo, ...]:
        """The `sinfo_args` of a call: what it says of the results of a PackedFunc."""
        if not node.keywords:
            return ()
        if info.params is not None:
            raise self.error(
                node.keywords[0], "RX0103", "the results of this function are known",
                help="leave out `sinfo_args`: it describes what a PackedFunc gives",
                edits=[leave_out_argument(self.source, node, node.keywords[0])],
            )  # fmt: skip
        found = self.annotation_argument(node.keywords[0].value)
        return tuple(found) if isinstance(found, list) else (found,)

    def check_recursion(self, callee: Expr, node: ast.Call) -> None:
        """Criterion 7: no call in a dataflow block may lead back to a function it stands in."""
        if not (self.check_well_formed and self.builder.current_block_is_dataflow()):
            return
        while isinstance(callee, Var):
            # One that is only another name for a function is that function.
            value = self.builder.lookup_binding(callee)
            if not isinstance(value, (Var, GlobalVar)):
                break
            callee = value
        match callee:
            case GlobalVar(name):
                own = self.function_name
                recursive = name == own or self.module.reaches(name, own)
            case _:
                recursive = any(callee is var for var in self.enclosing)
        if recursive:
            written = ast.unparse(node.func)
            raise self.error(
                node, "RX0307",
                f"`{written}` is recursive and cannot be called in a dataflow block",
                help="move the call out of the dataflow block",
            )  # fmt: skip


def together(parameters: Sequence[Parameter], args: Sequence[Any]) -> Iterator[tuple[int, int]]:
    """Which arguments could be meant as one: where they begin, how many they are."""
    for index, parameter in enumerate(parameters):
        if parameter.kind not in ("shape", "tensors") and not parameter.annotation.startswith(
            "Axes"
        ):
            continue
        kind = Expr if parameter.kind == "tensors" else (int, PrimExpr)
        count = next((n for n, a in enumerate(args[index:]) if not isinstance(a, kind)), None)
        many = len(args) - index if count is None else count
        yield from ((index, number) for number in range(many, 0, -1))
