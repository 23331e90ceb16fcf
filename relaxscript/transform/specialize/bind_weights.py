"""Weights as constants: parameters of the functions of a module, bound to arrays by name.

All of them are looked at before one is bound, and what is wrong is said in one go: names that are
missing or that no parameter has, and arrays of another shape or dtype.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from relaxscript import op as operators
from relaxscript.analysis.weight_names import (
    NUM_INPUT,
    PARAM_NAMES,
    NamedWeight,
    names_of_weights,
    weights_of,
)
from relaxscript.analysis.well_formedness import ill_formed
from relaxscript.arith import NO, YES
from relaxscript.errors import Diagnostic, DiagnosticError, VMError
from relaxscript.errors.exceptions import is_user_error
from relaxscript.ir import relax
from relaxscript.ir.constant_folding import fold_constants
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import IntImm, PrimExpr, Var as ShapeVar
from relaxscript.ir.struct_info import StructInfo, TupleStructInfo
from relaxscript.ir.walk import free_vars, rewrite, substitute, walk
from relaxscript.runtime.values import DeviceTensor, to_tensor
from relaxscript.sinfo import (
    check_compatibility,
    explain_mismatch,
    is_subtype,
    shape_var_mapping,
    shape_vars,
    substitute_shape_vars,
)
from relaxscript.transform.vdevice.device_calls import is_host, move_call
from relaxscript.weights import file_of
from relaxscript.weights.names import (
    NamedPlace,
    as_written,
    differing_names,
    require_mapping,
)

__all__ = ["with_fields", "with_params"]

__tracebackhide__ = is_user_error

# A weight and the name under which an array is given for it.
Given = list[tuple[NamedWeight, str]]


def with_params(module: IRModule, params: Mapping[str, Any]) -> IRModule:
    """The module with parameters bound to arrays by name, which become constants.

    These are parameters of `main`, or of all public functions where there is none. A function may
    say by `num_input` which of its parameters are weights: of these none may be missing.
    Shape variables that the arrays determine become numbers everywhere in the function. Raises
    `DiagnosticError`: RX0712 for names that are missing or that no parameter has, RX0206 for
    arrays that do not fit. All of them are said at once.
    """
    require_mapping(params)
    chosen = _chosen(module)
    weights = {var: weights_of(function) for var, function in chosen.items()}
    given = _by_name(weights, params)
    arrays, wrong = _arrays(given, params)
    made = {id(array): relax.Constant(array) for array in arrays.values()}
    constants = {name: made[id(array)] for name, array in arrays.items()}
    sizes = {}
    for var, found in given.items():
        fitting = [(weight, name) for weight, name in found if name in constants]
        sizes[var], misfits = _match(fitting, constants, params)
        wrong += misfits
    if wrong:
        raise DiagnosticError(list(dict.fromkeys(wrong)))
    result, narrowed = module.clone(), False
    for var, found in given.items():
        if found:
            result[var] = _bound(chosen[var], found, constants, sizes[var])
            narrowed = narrowed or any(shape_vars(weight.info) for weight, _ in found)
    # Calls that fitted for all values of a shape variable need not fit for the one that it got.
    if narrowed and (ill := ill_formed(result)):
        raise DiagnosticError(ill)
    return result


def _chosen(module: IRModule) -> dict[relax.GlobalVar, relax.Function]:
    """The functions whose parameters are meant."""
    public = {v: f for v, f in module.relax_functions().items() if not f.is_private}
    main = {v for v in public if v.name_hint == "main"} or public.keys()
    return {v: f for v, f in public.items() if v in main or NUM_INPUT in (f.attrs or ())}


# ---------------------------------------------------------------- names


def _by_name(
    weights: Mapping[relax.GlobalVar, list[NamedWeight]], params: Mapping[str, Any]
) -> dict[relax.GlobalVar, Given]:
    """The weights of each function that are given, and as what."""
    known = dict.fromkeys(weight.name for found in weights.values() for weight in found)
    written = as_written(params, known)
    given: dict[relax.GlobalVar, Given] = {}
    missing: list[NamedWeight] = []
    for var, found in weights.items():
        # An input that is called as a weight is none of those that are bound.
        owned = {weight.name for weight in found if weight.is_input is False}
        found = [w for w in found if not (w.is_input and w.name in owned)]
        pairs = [(weight, written.get(weight.name, weight.name)) for weight in found]
        given[var] = [(weight, name) for weight, name in pairs if name in params]
        names_of_weights([weight for weight, _ in given[var]])
        tuples = {weight.param for weight, _ in given[var] if weight.field is not None}
        missing += (
            weight
            for weight, name in pairs
            if name not in params and (weight.is_input is False or weight.param in tuples)
        )
    used = {name for found in given.values() for _, name in found}
    unexpected = [name for name in params if name not in used]
    if missing or unexpected:
        places = [NamedPlace(weight.name, weight.param, weight.param.span) for weight in missing]
        raise DiagnosticError(differing_names(places, unexpected, list(known), params))
    return given


# ---------------------------------------------------------------- shapes and dtypes


def _arrays(
    given: Mapping[relax.GlobalVar, Given], params: Mapping[str, Any]
) -> tuple[dict[str, np.ndarray[Any, Any]], list[Diagnostic]]:
    """The arrays by the names under which they are given, and what is no array."""
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    wrong = []
    weights = {name: weight for found in given.values() for weight, name in found}
    for name, weight in weights.items():
        try:
            tensor = to_tensor(params[name])
            arrays[name] = tensor.numpy() if isinstance(tensor, DeviceTensor) else tensor
        except VMError as error:
            message = f"the value for `{name}` is no array: {error.diagnostic.message}"
            wrong.append(Diagnostic("RX0206", message, weight.param.span))
    return arrays, wrong


def _match(
    given: Given, constants: Mapping[str, relax.Constant], params: Mapping[str, Any]
) -> tuple[dict[ShapeVar, PrimExpr], list[Diagnostic]]:
    """The sizes that the arrays give to shape variables, and the arrays that do not fit."""
    infos = [_info_of(constants[name]) for _, name in given]
    mapping = shape_var_mapping([weight.info for weight, _ in given], infos)
    wrong = []
    for (weight, name), info in zip(given, infos, strict=True):
        expected = substitute_shape_vars(weight.info, mapping)
        if check_compatibility(info, expected) is NO:
            reason = explain_mismatch(info, expected)
            message = f"the array for `{name}` does not fit: {reason}"
            file = file_of(params, name)
            notes = () if file is None else (f"it is from `{file}`",)
            wrong.append(Diagnostic("RX0206", message, weight.param.span, notes=notes))
    return mapping, wrong


def _info_of(constant: relax.Constant) -> StructInfo:
    return operators.struct_info_of_leaf(constant)


# ---------------------------------------------------------------- functions without their weights


def _bound(
    function: relax.Function, given: Given, constants: Mapping[str, relax.Constant],
    sizes: Mapping[ShapeVar, PrimExpr],
) -> relax.Function:  # fmt: skip
    """The function with parameters turned into bindings of constants at its start."""
    specialised = _specialise(function, sizes)
    renamed = dict(zip(function.params, specialised.params, strict=True))
    bindings: list[relax.Binding] = []
    fields: dict[relax.Var, dict[int, relax.Var]] = {}
    for weight, name in given:
        var = renamed[weight.param]
        if weight.field is not None:
            whole = var.struct_info
            assert isinstance(whole, TupleStructInfo)
            own = fields.setdefault(var, {})
            var = relax.Var.make(weight.name, whole.fields[weight.field], span=var.span)
            own[weight.field] = var
        bindings.append(_constant_binding(var, constants[name], _info_of(constants[name])))
    body = with_fields(specialised.body, fields)
    used = {*free_vars(body)} if fields else set()
    for var, own in fields.items():
        if var in used:
            again = relax.Tuple(tuple(own[i] for i in sorted(own)))
            bindings.append(relax.VarBinding.make(var, again, span=var.span))
    bound = {weight.param for weight, _ in given}
    kept = tuple(renamed[p] for p in function.params if p not in bound)
    blocks = _after(tuple(bindings), body.blocks)
    made = specialised.replace(params=kept, body=body.replace(blocks=blocks))
    return made.replace(attrs=_attrs_without(function, bound))


def with_fields(
    body: relax.Expr, fields: Mapping[relax.Var, Mapping[int, relax.Var]]
) -> relax.SeqExpr:
    """A body in which fields of tuples of weights are variables of their own.

    Other names of these are gone: a constant that is only read under its own name is never copied.
    """
    assert isinstance(body, relax.SeqExpr)
    if not fields:
        return body
    own: dict[relax.Var, relax.Var] = {}
    for node in walk(body):
        if isinstance(node, relax.VarBinding) and (var := _field(node.value, fields)) is not None:
            own[node.var] = var

    def step(node: Node) -> Node | None:
        match node:
            case relax.Var():
                return own.get(node)
            case relax.TupleGetItem():
                return _field(node, fields)
            case relax.BindingBlock(bindings=bindings):
                kept = tuple(b for b in bindings if getattr(b, "value", None) is not b.var)
                return None if len(kept) == len(bindings) else node.replace(bindings=kept)
            case relax.SeqExpr(blocks=blocks) if not all(block.bindings for block in blocks):
                return node.replace(blocks=tuple(block for block in blocks if block.bindings))
        return None

    return rewrite(body, step)


def _field(
    node: relax.Expr, fields: Mapping[relax.Var, Mapping[int, relax.Var]]
) -> relax.Var | None:
    """The variable for a field of a tuple of weights."""
    if isinstance(node, relax.TupleGetItem) and isinstance(node.tuple_value, relax.Var):
        own = fields.get(node.tuple_value)
        return None if own is None else own[node.index]
    return None


def _attrs_without(function: relax.Function, bound: set[relax.Var]) -> relax.Attrs | None:
    """The attributes of a function that has lost parameters."""
    if function.attrs is None:
        return None
    attrs = dict(function.attrs)
    if NUM_INPUT in attrs:
        attrs[NUM_INPUT] -= sum(param in bound for param in function.params[: attrs[NUM_INPUT]])
    if PARAM_NAMES in attrs:
        weights = weights_of(function)
        names = [w.name for w in weights if not w.is_input and w.param not in bound]
        attrs[PARAM_NAMES] = names
        if not names:
            del attrs[PARAM_NAMES]
    return relax.Attrs(attrs)


def _after(
    bindings: tuple[relax.Binding, ...], blocks: tuple[relax.BindingBlock, ...]
) -> tuple[relax.BindingBlock, ...]:
    """Blocks with bindings before them, which join a first block that is no dataflow block."""
    if blocks and not isinstance(blocks[0], relax.DataflowBlock):
        bindings, blocks = (*bindings, *blocks[0].bindings), blocks[1:]
    return (relax.BindingBlock.make(bindings), *blocks)


def _constant_binding(var: relax.Var, constant: relax.Constant, info: StructInfo) -> relax.Binding:
    """A variable for a constant; what shape variables decide is checked when the program runs.

    The constant is copied to where the parameter is said to be.
    """
    value: relax.Expr = constant
    device = getattr(var.struct_info, "vdevice", None)
    if device is not None:
        info = info.replace(vdevice=device)
        value = constant if is_host(device) else move_call(constant, device, var.span)
    if is_subtype(info, var.struct_info) is YES:
        return relax.VarBinding.make(var, value, span=var.span)
    return relax.MatchCast.make(var, value, var.struct_info, span=var.span)


def _specialise(function: relax.Function, mapping: Mapping[ShapeVar, PrimExpr]) -> relax.Function:
    """The function with shape variables replaced by numbers, and computed with as scripts do."""
    numbers = {v: e for v, e in mapping.items() if isinstance(e, IntImm)}
    if not numbers:
        return function
    replaced = substitute(function, numbers)
    return rewrite(
        replaced, lambda node: fold_constants(node) if isinstance(node, PrimExpr) else None
    )
