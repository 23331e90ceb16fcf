"""Questions of DataflowUseInplaceCalls about dataflow blocks, each by itself.

Source: TVM `relax.testing.transform`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from relaxscript.analysis import Context
from relaxscript.arith import YES, prove_equal
from relaxscript.builder import BlockBuilder, ExprMutator
from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import PrimExpr, const
from relaxscript.ir.relax import (
    Binding,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    DataTypeImm,
    Expr,
    Function,
    GlobalVar,
    Op,
    PrimValue,
    ShapeExpr,
    StringImm,
    Tuple,
    TupleGetItem,
    Var,
)
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.ir.walk import mentioned
from relaxscript.op import Trait, lookup
from relaxscript.op.calls import call_tir
from relaxscript.op.inplace import call_tir_inplace
from relaxscript.op.results import NEW, inplace_indices
from relaxscript.transform.memory.dataflow_use_inplace_calls import InplaceCalls, is_alike
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import FunctionPass

__all__ = [
    "ApplyEmptyCppMutator", "InplaceOpportunity", "dataflow_alias_analysis",
    "dataflow_inplace_analysis", "dataflow_liveness_analysis", "dataflow_single_inplace_call",
]  # fmt: skip

_UNKNOWN = -1


class InplaceOpportunity(NamedTuple):
    """The number of a binding, and those of operands into which it may write its result."""

    binding_idx: int
    arg_idxs: set[int]


_Candidates = list[InplaceOpportunity]


class ApplyEmptyCppMutator(FunctionPass):
    """Write every function again without changing it: what a mutator does by itself.

    Functions stay what they are. Source: TVM `relax.testing.transform.ApplyEmptyCppMutator`.
    """

    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        return ExprMutator(mod).function(func)


def dataflow_liveness_analysis(block: DataflowBlock) -> dict[Var, tuple[int, int]]:
    """For each variable that a block mentions, the bindings from which and up to which it lives.

    They are counted from 0. What comes from outside lives from -1 on. Others may look at it, and
    at outputs, later: these live up to the number of bindings.
    """
    _require_block("dataflow_liveness_analysis", block)
    after = len(block.bindings)
    found: dict[Var, tuple[int, int]] = {}
    for number, binding in enumerate(block.bindings):
        for var in mentioned(binding.value):
            start, end = found.get(var, (-1, after))
            found[var] = (start, max(end, number))
        is_output = not isinstance(binding.var, DataflowVar)
        found[binding.var] = (number, after if is_output else number)
    return found


def dataflow_alias_analysis(
    block: DataflowBlock, inputs: Sequence[Var]
) -> tuple[dict[Var, set[int]], dict[int, list[set[int]]]]:
    """The values that each variable may be, by numbers, and the values of the fields of tuples.

    Two variables that have a number in common may be the same. -1 is a value of which nothing is
    known. The second dictionary has a list for each number that is a tuple: the values that each
    of its fields may be.
    """
    _require_block("dataflow_alias_analysis", block)
    found = _Aliases(inputs)
    for binding in block.bindings:
        found.bind(binding)
    return found.values, found.fields


class _Aliases:
    """The values of variables, so far; each new value has the next number."""

    def __init__(self, inputs: Sequence[Var]) -> None:
        self.values: dict[Var, set[int]] = {}
        self.fields: dict[int, list[set[int]]] = {}
        self.handed_on: set[int] = set()  # to functions that may keep them, or given by these
        self._count = 0
        for var in inputs:
            self.values[var] = {self.new(var.struct_info)}

    def new(self, info: StructInfo | None) -> int:
        """A value that is no other, with fields where it is a tuple."""
        number = self._count
        self._count += 1
        if isinstance(info, TupleStructInfo):
            self.fields[number] = [{self.new(field)} for field in info.fields]
        return number

    def reachable(self, numbers: set[int]) -> set[int]:
        """Values and all that is inside of them."""
        found: set[int] = set()
        pending = list(numbers)
        while pending:
            number = pending.pop()
            if number not in found:
                found.add(number)
                pending += [inner for field in self.fields.get(number, ()) for inner in field]
        return found

    def of(self, expr: Expr) -> set[int]:
        """The values that a leaf may be."""
        match expr:
            case Var():
                return self.values.get(expr, {_UNKNOWN})
            case TupleGetItem(tuple_value=value, index=index):
                known = [self.fields.get(number) for number in self.of(value)]
                if any(fields is None for fields in known):
                    return {_UNKNOWN}
                return {number for fields in known for number in (fields or ())[index]}
            case Tuple(fields):
                number = self._count
                self._count += 1
                self.fields[number] = [self.of(field) for field in fields]
                return {number}
            case Constant() | ShapeExpr() | PrimValue() | StringImm() | DataTypeImm():
                return {self.new(None)}
        return {_UNKNOWN}

    def bind(self, binding: Binding) -> None:
        value = binding.value
        if isinstance(value, Call):
            self.values[binding.var] = self._call(value, binding.var.struct_info)
        else:
            self.values[binding.var] = self.of(value)
        if isinstance(value, Constant):
            self.handed_on |= self.values[binding.var]

    def _call(self, call: Call, info: StructInfo | None) -> set[int]:
        operator = lookup(call.op) if isinstance(call.op, Op) else None
        traits = operator.traits if operator is not None else {Trait.CALLS_OUT}
        if operator is call_tir_inplace and isinstance(call.args[1], Tuple):
            return self._written(call, call.args[1].fields, info)
        if Trait.DESTINATION_PASSING in traits:
            if Trait.CALLS_OUT in traits:
                self.handed_on |= self._given(call.args[1:])
            return {self.new(info)}
        if not traits & {Trait.CALLS_OUT, Trait.CAPTURES, Trait.VIEW}:
            return {self.new(info)}
        given = self._given(call.args[:1] if Trait.VIEW in traits else call.args)
        found = {self.new(info)} | given
        if Trait.VIEW not in traits:
            self.handed_on |= found
        return found

    def _given(self, args: Sequence[Expr]) -> set[int]:
        held = [arg for arg in args if isinstance(arg, (Var, Tuple, TupleGetItem))]
        held = [arg for arg in held if not isinstance(arg, GlobalVar)]
        return self.reachable({number for arg in held for number in self.of(arg)})

    def _written(self, call: Call, args: Sequence[Expr], info: StructInfo | None) -> set[int]:
        """The results of a call in place: arguments, and new values."""
        results = info.fields if isinstance(info, TupleStructInfo) else (info,)
        found = [
            {self.new(result)} if index == NEW else self.of(args[index])
            for index, result in zip(inplace_indices(call), results)
        ]
        if not isinstance(info, TupleStructInfo):
            return found[0]
        number = self.new(None)
        self.fields[number] = found
        return {number}


def dataflow_inplace_analysis(
    block: DataflowBlock, inputs: Sequence[Var], mod: IRModule
) -> tuple[_Candidates, _Candidates]:
    """The operands into which calls of a block may write their result, as far as lifetimes go.

    Each candidate is the number of a binding and those of operands. The first list has operands
    with as many elements as the result, the second those that have its shape, too. An operand of
    a call of a PrimFunc is counted in its tuple of arguments. What PrimFuncs read is not looked at.
    """
    _require_block("dataflow_inplace_analysis", block)
    aliases = _Aliases(inputs)
    for binding in block.bindings:
        aliases.bind(binding)
    last: dict[int, int] = {}
    for var, (_, end) in dataflow_liveness_analysis(block).items():
        for number in aliases.reachable(aliases.values.get(var, {_UNKNOWN})):
            last[number] = max(last.get(number, end), end)
    last.update(dict.fromkeys((_UNKNOWN, *aliases.handed_on), len(block.bindings)))
    context = Context(mod)
    same_size: _Candidates = []
    same_shape: _Candidates = []
    for place, binding in enumerate(block.bindings):
        call = binding.value
        if not isinstance(call, Call) or not isinstance(call.op, Op):
            continue
        result = context.struct_info(call)
        infos = {
            number: context.struct_info(arg)
            for number, arg in enumerate(_operands(call))
            if isinstance(arg, Var) and all(last[v] <= place for v in aliases.of(arg))
        }
        sized = {k for k, info in infos.items() if _is_as_large(info, result)}
        shaped = {k for k in sized if is_alike(infos[k], result)}
        same_size += [InplaceOpportunity(place, sized)] if sized else []
        same_shape += [InplaceOpportunity(place, shaped)] if shaped else []
    return same_size, same_shape


def _operands(call: Call) -> Sequence[Expr]:
    """The arguments of an operator, or those that a call of a PrimFunc passes on."""
    if call.op == call_tir.op and isinstance(call.args[1], Tuple):
        return call.args[1].fields
    return call.args


def _is_as_large(given: StructInfo, result: StructInfo) -> bool:
    if not isinstance(given, TensorStructInfo) or not isinstance(result, TensorStructInfo):
        return False
    if given.dtype is not result.dtype or given.dims is None or result.dims is None:
        return False
    return prove_equal(_product(given.dims), _product(result.dims)) is YES


def _product(dims: Sequence[PrimExpr]) -> PrimExpr:
    size: PrimExpr = const(1, "int64")
    for dim in dims:
        size = size * dim
    return size


def dataflow_single_inplace_call(
    mod: IRModule, call: Call, inplace_indices: Sequence[int]
) -> tuple[Call, IRModule]:
    """A call of an operator as one that writes into an operand, and the module with its PrimFunc.

    Whether others look at the operand is not asked. Raises `DiagnosticError` (RX0703) where the
    operand cannot be proved to take the result.
    """
    builder = BlockBuilder(mod)
    indices = tuple(inplace_indices)
    args = call.args if isinstance(call, Call) else ()
    if len(indices) == 1 and 0 <= indices[0] < len(args):
        for made in InplaceCalls(builder).find(call, (args[indices[0]],)):
            return made, builder.get()
    message = f"the call is not proved to write its result into operands {list(indices)}"
    help = "one operand takes the result: it has its shape and dtype, and is read as it is written"
    raise DiagnosticError(Diagnostic("RX0703", message, getattr(call, "span", None), help=help))


def _require_block(function: str, block: object) -> None:
    if not isinstance(block, DataflowBlock):
        kind = type(block).__name__
        raise TypeError(f"{function}.block is a DataflowBlock, not {kind}")
