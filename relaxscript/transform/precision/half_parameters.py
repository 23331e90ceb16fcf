"""Parameters that are float16 from now on, in their functions and in what calls these."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from relaxscript.analysis.well_formedness import ill_formed
from relaxscript.errors import Diagnostic, DiagnosticError, did_you_mean, nearest
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    BindingBlock,
    Call,
    Function,
    GlobalVar,
    SeqExpr,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.walk import mentioned, rewrite
from relaxscript.op.datatype import astype
from relaxscript.transform.normalize.normalize import normalize_module

from .precision_policy import HALF, is_single

__all__ = ["half_places", "with_half_parameters", "without_unused_casts"]

_Places = Mapping[GlobalVar, Collection[int]]


def half_places(mod: IRModule, names: Sequence[str]) -> dict[GlobalVar, list[int]]:
    """The places of parameters of float32 with these names, by their function.

    Raises `DiagnosticError`. RX0101 is for a name that no function has, RX0103 for one of what is
    neither float32 nor float16.
    """
    wanted = set(names)
    functions = mod.relax_functions()
    known = {param.name_hint: param for func in functions.values() for param in func.params}
    for name in names:
        if name not in known:
            help = did_you_mean(nearest(name, list(known)), _listed(known), quote="`")
            message = f"`ToMixedPrecision` is given `{name}`, but no function has that parameter"
            raise DiagnosticError(Diagnostic("RX0101", message, mod.span, help=help))
    found: dict[GlobalVar, list[int]] = {}
    for gvar, func in functions.items():
        for place, param in enumerate(func.params):
            if param.name_hint in wanted and _is_changed(param):
                found.setdefault(gvar, []).append(place)
    return found


def _listed(known: Collection[str]) -> str:
    return f"there are {', '.join(known)}" if known else "no function has parameters"


def _is_changed(param: Var) -> bool:
    """True for float32, False for float16; raises `DiagnosticError` for others."""
    info = param.struct_info
    if isinstance(info, TensorStructInfo) and info.dtype is HALF:
        return False
    if is_single(info):
        return True
    message = f"`{param.name_hint}` is `{info}`, which does not become float16"
    help = "`fp16_input_names` are those of tensors of float32"
    raise DiagnosticError(Diagnostic("RX0103", message, param.span, help=help))


def with_half_parameters(mod: IRModule, places: _Places) -> IRModule:
    """The module with parameters that are float16, and cast to float32 before anything else.

    What calls these functions gives them float16. Raises `DiagnosticError` where one of them is
    used as a value.
    """
    made = mod.clone()
    for var, func in mod.relax_functions().items():
        new = _with_casts(func, places[var]) if var in places else func
        made[var] = rewrite(new, lambda node: _given_half(node, places))
    made = normalize_module(made)
    if (wrong := ill_formed(made)) and not ill_formed(mod):
        raise DiagnosticError(wrong)
    return made


def _with_casts(func: Function, places: Collection[int]) -> Function:
    params = list(func.params)
    bindings = []
    for place in places:
        old = params[place]
        assert isinstance(old.struct_info, TensorStructInfo)
        new = Var.make(old.name_hint, old.struct_info.replace(dtype=HALF), span=old.span)
        params[place] = new
        bindings.append(VarBinding.make(old, astype(new, "float32"), span=old.span))
    body = func.body
    assert isinstance(body, SeqExpr), "functions of modules are in normal form"
    blocks = (BindingBlock.make(tuple(bindings)), *body.blocks)
    return func.replace(params=tuple(params), body=body.replace(blocks=blocks))


def _given_half(node: Node, places: _Places) -> Call | None:
    """A call of a function with such parameters, which gives them float16."""
    if not isinstance(node, Call) or not isinstance(node.op, GlobalVar) or node.op not in places:
        return None
    args = list(node.args)
    for place in places[node.op]:
        args[place] = astype(args[place], "float16")
    return node.replace(args=tuple(args), arg_spans=())


def without_unused_casts(func: Function, count: int) -> Function:
    """The function without those of its first so many bindings that nothing mentions."""
    body = func.body
    assert isinstance(body, SeqExpr)
    first, *others = body.blocks
    used = {*mentioned(func.replace(body=body.replace(blocks=tuple(others))))}
    casts = first.bindings[:count]
    used |= {var for b in first.bindings[count:] for var in mentioned(b.value)}
    left = [b for b in casts if b.var in used]
    bindings = (*left, *first.bindings[count:])
    blocks = (first.replace(bindings=bindings), *others) if bindings else tuple(others)
    return func.replace(body=body.replace(blocks=blocks))
