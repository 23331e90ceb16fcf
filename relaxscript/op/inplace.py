"""Calls of functions that write their results into their arguments.

`inplace_indices` has one number for each result: the position among the arguments of the tensor
that becomes this result, or -1 for a result that is new. Such a call counts as pure: whoever writes
it promises that nothing else looks at those tensors afterwards. Source: spec "Notable Operators".
"""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.arith import NO
from relaxscript.errors import OperandError, Remark, quantity
from relaxscript.ir.relax import Call, Tuple
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import dim_text, shape_fact
from relaxscript.opdef.leaf_struct_info import struct_info_of_leaf
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import Axes, Callee, Packed, ResultInfo, ShapeLike, Value, Values
from relaxscript.opdef.shapes import dims_of, require_equal, same_dim
from relaxscript.opdef.traits import Trait
from relaxscript.sinfo import can_cast, explain_mismatch

from . import prim_func_calls
from .results import (
    NEW,
    allocate_results,
    arrange_results,
    derived_result,
    described_results,
    in_their_places,
    inplace_indices,
    named_results,
    new_results,
    require_allocatable,
    require_packed,
    returned_in_place,
    with_one_description,
)

__all__ = ["call_inplace_packed", "call_tir_inplace"]


# ---------------------------------------------------------------- PrimFuncs


@op(traits={Trait.CALLS_PRIM_FUNC, Trait.DESTINATION_PASSING, Trait.WRITES_ARGS, Trait.AS_IS})
def call_tir_inplace(
    gvar: Callee,
    args: Values,
    inplace_indices: Axes,
    out_sinfo: ResultInfo,
    tir_vars: ShapeLike | None = None,
) -> Value:
    """Call a PrimFunc of the module that writes results into its arguments.

    `inplace_indices` has for each result that `out_sinfo` describes the argument that becomes it.
    -1 is a new tensor, which the PrimFunc is given behind its arguments. A tensor that is written
    to must not be used afterwards.
    """
    new = allocate_results([info for _, info in new_results(out_sinfo, inplace_indices)])
    gvar(*args, *(tir_vars or ()), *new)
    return arrange_results(out_sinfo, in_their_places(new, args, inplace_indices))


call_tir_inplace.prepare_rule(with_one_description)


@call_tir_inplace.normalize_rule
def _(call: Call) -> Call:
    """Criterion 23; a variable that holds the tuple would have its fields written unseen."""
    held = call.args[1]
    if isinstance(held, Tuple):
        return call
    info = struct_info_of_leaf(held)
    if not isinstance(info, TupleStructInfo):
        return call  # said when the call is typed
    written = ", ".join(f"{{}}[{index}]" for index in range(len(info.fields)))
    written = f"({written},)" if len(info.fields) == 1 else f"({written})"
    raise OperandError(
        "args",
        "is no tuple that is written out",
        message="`R.call_tir_inplace` takes its arguments in a tuple that is written out",
        code="RX0323",
        help="name what is written in place: `(x, y)`",
        fix={"args": written},
    )


@call_tir_inplace.infer_call_rule
def _(context: InferContext, call: Call) -> StructInfo:
    callee = prim_func_calls.prim_func_of(context, call, "R.call_tir_inplace")
    out_sinfo = described_results(context, call)
    require_allocatable(out_sinfo)
    _, args, tir_vars = call_tir_inplace.operand_infos(call, context)
    indices = inplace_indices(call)
    results = named_results(out_sinfo)
    _require_indices(indices, len(args), "R.call_tir")
    _require_one_each(indices, len(results), "out_sinfo")
    given = prim_func_calls.name_arguments(args)
    for index, (name, info) in zip(indices, results):
        if index != NEW:
            _require_same(context, index, args[index], name, info)
            # From here on it is what the result is: said once, it is not said again.
            given[index] = (name, info)
    new = new_results(out_sinfo, indices)
    prim_func_calls.check(context, callee, given, tir_vars, new, "new result")
    return out_sinfo


