"""The two functions in the place of one: that of its weights, and that of inputs and results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from relaxscript.analysis.weight_names import NUM_INPUT, PARAM_NAMES, weights_of
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import Var as ShapeVar
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    SeqExpr,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from relaxscript.ir.renaming import copy_with_new_vars
from relaxscript.ir.struct_info import ShapeStructInfo, StructInfo, TupleStructInfo
from relaxscript.ir.walk import Substitution, defined_by, mentioned
from relaxscript.sinfo import erase_to_well_defined
from relaxscript.transform.normalize.normalize import normalize_module

from .joined_blocks import joined_blocks
from .weight_bindings import WeightBindings, used_by, uses_of

__all__ = ["Handed", "Split", "handed_over", "runtime_function", "transform_function"]


class Handed(NamedTuple):
    """The values that the first function gives to the second, after the sizes that it tells."""

    sizes: tuple[ShapeVar, ...]
    variables: tuple[Var, ...]


class Split(NamedTuple):
    """A function with what of it is computed ahead, what it is handed, and what it uses."""

    work: WeightBindings
    handed: Handed
    needed: set[Node]


def handed_over(work: WeightBindings, needed: set[Node]) -> Handed:
    """The weights that are needed in their order, then what is computed of them.

    Sizes go before them, as one shape: those that are needed and that nothing else tells, and those
    that inputs and weights have to agree on.
    """
    variables = [v for v in (*work.weights, *work.lifted) if v in needed]
    told = {*defined_by(work.function, tuple(variables))}
    of_inputs = {*defined_by(work.function, work.inputs)}
    sizes = [
        size for size in work.sizes if size not in told and (size in needed or size in of_inputs)
    ]
    return Handed(tuple(sizes), tuple(variables))


def runtime_function(split: Split) -> Function:
    """The function that takes the inputs, and what the other one gives in the place of weights."""
    work, handed, needed = split
    function, body = work.function, work.function.body
    assert isinstance(body, SeqExpr)
    given, renamed = _parameters(work, handed)
    written = [
        block.replace(bindings=tuple([b for b in block.bindings if _is_kept(b, work, needed)]))
        if any(b.var in work.ahead for b in block.bindings)
        else block
        for block in body.blocks
    ]
    body = body.replace(blocks=joined_blocks(written))
    made = function.replace(params=(*work.inputs, *given), body=body)
    made = renamed.apply(made)
    if made.attrs is None or PARAM_NAMES not in made.attrs:
        return made
    names = _names(work, handed)
    attrs = made.attrs.without(PARAM_NAMES)
    return made.replace(attrs=attrs if names is None else attrs.with_item(PARAM_NAMES, names))


def _parameters(work: WeightBindings, handed: Handed) -> tuple[list[Var], Substitution]:
    """The parameters after the inputs, and what they take the place of."""
    given, renamed = list[Var](), Substitution()
    if handed.sizes:
        given.append(Var.make("extra_symbolic_vars", ShapeStructInfo(handed.sizes)))
    for var in handed.variables:
        if var in work.ahead:
            # A variable of a dataflow block is none of a function.
            param = Var.make(var.name_hint, renamed.apply(_info(var)), span=var.span)
            renamed[var] = param
            var = param
        given.append(var)
    return given, renamed


def _is_kept(binding: Binding, work: WeightBindings, needed: set[Node]) -> bool:
    if binding.var not in work.ahead:
        return True
    return binding.var in work.free and binding.var in needed


def _names(work: WeightBindings, handed: Handed) -> list[str] | None:
    """The names of weights afterwards; None where sizes are among them, which have none."""
    if handed.sizes:
        return None
    known: dict[Var, list[str]] = {}
    for weight in weights_of(work.function):
        known.setdefault(weight.param, []).append(weight.name)
    taken, names = {name for group in known.values() for name in group}, list[str]()
    weights = {*work.weights}
    for var, binding in work.ahead.items():
        value, is_tuple = binding.value, isinstance(var.struct_info, TupleStructInfo)
        if isinstance(value, TupleGetItem) and value.tuple_value in weights and not is_tuple:
            known[var] = [known[value.tuple_value][value.index]]
    for var in handed.variables:
        info = var.struct_info
        if var in known or isinstance(info, TupleStructInfo):
            fields = range(len(info.fields)) if isinstance(info, TupleStructInfo) else ()
            names += known.get(var, [f"{var.name_hint}.{i}" for i in fields])
            continue
        name, number = var.name_hint, 0
        while name in taken:
            number += 1
            name = f"{var.name_hint}_{number}"
        taken.add(name)
        names.append(name)
    return names if len({*names}) == len(names) else None


def transform_function(split: Split, name: str, mod: IRModule) -> Function:
    """The public function that takes the weights as a tuple, and gives what is handed over."""
    work, handed, _ = split
    infos = tuple([_closed(work, weight) for weight in work.weights])
    whole = Var.make("params", TupleStructInfo.make(infos))
    renamed = Substitution()
    ahead, used = work.written_ahead()
    # Local functions reach no variables of the dataflow block around them.
    captured = {v for b in ahead if isinstance(b.value, Function) for v in used_by(b.value)}
    taken = {*used, *handed.variables}
    fetched: dict[Node, Binding] = {}
    for index, (weight, info) in enumerate(zip(work.weights, infos, strict=True)):
        if weight not in taken:
            continue
        kind = Var if weight in captured else DataflowVar
        var = kind.make(weight.name_hint, info, span=weight.span)
        renamed[weight] = var
        field = TupleGetItem.make(whole, index, span=weight.span)
        fetched[weight] = VarBinding.make(var, field, span=weight.span)
    bindings = _where_first_used(fetched, ahead)
    result = Var.make("gv", None)
    bindings.append(VarBinding.make(result, _result(handed)))
    block = DataflowBlock.make(tuple(bindings))
    body = renamed.apply(SeqExpr.make((block,), result))
    attrs: dict[str, object] = {"global_symbol": name, NUM_INPUT: 0}
    known = work.function.attrs or Attrs()
    if PARAM_NAMES in known and not any(isinstance(info, TupleStructInfo) for info in infos):
        attrs[PARAM_NAMES] = known[PARAM_NAMES]
    made = Function.make((whole,), body, None, True, Attrs(attrs), span=work.function.span)
    alone = mod.clone()
    alone[name] = copy_with_new_vars(made)
    typed = normalize_module(alone)[name]
    assert isinstance(typed, Function)
    return typed


def _where_first_used(fetched: dict[Node, Binding], bindings: Sequence[Binding]) -> list[Binding]:
    """Bindings with those of what they use before its first use; the others are behind them."""
    made, places = list[Binding](), {var: place for place, var in enumerate(fetched)}
    for binding in bindings:
        first = [var for var in mentioned(binding.value) if var in fetched]
        for var in (*first, *sorted(fetched.keys() & uses_of(binding), key=lambda v: places[v])):
            if var in fetched:
                made.append(fetched.pop(var))
        made.append(binding)
    return [*made, *fetched.values()]


def _result(handed: Handed) -> Expr:
    sizes = (ShapeExpr.make(handed.sizes),) if handed.sizes else ()
    return Tuple.make((*sizes, *handed.variables))


def _closed(work: WeightBindings, weight: Var) -> StructInfo:
    """The StructInfo of a weight, without sizes that only inputs tell."""
    info = _info(weight)
    return erase_to_well_defined(info, (), {*work.sizes}) if weight in work.open else info


def _info(var: Var) -> StructInfo:
    assert var.struct_info is not None
    return var.struct_info
