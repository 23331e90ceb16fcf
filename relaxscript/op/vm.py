"""Storage in the words of the virtual machine. Source: TVM `relax.vm`; as `memory.py`."""

from __future__ import annotations

from relaxscript.errors import OperandError
from relaxscript.ir.relax import Call, Expr, ShapeExpr, Tuple
from relaxscript.ir.struct_info import ObjectStructInfo, StructInfo, TupleStructInfo
from relaxscript.opdef.composite import composite_op
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.operands import convert_callee, convert_operand
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import (
    Callee,
    DTypeValue,
    ShapeLike,
    Text,
    Value,
    Values,
)
from relaxscript.opdef.prim_operands import require_integer
from relaxscript.opdef.traits import Trait

from .storage import declare_alloc_tensor, new_storage

__all__ = ["alloc_storage", "alloc_tensor", "call_tir_dyn", "kill_object"]


@op("vm.alloc_storage", traits={Trait.ALLOCATES, Trait.AS_IS})
def alloc_storage(
    shape: ShapeLike, runtime_device_index: Value, dtype: DTypeValue, storage_scope: Text = "global"
) -> Value:
    """A new storage for as many elements of `dtype` as a tensor of `shape` has."""
    return new_storage(shape, dtype)


@alloc_storage.infer_call_rule
def _(context: InferContext, call: Call) -> StructInfo:
    _, index, _, _ = alloc_storage.operand_infos(call, context)
    require_integer("runtime_device_index", index, "the number of a device")
    return ObjectStructInfo()


alloc_tensor = declare_alloc_tensor("vm.alloc_tensor")


@op("vm.kill_object", traits={Trait.FREES, Trait.IMPURE, Trait.AS_IS})
def kill_object(obj: Value) -> Value:
    """Give a value back; it must not be used afterwards."""
    return ()


@kill_object.infer_rule
def _(context: InferContext, obj: StructInfo) -> StructInfo:
    return TupleStructInfo.make(())


for _operator in (alloc_storage, alloc_tensor, kill_object):
    _operator.lacks("gradient", "passes write it when nothing is left to differentiate")
    _operator.lacks("compute", "it handles memory, which the machine does")


@composite_op("vm.call_tir_dyn")
def call_tir_dyn(func: Callee, args: Values) -> Expr:
    """Call a PrimFunc of the module on tensors that it writes into, and on integers.

    `args` are the tensors, and last the shape of the integers for its scalar parameters, as lowered
    programs have it. It is `func(*tensors, *integers)`, a call with side effects. Raises
    `OperandError` where `args` does not end with a shape whose integers are written there.
    """
    parameters = {parameter.name: parameter for parameter in call_tir_dyn.parameters}
    callee = convert_callee(parameters["func"], func)
    given = args.fields if isinstance(args, Tuple) else args
    last = given[-1] if isinstance(given, (tuple, list)) and given else None
    integers = last.values if isinstance(last, ShapeExpr) else None
    if integers is None:
        message = "the last of them is the shape of the integers for scalar parameters"
        raise OperandError(
            "args", "ends with something else", message=message, code="RX0201",
            help="write `R.shape([n])`, or `R.shape([])` where there are none",
        )  # fmt: skip
    tensors = [
        convert_operand(parameters["args"], value, lambda: None, f"args[{index}]")
        for index, value in enumerate(given[:-1])
    ]
    scalars = [convert_operand(parameters["args"], value, lambda: None) for value in integers]
    return Call.make(callee, (*tensors, *scalars))
