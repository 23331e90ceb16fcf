"""Legalisations that users register for all uses of `LegalizeOps`, and ours by TVM's signature."""

from __future__ import annotations

from typing import Any

from relaxscript.builder import BlockBuilder
from relaxscript.errors import UnplacedError
from relaxscript.ir import hooks
from relaxscript.ir.op_attributes import LEGALIZE, register_op_attr, registered_values
from relaxscript.ir.relax import Call, Expr, Op
from relaxscript.opdef.operator import operator_named

from .customize import Legalization
from .prim_funcs import OperatorFunctions

__all__ = ["register_legalize", "registered_legalizations"]


def register_legalize(op_name: str, legal_func: Legalization | None = None) -> Any:
    """Say what `LegalizeOps` puts in the place of calls of an operator; also a decorator.

        @register_legalize("relax.add")
        def legalize_add(bb, call):
            return bb.call_te(topi.add, *call.args)

    `legal_func(builder, call)` gives an expression, or the call itself for one that stays. The
    `customize_legalize_map` of a pass goes before it. `Op.get("relax.add").reset_attr("FLegalize")`
    takes it back. Raises `DiagnosticError` (RX0103) for an unknown operator.
    """
    return register_op_attr(op_name, LEGALIZE, legal_func, 11)


def registered_legalizations() -> dict[str, Any]:
    """The legalisations that users registered, by the names of operators."""
    return dict(registered_values(LEGALIZE))


@hooks.legalize_call.fill
def legalize_by_compute(builder: BlockBuilder, call: Call) -> Expr:
    """The call of the PrimFunc of an operator, or the call itself where it has none."""
    assert isinstance(call.op, Op)
    operator = operator_named(call.op.name)
    try:
        made = OperatorFunctions(builder).legalize(operator, call)
    except UnplacedError as error:
        raise error.as_diagnostic_error(f"R.{operator.script_name}", call.span) from None
    return made if isinstance(made, Call) else call
