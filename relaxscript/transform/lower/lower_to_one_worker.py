"""LowerToOneWorker: distributed tensors as the plain ones that they are to one worker."""

from __future__ import annotations

from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import Call, Expr, Function, If, SeqExpr
from relaxscript.ir.struct_info import DTensorStructInfo, StructInfo, TensorStructInfo
from relaxscript.ir.walk import rewrite, walk
from relaxscript.op import PlainContext, calls
from relaxscript.op.dist import (
    annotate_sharding,
    call_tir_local_view,
    redistribute,
)
from relaxscript.op.shards import devices_of_results
from relaxscript.sinfo import struct_info_parts
from relaxscript.transform.derived_info import with_derived_info
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

__all__ = ["LowerToOneWorker"]


class LowerToOneWorker(ModulePass):
    """Make tensors of distributed tensors: one worker runs the program, and has all of each.

    Before:

        @R.function
        def main(x: R.DTensor((4,), "float32", "mesh[0]", "S[0]")):
            y: R.DTensor((4,), "float32", "mesh[0]", "S[0]") = R.add(x, x)
            z: R.DTensor((4,), "float32", "mesh[0]", "R") = R.dist.redistribute(
                y, device_mesh="mesh[0]", placement="R"
            )
            return z

    After:

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            y: R.Tensor((4,), "float32") = R.add(x, x)
            z: R.Tensor((4,), "float32") = y
            return z

    `R.dist.annotate_sharding` is left where dimensions decide whether devices can share a tensor
    evenly: that is checked when the program runs.
    `R.dist.call_tir_local_view` becomes `R.call_tir` where the mesh is one device, which has the
    whole. Raises `DiagnosticError` (RX0703) for one on a mesh of several, which would each run the
    PrimFunc.
    """

    changes_signatures = True

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        changed = {}
        for var, function in mod.relax_functions().items():
            if not _has_distributed(function):
                continue
            _require_one_device(function)
            made = rewrite(function, _of_one_worker)
            if made is not function:
                changed[var] = made
        if not changed:
            return mod
        result = mod.clone()
        result.update(changed)
        return result


def _has_distributed(function: Function) -> bool:
    """True if a variable, or the result of a function, is known to be a distributed tensor.

    Most programs have none, which is found out without a look at every part.
    """
    pending: list[Expr] = [function]
    for expr in pending:
        match expr:
            case Function(params=params, body=body, ret_struct_info=ret):
                if _is_distributed(ret) or any(_is_distributed(p.struct_info) for p in params):
                    return True
                pending.append(body)
            case If(true_branch=taken, false_branch=other):
                pending += (taken, other)
            case SeqExpr(blocks=blocks):
                for block in blocks:
                    for binding in block.bindings:
                        if _is_distributed(binding.var.struct_info):
                            return True
                        value = binding.value
                        if value.__class__ is not Call:
                            pending.append(value)
    return False


def _is_distributed(info: StructInfo | None) -> bool:
    if info is None or info.__class__ is TensorStructInfo:
        return False
    return isinstance(info, DTensorStructInfo) or (
        info.is_compound and any(isinstance(n, DTensorStructInfo) for n in struct_info_parts(info))
    )


def _is_checked(call: Call) -> bool:
    """True if it depends on dimensions whether devices can share a tensor evenly."""
    context = PlainContext()
    annotate_sharding.infer(call.replace(op=annotate_sharding.op), context)
    return bool(context.deferred_checks)


def _require_one_device(function: Function) -> None:
    for call in walk(function):
        if isinstance(call, Call) and call.op == call_tir_local_view.op:
            count = devices_of_results(call.sinfo_args)
            if count > 1:
                message = f"`R.dist.call_tir_local_view` runs on each of {count} devices"
                note = "`LowerToOneWorker` makes programs for one worker, which is one device"
                raise DiagnosticError(Diagnostic("RX0703", message, call.span, notes=(note,)))


def _of_one_worker(node: Node) -> Node | None:
    match node:
        case DTensorStructInfo(tensor_sinfo=tensor):
            return tensor
        case Call(op=annotate_sharding.op | redistribute.op, args=(value, *_)):
            if _is_checked(node):
                return node.replace(op=annotate_sharding.op)
            return value
        case Call(op=call_tir_local_view.op):
            return Call.make(
                calls.call_tir.op, node.args, None, node.sinfo_args, node.arg_spans, span=node.span
            )
    return with_derived_info(node, _of_one_worker)
