"""RemoveUnusedChecks: of the checks, only those stay that give a shape variable its value."""

from __future__ import annotations

from typing import Any

from relaxscript.ir import prim
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import Attrs, Function, MatchCast, Var, VarBinding
from relaxscript.ir.walk import children, compounds, rewrite, variables
from relaxscript.semantics.check_calls import check_of
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import FunctionPass

__all__ = [
    "TRUST_STRUCT_INFO", "RemoveUnusedChecks", "shape_vars_computed_with", "trusts_struct_info",
]  # fmt: skip

# The attribute of a function whose StructInfo is trusted.
TRUST_STRUCT_INFO = "relax.trust_struct_info"


class RemoveUnusedChecks(FunctionPass):
    """Have the StructInfo of a program trusted: values are not compared with it when it runs.

    Before:

        @R.function
        def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
            n = T.int64()
            y = R.match_cast(x, R.Tensor((n, 4), "float32"))
            return y

    After:

        @R.function
        def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
            n = T.int64()
            R.func_attr({"relax.trust_struct_info": True})
            y = R.match_cast(x, R.Tensor((n, 4), "float32"))
            return y

    The virtual machine then only takes the values of shape variables that something computes with,
    here none. It tells tensors, tuples, shapes, scalars and functions from one another where they
    come from outside. This is given up: an argument, a cast, or the result of a packed function
    that is not what the program says goes unnoticed. The results are anything then; where the
    checks would pass, they are the same. Memory stays safe: PrimFuncs test the arrays
    that they are given, and operators run on numpy arrays, which do so as well. Operators still
    look at operands of which the program does not say enough. The interpreter goes on checking.

    Source: spec "Proving Shapes Equivalent and Eliminating Dynamic Checks", the mode that
    eliminates almost all checks.
    """

    trusts_checks = True

    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        inner = [part for part in compounds(func) if isinstance(part, Function)][1:]
        # Without local functions, nothing inside is looked at.
        return rewrite(func, _trust) if inner else _trust(func) or func


def _trust(node: Node) -> Any:
    if isinstance(node, Function) and not (node.attrs or Attrs()).get(TRUST_STRUCT_INFO):
        return node.with_attr(TRUST_STRUCT_INFO, True)
    return None


def trusts_struct_info(function: Function) -> bool:
    """True if nothing is compared with the StructInfo of a function."""
    return bool((function.attrs or Attrs()).get(TRUST_STRUCT_INFO))


def shape_vars_computed_with(function: Function) -> set[prim.Var]:
    """The shape variables with whose values a function computes, or which its closures take along.

    What only says what a value is, as annotations and casts do, needs none.
    """
    found: set[prim.Var] = set()
    stack: list[Node] = [function.body]
    while stack:
        node = stack.pop()
        match node:
            case prim.Var():
                found.add(node)
            case Var():
                pass
            case VarBinding(value=value) | MatchCast(value=value):
                if check_of(value) is None:
                    stack.append(value)
            case Function():
                found.update(v for v in variables(node) if isinstance(v, prim.Var))
            case _:
                stack.extend(children(node))
    return found