def _require_indices(indices: Sequence[int], arguments: int, instead: str) -> None:
    """Refuse indices that name no argument, or one twice, or none at all (RX0204)."""
    seen: set[int] = set()
    for index in indices:
        if not NEW <= index < arguments:
            raise OperandError(
                "inplace_indices",
                f"names argument {index}",
                message=f"there is no argument {index} among {quantity(arguments, 'argument')}",
                code="RX0204",
                help="arguments are counted from 0; -1 stands for a new tensor",
            )
        if index in seen:
            raise OperandError(
                "inplace_indices",
                f"names argument {index} twice",
                message="two results cannot be written into one argument",
                code="RX0204",
            )
        if index != NEW:
            seen.add(index)
    if not seen:
        raise OperandError(
            "inplace_indices",
            "names no argument",
            message="no result of this call is written in place",
            code="RX0204",
            help=f"write `{instead}`, all of whose results are new",
        )


def _require_one_each(indices: Sequence[int], results: int, described_by: str) -> None:
    if len(indices) != results:
        raise OperandError(
            "inplace_indices",
            f"has {quantity(len(indices), 'number')}",
            also={described_by: f"describes {quantity(results, 'result')}"},
            message="each result needs a number that says where it is written",
            code="RX0204",
            help="arguments are counted from 0; -1 stands for a new tensor",
        )


def _require_same(
    context: InferContext, index: int, given: StructInfo, name: str, result: TensorStructInfo
) -> None:
    """Require that an argument has the dtype and shape of the result that it becomes."""
    operand = f"args[{index}]"
    message = "a tensor that is written in place has the shape and dtype of its result"
    if not isinstance(given, TensorStructInfo):
        fact = f"is {given.noun}"
        raise OperandError(operand, fact, wanted="a tensor", message=message, code="RX0201")
    if not given.dtype.is_void and given.dtype is not result.dtype:
        also = {name: f"describes dtype {result.dtype}"}
        fact = f"has dtype {given.dtype}"
        raise OperandError(operand, fact, also=also, message=message, code="RX0202")
    dims, wanted = dims_of(given), result.dims or ()
    rank = given.ndim if dims is None else len(dims)
    described = shape_fact(result).replace("has", "describes", 1)
    error = OperandError(operand, shape_fact(given, dims), also={name: described}, message=message)
    if rank not in (-1, len(wanted)):
        raise error
    for axis, (own, dim) in enumerate(zip(dims or (), wanted)):
        if not same_dim(own, dim):
            text = (
                f"`{operand}` has {dim_text(own)} elements along axis {axis}, not {dim_text(dim)}"
            )
            require_equal(context, dim, own, error, text)


# ---------------------------------------------------------------- packed functions


@op(traits={Trait.CALLS_OUT, Trait.WRITES_ARGS, Trait.AS_IS})
def call_inplace_packed(
    func: Packed, *args: Value, inplace_indices: Axes, sinfo_args: ResultInfo
) -> Value:
    """Call a packed function that writes results into its arguments, and has no other effect.

    `inplace_indices` has for each result that `sinfo_args` describes the argument that becomes it;
    -1 is a new tensor. The value is what the function returns, or those arguments where it returns
    None. A tensor that is written to must not be used afterwards.
    """
    return returned_in_place(func(*args), args, inplace_indices)


@call_inplace_packed.infer_call_rule
def _(context: InferContext, call: Call) -> StructInfo:
    require_packed(context, call.args[0])
    result = derived_result(context, call, "R.call_inplace_packed")
    indices = inplace_indices(call)
    args = [context.struct_info(arg) for arg in call.args[1:]]
    _require_indices(indices, len(args), "R.call_pure_packed")
    fields: tuple[StructInfo, ...] = (result,)
    if len(indices) > 1 and isinstance(result, TupleStructInfo):
        fields = result.fields
    _require_one_each(indices, len(fields), "sinfo_args")
    for index, field in zip(indices, fields):
        if index != NEW:
            _require_no_contradiction(index, args[index], field)
    return result


def _require_no_contradiction(index: int, given: StructInfo, result: StructInfo) -> None:
    """Refuse a description that an argument never meets; what is not known is checked later."""
    if can_cast(given, result) is NO:
        raise OperandError(
            f"args[{index}]",
            Remark(explain_mismatch(given, result)),
            message="an argument that is written in place is not what its result is said to be",
            code="RX0203",
        )


for _operator in (call_tir_inplace, call_inplace_packed):
    _operator.lacks("gradient", "what it overwrites is gone when its gradient is asked for")
call_tir_inplace.lacks("compute", "it calls a PrimFunc already")
call_inplace_packed.lacks("compute", "nothing is known of what a packed function computes")
