"""The refusal of what is left to be lowered: bytecode is made of calls, `if` and results."""

from __future__ import annotations

from collections.abc import Iterator

from relaxscript.errors import Diagnostic, DiagnosticError, Span
from relaxscript.errors.exceptions import is_user_error
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Attrs, Binding, Call, DataflowBlock, Expr, Function, Op
from relaxscript.ir.walk import compounds
from relaxscript.op import base, calls, device, lookup, memory
from relaxscript.op.inplace import call_tir_inplace
from relaxscript.op.results import NEW, inplace_indices
from relaxscript.semantics.error_context import span_of_binding, span_of_signature
from relaxscript.transform.lower.vm_shape_lower import LOWERED

__all__ = ["require_lowered"]

__tracebackhide__ = is_user_error

_PASSES = {
    base.invoke_closure.name: "LowerRuntimeBuiltin",
    base.invoke_pure_closure.name: "RemovePurityChecking",
    base.make_closure.name: "LowerRuntimeBuiltin",
    calls.call_dps_packed.name: "CallTIRRewrite",
    calls.call_pure_packed.name: "RemovePurityChecking",
    calls.call_tir.name: "CallTIRRewrite",
    calls.call_tir_with_grad.name: "CallTIRRewrite",
    device.to_vdevice.name: "LowerRuntimeBuiltin",
    memory.alloc_storage.name: "LowerRuntimeBuiltin",
    memory.alloc_tensor.name: "LowerRuntimeBuiltin",
    memory.kill_storage.name: "LowerRuntimeBuiltin",
    memory.kill_tensor.name: "LowerRuntimeBuiltin",
}


def require_lowered(module: IRModule) -> None:
    """Raise `DiagnosticError` (RX0703) for what a pipeline left, with the pass that lowers it."""
    found = [
        finding
        for var, function in module.relax_functions().items()
        for finding in _remaining_constructs(function, var.name_hint)
    ]
    if found:
        raise DiagnosticError(found)


def _remaining_constructs(function: Function, name: str) -> Iterator[Diagnostic]:
    left = False
    for node in compounds(function):
        if isinstance(node, DataflowBlock):
            left = True
            first = span_of_binding(node.bindings[0]) if node.bindings else None
            yield _diagnostic(f"`{name}` has a dataflow block", "ToNonDataflow", node.span or first)
        elif isinstance(node, Function) and node is not function:
            left = True
            where = span_of_signature(node)
            yield _diagnostic(f"`{name}` has a local function", "LambdaLift", where)
        elif isinstance(node, Binding) and (found := _lowers(node.value)) is not None:
            left = True
            what = f"`{node.var.name_hint}` in `{name}` is bound to a call of `{found[0]}`"
            yield _diagnostic(what, found[1], span_of_binding(node))
    if not left and not (function.attrs or Attrs()).get(LOWERED):
        what = f"the checks of `{name}` are not written out"
        yield _diagnostic(what, "VMShapeLower", span_of_signature(function))


def _lowers(value: Expr) -> tuple[str, str] | None:
    """The operator of a call and the pass that lowers it, None where nothing is left to lower."""
    match value:
        case Call(op=Op(name) as op):
            lowers = _PASSES.get(name)
            if op == call_tir_inplace.op and NEW in inplace_indices(value):
                lowers = "CallTIRRewrite"
            if lowers is not None:
                return f"R.{lookup(op).script_name}", lowers
    return None


def _diagnostic(what: str, lowers: str, span: Span | None) -> Diagnostic:
    message = f"{what}, which the pass `{lowers}` lowers"
    help = f'add `{lowers}()` to the pipeline, or end it with `get_pipeline("default")`'
    return Diagnostic("RX0703", message, span, help=help)
