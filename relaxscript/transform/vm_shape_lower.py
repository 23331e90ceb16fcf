"""VMShapeLower: checks and shapes written out, over a heap of integers."""

from __future__ import annotations

from relaxscript.arith import YES
from relaxscript.builder import BlockBuilder
from relaxscript.errors import Span
from relaxscript.interpreter.blame import (
    name_of_matched,
    name_of_result,
    place_of_parameter,
    place_of_result,
)
from relaxscript.ir import prim
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    Call,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    If,
    MatchCast,
    Op,
    SeqExpr,
    ShapeExpr,
    Tuple,
    TupleGetItem,
)
from relaxscript.ir.struct_info import FuncStructInfo, ObjectStructInfo, StructInfo
from relaxscript.ir.walk import walk
from relaxscript.op import Trait, traits_of
from relaxscript.op.base import compute_prim_value
from relaxscript.runtime.builtins import INVOKE_CLOSURE
from relaxscript.sinfo import (
    definable_shape_vars,
    erase_to_well_defined,
    free_shape_vars,
    is_subtype,
)

from .compute_prim_value import HOST_FUNC
from .context import PassContext
from .passes import ModulePass
from .remove_unused_checks import TRUST_STRUCT_INFO
from .shape_heap import HeapWriter, Words, is_constant

__all__ = ["LOWERED", "VMShapeLower"]

# The attribute of a function whose checks are all written out.
LOWERED = "relax.shapes_lowered"


class VMShapeLower(ModulePass):
    """Write checks of arguments, match_casts, results, and computed shapes out as builtin calls.

    Before:

        @R.function
        def main(x: R.Tensor(("n",), "float32")) -> R.Shape(["n * 2"]):
            n = T.int64()
            s: R.Shape([n * 2]) = R.shape([n * 2])
            return s

    After, shortened by the words of messages:

        @R.function
        def main(x: R.Tensor(("n",), "float32")) -> R.Shape(["n * 2"]):
            n = T.int64()
            R.func_attr({"relax.force_pure": True, "relax.shapes_lowered": True})
            shape_heap: R.Tensor((2,), "int64") = R.call_builtin_with_ctx(
                "vm.builtin.alloc_shape_heap", (R.prim_value(2), "n", "n * 2"), ...
            )
            R.call_packed("vm.builtin.check_tensor_info", x, R.prim_value(1), ...)
            R.call_packed("vm.builtin.match_shape", x, shape_heap, R.prim_value(1), ...)
            cls.shape_func(shape_heap)
            s: R.Shape([n * 2]) = R.call_packed("vm.builtin.make_shape", shape_heap, ...)
            return s

        @T.prim_func(private=True)
        def shape_func(H: T.Buffer((2,), "int64")):
            T.func_attr({"tir.is_host_func": True})
            H[1] = H[0] * T.int64(2)

    All kinds and data types are checked first, then dimensions that are numbers or variables, then
    those that are computed. The virtual machine checks nothing by itself in such a function. With
    `emit_err_ctx=False` the calls do not carry the words of messages.

    A function stays as it is where its StructInfo is trusted (see `RemoveUnusedChecks`), where it
    binds variables that are no integers or takes one from the type of a closure, holds a local
    function (see `LambdaLift`), or passes destinations (see `CallTIRRewrite`).

    Source: RFC "shape lowering"; TVM `relax.transform.VMShapeLower`.
    """

    required = (
        "LambdaLift", "ToNonDataflow", "RemovePurityChecking", "CallTIRRewrite", "ComputePrimValue",
    )  # fmt: skip

    def __init__(self, *, emit_err_ctx: bool = True) -> None:
        self.emit_err_ctx = emit_err_ctx

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        builder = BlockBuilder(mod)
        made: dict[GlobalVar, Function] = {}
        for var, function in mod.relax_functions().items():
            if _can_be_lowered(function):
                name = var.name_hint
                counting = _Lowering(mod, builder, None, name, self.emit_err_ctx)
                counting.function(function, name)
                lowering = _Lowering(mod, builder, counting.used, name, self.emit_err_ctx)
                made[var] = lowering.function(function, name).with_attr(LOWERED, True)
        if not made:
            return mod
        result = builder.get()
        result.update(made)
        return result


def _can_be_lowered(function: Function) -> bool:
    attrs = function.attrs or Attrs()
    if attrs.get(LOWERED) or attrs.get(TRUST_STRUCT_INFO):
        return False
    for node in walk(function):
        match node:
            case Function() if node is not function:
                return False
            case Call(op=op) if Trait.DESTINATION_PASSING in traits_of(op):
                return False
            case prim.Var() if not node.dtype.is_integer:
                return False
            case FuncStructInfo() if definable_shape_vars(node):
                return False
    return True


