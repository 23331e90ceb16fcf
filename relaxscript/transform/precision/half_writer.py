"""Functions in mixed precision, written anew: what products take is cast to float16 before.

A value has the dtypes that it had, or other ones: float16 in the place of float32. Then it is in
another variable, and from that it is cast back for who wants it as it was.
"""

from __future__ import annotations

from relaxscript.builder import ExprMutator
from relaxscript.dtypes import DataType
from relaxscript.errors import Span, UnplacedError
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Binding,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    If,
    MatchCast,
    Op,
    Tuple,
    TupleGetItem,
    Var,
)
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.ir.walk import compounds, mentioned, substitute
from relaxscript.op.datatype import astype
from relaxscript.opdef.operator import lookup, traits_of
from relaxscript.opdef.traits import Trait

from .half_values import half_values
from .precision_policy import HALF, SINGLE, Policy, half_constant, is_single, policy_of, tensors_of

__all__ = ["HalfWriter"]


class _Block:
    """The values of one dataflow block.

    `half` are the variables that it wants in float16 only. `stored` has the variable in which
    another one is by now. One that is `gone` is bound no more. `halves` and `wholes` are what was
    cast to float16, and back.
    """

    def __init__(self, half: frozenset[Var]) -> None:
        self.half = half
        self.stored: dict[Var, Expr] = {}
        self.gone: set[Var] = set()
        self.halves: dict[Var, Expr] = {}
        self.wholes: dict[Var, Expr] = {}


class HalfWriter(ExprMutator):
    """Writes the dataflow blocks of functions in mixed precision."""

    def __init__(self, mod: IRModule, out_dtype: DataType) -> None:
        super().__init__(mod)
        self.out_dtype = out_dtype
        self._blocks: list[_Block] = []
        self._constants: dict[Constant, Constant] = {}

    def function(self, func: Function, name: str = "function") -> Function:
        """The function in mixed precision; one without products stays as it is."""
        return super().function(func, name) if _has_products(func) else func

    # -- going through -----------------------------------------------------------------------------

    def enter(self, node: Node) -> bool | None:
        entered = super().enter(node)
        if isinstance(node, DataflowBlock):
            self._blocks.append(_Block(half_values(node)))
            self._cast_params()
        return entered

    def leave(self, node: Node) -> None:
        if isinstance(node, DataflowBlock):
            self._blocks.pop()
        super().leave(node)

    def _cast_params(self) -> None:
        """Parameters that the block wants in float16 only are cast at its begin."""
        block = self._blocks[-1]
        for param in self.functions[-1].params:
            if param in block.half:
                block.stored[param] = self._half(param, None)

    def binding(self, binding: Binding) -> None:
        value = binding.value
        if not self.in_dataflow or isinstance(value, (If, Function)):
            super().binding(binding)
            return
        made: Expr | None = None
        if not isinstance(binding, MatchCast):
            made = self._made(binding)
        if made is None:
            self._write_as_it_was(binding)
        else:
            self._write(binding, made)

    def _made(self, binding: Binding) -> Expr | None:
        """The value that may be of other dtypes; None for one that is computed as it was."""
        value = binding.value
        if isinstance(value, Call):
            return self._call(value, binding)
        if not _are_alike(value.struct_info, binding.var.struct_info):
            return None  # it is declared to be less than it is
        match value:
            case Var() as var:
                return self._now(var)
            case Tuple() as whole if isinstance(binding.var, DataflowVar):
                return self._now(whole)
            case TupleGetItem(tuple_value=Var() as whole) as item:
                now = self._now(whole)
                return item if now is whole else TupleGetItem(now, item.index)
        return None

    def _call(self, call: Call, binding: Binding) -> Expr | None:
        """A call in mixed precision; None for one that takes its operands as they were."""
        policy = policy_of(call, binding.var.struct_info)
        if policy is Policy.NARROW:
            operand = self._now(call.args[0])
            return operand if _dtype_of(operand) is HALF else None
        if policy is Policy.NEVER:
            return None
        # Constants are what is wanted of them.
        now = [self._now(arg) for arg in call.args]
        if policy is Policy.FOLLOW and any(map(_has_single_variable, now)):
            return None
        args = tuple([self._half(arg, binding.span) for arg in call.args])
        assert isinstance(call.op, Op), "others have no policy"
        made = call.replace(args=args)
        if policy is Policy.ALWAYS:
            made = lookup(call.op).rules["mixed_precision"](made, self.out_dtype)
        return made if self._is_fitting(made) else None

    def _is_fitting(self, call: Call) -> bool:
        """True if an operator takes float16 there at all."""
        try:
            self.builder.struct_info(call)
        except UnplacedError:
            return False
        return True

    # -- writing -----------------------------------------------------------------------------------

    def _write_as_it_was(self, binding: Binding) -> None:
        gone = self._blocks[-1].gone
        needed = [var for var in mentioned(binding.value) if var in gone] if gone else []
        if needed:
            values = {var: self._as_it_was(var, binding.span) for var in needed}
            self.replace_value(binding, substitute(binding.value, values))
        else:
            super().binding(binding)
        self._store(binding)

    def _write(self, binding: Binding, value: Expr) -> None:
        """Bind a value, as it was for who reads it behind the block."""
        var, before = binding.var, binding.value
        if value is before:
            super().binding(binding)
            self._store(binding)
            return
        block = self._blocks[-1]
        normal = value if isinstance(value, Var) else self._normal(value, binding.span)
        info = self._derive_struct_info(normal, binding.span)
        if _are_alike(info, var.struct_info):
            self.rebind(binding, normal)
            self._store(binding)
            return
        now = normal
        if not isinstance(normal, Var):
            now = self.emit(normal, var.name_hint, binding.span)
        assert isinstance(now, Var)
        self.changed = True
        if isinstance(var, DataflowVar):
            block.gone.add(var)
            block.stored[var] = now
        else:
            if is_single(var.struct_info):
                block.halves[var] = now
                self.rebind(binding, astype(now, "float32"))
                return
            self.rebind(binding, self._with_dtypes(now, var.struct_info, binding.span))

    def _store(self, binding: Binding) -> None:
        """Cast what was bound to float16, where it is wanted so only."""
        block = self._blocks[-1]
        if binding.var in block.half:
            block.stored[binding.var] = self._half(binding.var, binding.span)

    # -- values ------------------------------------------------------------------------------------

    def _now(self, expr: Expr) -> Expr:
        """An operand in the dtypes that it has by now."""
        stored = self._blocks[-1].stored
        match expr:
            case Var():
                return stored.get(expr, expr)
            case Tuple(fields):
                made = tuple([self._now(field) for field in fields])
                return expr if _are_same(made, fields) else Tuple(made)
        return expr

    def _half(self, expr: Expr, span: Span | None) -> Expr:
        """An operand with float16 in the place of float32."""
        match expr:
            case Constant() if is_single(expr.struct_info):
                if expr not in self._constants:
                    made = half_constant(expr)
                    assert made is not None, "its policy has asked whether it fits"
                    self._constants[expr] = made
                return self._constants[expr]
            case Tuple(fields):
                halves = tuple([self._half(field, span) for field in fields])
                return expr if _are_same(halves, fields) else Tuple(halves)
            case Var():
                known = self._blocks[-1].halves
                if expr not in known:
                    known[expr] = self._narrowed(self._now(expr), span)
                return known[expr]
        return expr

    def _narrowed(self, expr: Expr, span: Span | None) -> Expr:
        """A value with float16 in the place of float32; what was cast up is taken as it was."""
        if is_single(expr.struct_info) and isinstance(expr, Var):
            match self.builder.lookup_binding(expr):
                case Call(op=astype.op, args=(Var() as source,)) if (
                    _dtype_of(source) is HALF and source in self.variables
                ):
                    return source
        return self._with_dtypes(expr, _half_info(expr.struct_info), span)

    def _as_it_was(self, var: Var, span: Span | None) -> Expr:
        """A variable that is gone, with the dtypes that it had."""
        block = self._blocks[-1]
        if var not in block.wholes:
            found = self._with_dtypes(block.stored[var], var.struct_info, span)
            leaf = self.emit(found, "lv", span) if isinstance(found, Tuple) else found
            block.wholes[var] = leaf
        return block.wholes[var]

    def _with_dtypes(self, expr: Expr, wanted: StructInfo | None, span: Span | None) -> Expr:
        """A value whose tensors have the dtypes of another StructInfo, by casts that are bound."""
        info = expr.struct_info
        match info, wanted:
            case (TupleStructInfo(fields), TupleStructInfo(targets)) if not _are_alike(
                info, wanted
            ):
                parts = [
                    self._with_dtypes(_field(self, expr, k, span), target, span)
                    for k, target in enumerate(targets[: len(fields)])
                ]
                return Tuple(tuple(parts))
            case (TensorStructInfo(), TensorStructInfo()) if info.dtype is not wanted.dtype:
                return self.emit(astype(expr, wanted.dtype), "lv", span)
        return expr