class _Lowering(HeapWriter):
    """Lowers one function: says what is to be checked and where."""

    def __init__(
        self, mod: IRModule, builder: BlockBuilder, names: list[str] | None, name: str,
        with_words: bool,
    ) -> None:  # fmt: skip
        super().__init__(mod, builder, names, with_words)
        self.name = name

    def begin(self, func: Function) -> None:
        self.allocate(func.span)
        infos = [param.struct_info for param in func.params]
        words = [Words(f"`{p.name_hint}`", self.name, "RX0601") for p in func.params]
        self.check(func.params, infos, words, [place_of_parameter(param) for param in func.params])

    def binding(self, binding: Binding) -> None:
        value = binding.value
        span = value.span or binding.span
        if isinstance(binding, MatchCast):
            matched = self._leaf(value, span)
            words = Words(name_of_matched(binding), origin=_in_line(binding.span))
            self.check([matched], [binding.struct_info], [words], [binding.span])
            self.keep(binding if matched is value else binding.replace(value=matched))
            return
        lowered, known = self._value(value, span), self.builder.struct_info(value)
        if lowered is value:
            self.keep(binding)
        else:
            self.rebind(binding, lowered)
        if isinstance(value, Call) and _is_from_outside(value, self.mod):
            result = self._in_scope(known)
            if not isinstance(result, ObjectStructInfo):
                words = Words(name_of_result(binding, lambda var: None), origin=_in_line(span))
                self.check([binding.var], [result], [words], [span])
        promised = binding.var.struct_info
        if _is_computed(value, self.mod):
            return
        if promised is not None and not self._is_known(known, promised):
            words = Words(f"`{binding.var.name_hint}`")
            self.check([binding.var], [self._in_scope(promised)], [words], [span])

    def result(self, func: Function, value: Expr) -> Expr:
        returned, declared = self._leaf(value, value.span), func.ret_struct_info
        if declared is not None and not self._is_known(self.builder.struct_info(value), declared):
            words = Words(f"the result of `{self.name}`")
            self.check([returned], [declared], [words], [place_of_result(func)])
        return returned

    def yielded(self, value: Expr) -> Expr:
        return self._leaf(value, value.span)

    def branch(self, branch: Expr) -> Expr:
        outer = set(self.bound), set(self.computed), dict(self.shapes)
        made = super().branch(branch)
        self.bound, self.computed, self.shapes = outer
        return made

    def _is_known(self, known: StructInfo, wanted: StructInfo) -> bool:
        """Whether a check is not needed."""
        if known is wanted or isinstance(wanted, ObjectStructInfo):
            return True
        facts = self.builder.context.facts
        return is_subtype(known, wanted, facts, in_scope=self.bound) is YES

    def _in_scope(self, info: StructInfo) -> StructInfo:
        """`info` without what refers to shape variables that have no value here."""
        bound = self.bound
        if all(v in bound for v in free_shape_vars(info)):
            return info
        return erase_to_well_defined(info, lambda v: True, lambda v: v in bound)

    def _value(self, value: Expr, span: Span | None) -> Expr:
        """What a variable is bound to, its shapes read from the heap."""
        match value:
            case Call(op=compute_prim_value.op, args=(ShapeExpr((v,)),)):
                return self.prim_value(v, span) if isinstance(v, prim.Var) else value
            case Call(args=args):
                lowered = tuple(self._leaf(arg, span) for arg in args)
                changed = any(a is not b for a, b in zip(lowered, args, strict=True))
                return value.replace(args=lowered) if changed else value
            case If() | SeqExpr() | Function():
                return value
            case ShapeExpr(values) if not is_constant(values):
                return self.shape(values, span)
            case TupleGetItem(tuple_value=inner):
                leaf = self._leaf(inner, span)
                return value if leaf is inner else value.replace(tuple_value=leaf)
        return self._leaf(value, span)

    def _leaf(self, value: Expr, span: Span | None) -> Expr:
        """An operand, its shapes bound to variables before it."""
        match value:
            case ShapeExpr(values) if not is_constant(values):
                return self.shape_variable(values, span)
            case Tuple(fields):
                lowered = tuple(self._leaf(field, span) for field in fields)
                changed = any(a is not b for a, b in zip(lowered, fields, strict=True))
                return value.replace(fields=lowered) if changed else value
        return value


def _in_line(span: Span | None) -> str:
    return "the value matched" + (f" in line {span.line}" if span is not None else "")


def _is_computed(value: Expr, mod: IRModule) -> bool:
    """Whether a PrimFunc was made to compute just what the variable of a value says."""
    if not isinstance(value, Call) or not isinstance(value.op, GlobalVar) or value.op not in mod:
        return False
    return bool((mod[value.op].attrs or Attrs()).get(HOST_FUNC))


def _is_from_outside(call: Call, mod: IRModule) -> bool:
    """Whether nobody else checks what a call gives."""
    match call.op:
        case Op() as op:
            traits = traits_of(op)
            return Trait.CALLS_OUT in traits and Trait.DESTINATION_PASSING not in traits
        case GlobalVar() as callee if callee in mod:
            return isinstance(mod[callee], ExternFunc)
        case ExternFunc(symbol) if symbol != INVOKE_CLOSURE:
            return not symbol.startswith(("vm.builtin.", "relax.run."))
    return True