def _field(writer: ExprMutator, whole: Expr, index: int, span: Span | None) -> Expr:
    """A field of a tuple, bound where it is not written there."""
    if isinstance(whole, Tuple):
        return whole.fields[index]
    return writer.emit(TupleGetItem(whole, index), "lv", span)


def _has_products(func: Function) -> bool:
    """True if a function calls an operator that takes float16 whatever it is given."""
    calls = (node for node in compounds(func) if isinstance(node, Call))
    return any(Trait.MIXED_ALWAYS in traits_of(call.op) for call in calls)


def _are_same(made: tuple[Expr, ...], before: tuple[Expr, ...]) -> bool:
    return all(new is old for new, old in zip(made, before, strict=True))


def _are_alike(info: StructInfo | None, other: StructInfo | None) -> bool:
    """True if the tensors of two values, in their order, are of the same dtypes."""
    return [*map(_dtype, tensors_of(info))] == [*map(_dtype, tensors_of(other))]


def _dtype(info: StructInfo | None) -> DataType | None:
    return info.dtype if isinstance(info, TensorStructInfo) else None


def _dtype_of(expr: Expr) -> DataType | None:
    return _dtype(expr.struct_info)


def _half_info(info: StructInfo | None) -> StructInfo | None:
    """The StructInfo of a value when its tensors of float32 are float16."""
    if isinstance(info, TupleStructInfo):
        fields = tuple([_half_info(field) for field in info.fields])
        return TupleStructInfo.make(fields)
    if isinstance(info, TensorStructInfo) and info.dtype is SINGLE:
        return info.replace(dtype=HALF)
    return info


def _has_single_variable(operand: Expr) -> bool:
    """True if an operand is or holds a variable with tensors of float32."""
    todo = [operand]
    while todo:
        found = todo.pop()
        if isinstance(found, Tuple):
            todo += found.fields
        elif not isinstance(found, Constant) and any(map(is_single, tensors_of(found.struct_info))):
            return True
    return False
