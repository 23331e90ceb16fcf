"""Edits that make a module smaller, for `reduce`: start reading at `EDITS`.

An edit offers modules to a `Reduction`, which goes on with those that fail. What it offers need not
be well-formed, nor smaller: that is looked at there.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Any, Protocol

from relaxscript.analysis.struct_infos import defined_symbolic_vars
from relaxscript.builder import bind_symbolic_vars, inline_functions
from relaxscript.errors import RelaxWarning
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import Var as ShapeVar
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    BindingBlock,
    Call,
    Expr,
    Function,
    GlobalVar,
    If,
    MatchCast,
    SeqExpr,
    Tuple,
    Var,
    VarBinding,
)
from relaxscript.ir.walk import compounds, rewrite, rewrite_compounds, variables
from relaxscript.script import from_source
from relaxscript.sinfo import erase_to_well_defined
from relaxscript.transform import InlinePrivateFunctions, ToNonDataflow

__all__ = ["EDITS", "Candidate", "Reduction"]

Candidate = Callable[[], "IRModule | None"]
NUMBER = re.compile(r"(?<![\w.\"'])([1-9]\d*)(?![\w.\"'])")


_IMPURE = "pure=False"  # beside the names of attributes, of which none is such


class Reduction(Protocol):
    """The module at hand, and who says what may take its place."""

    mod: IRModule

    def accept(self, make: Candidate) -> bool:
        """Go on with a module, if it is smaller, well-formed and fails."""

    def drop(self, items: Sequence[Any], without: Callable[[frozenset[int]], Any]) -> None:
        """Go on without as many of the items as can go; `without` takes their places."""


def _with_function(mod: IRModule, var: GlobalVar, function: Function) -> IRModule:
    made = mod.clone()
    made[var] = function
    return made


# ---------------------------------------------------------------- functions


def _without_functions(reduction: Reduction) -> None:
    mod = reduction.mod
    names = list(mod.functions)

    def without(gone: frozenset[int]) -> IRModule:
        made = mod.clone()
        for place in gone:
            del made[names[place]]
        left = made.relax_functions()
        if all(function.is_private for function in left.values()):  # somebody has to be called
            for var, function in left.items():
                made[var] = function.with_attr("global_symbol", var.name_hint)
        return made

    reduction.drop(names, without)


def _with_bodies_for_calls(reduction: Reduction) -> None:
    """Inline all private functions, or one."""
    if reduction.accept(lambda: InlinePrivateFunctions()(reduction.mod)):
        return
    for var, function in reduction.mod.relax_functions().items():
        if function.is_private:
            reduction.accept(partial(_inlined, reduction.mod, var))


def _inlined(mod: IRModule, var: GlobalVar) -> IRModule:
    made = mod.clone()
    del made[var]
    for other in made.relax_functions():
        made[other] = inline_functions(mod[other], {var.name_hint: mod[var]}, mod)
    return made


# ---------------------------------------------------------------- attributes and dataflow blocks


def _without_dataflow(reduction: Reduction) -> None:
    """Ordinary bindings only: those of dataflow blocks cannot be used outside."""
    reduction.accept(lambda: ToNonDataflow()(reduction.mod))


def _without_attributes(reduction: Reduction) -> None:
    """Drop global infos, `pure=False`, and all attributes but `global_symbol`."""
    mod = reduction.mod
    held: list[tuple[GlobalVar | None, str]] = [(None, key) for key in mod.attrs or ()]
    held += [(None, key) for key in mod.global_infos]
    for var, function in mod.functions.items():
        attrs: Attrs = getattr(function, "attrs", None) or Attrs()
        held += [(var, key) for key in attrs if key != "global_symbol"]
        if isinstance(function, Function) and not function.is_pure:
            held.append((var, _IMPURE))

    def without(gone: frozenset[int]) -> IRModule:
        made = mod.clone()
        for place in gone:
            var, key = held[place]
            if var is not None:
                pure = key is _IMPURE
                made[var] = made[var].replace(is_pure=True) if pure else made[var].without_attr(key)
            elif key in made.global_infos:
                del made.global_infos[key]
            else:
                made.attrs = made.attrs.without(key)
        return made

    reduction.drop(held, without)


# ---------------------------------------------------------------- results and parameters


def _with_less_of_results(reduction: Reduction) -> None:
    """Functions that end earlier, or give one field of what they gave."""
    for var in reduction.mod.relax_functions():
        first, last = 0, len(_bindings(reduction.mod[var])) - 1
        while first < last:
            middle = (first + last) // 2
            if reduction.accept(partial(_ended, reduction.mod, var, middle)):
                last = middle
            else:
                first = middle + 1
        result = reduction.mod[var].body.body
        for field in result.fields if isinstance(result, Tuple) else ():
            if reduction.accept(partial(_giving_field, reduction.mod, var, field)):
                break


def _giving_field(mod: IRModule, var: GlobalVar, field: Expr) -> IRModule:
    return _with_function(mod, var, _giving(mod[var], mod[var].body, field))


def _bindings(function: Function) -> list[Binding]:
    """The bindings of the function itself, not of branches and functions in it."""
    body = function.body
    assert isinstance(body, SeqExpr)
    return [binding for block in body.blocks for binding in block.bindings]


def _ended(mod: IRModule, var: GlobalVar, place: int) -> IRModule:
    """The module in which a function ends with one of its bindings, and gives the value of it."""
    bindings = _bindings(mod[var])
    shorter = _filtered(mod[var], {binding.var for binding in bindings[place + 1 :]})
    assert isinstance(shorter.body, SeqExpr)
    return _with_function(mod, var, _giving(shorter, shorter.body, bindings[place].var))


def _giving(function: Function, body: SeqExpr, result: Expr) -> Function:
    """The function with another result, of which is declared what callers can see."""
    params = function.params
    sizes = [v for p in params for v in variables(p.struct_info) if isinstance(v, ShapeVar)]
    info = erase_to_well_defined(result.struct_info, lambda var: var in params, sizes)
    return function.replace(body=body.replace(body=result), ret_struct_info=info)


def _still_giving(function: Function, gone: Collection[Var], instead: dict[Var, Var]) -> Function:
    """The function with another result, where its own is dropped and nothing takes its place."""
    body = function.body
    assert isinstance(body, SeqExpr)
    if body.body not in gone or body.body in instead:
        return function
    left = [*function.params, *[binding.var for binding in _bindings(function)]]
    left = [var for var in left if var not in gone]
    return _giving(function, body, left[-1]) if left else function


def _without_parameters(reduction: Reduction) -> None:
    for var in reduction.mod.relax_functions():
        mod = reduction.mod
        reduction.drop(mod[var].params, partial(_taking_less, mod, var))


def _taking_less(mod: IRModule, var: GlobalVar, gone: Collection[int]) -> IRModule:
    """The module in which a function takes fewer arguments, where it is called too."""
    function = mod[var]
    kept = [param for place, param in enumerate(function.params) if place not in gone]
    known: dict[str, Var] = {str(param.struct_info): param for param in reversed(kept)}
    instead = {
        param: known[str(param.struct_info)]
        for param in function.params
        if param not in kept and str(param.struct_info) in known
    }
    dropped = set(function.params).difference(kept)
    shorter = _still_giving(function, dropped, instead).replace(params=kept)
    made = _with_function(mod, var, _replaced(shorter, instead))

    def with_fewer(node: Node) -> Node | None:
        if not isinstance(node, Call) or not _calls(node, var):
            return None
        args = [arg for place, arg in enumerate(node.args) if place not in gone]
        return node.replace(args=tuple(args), arg_spans=())

    for other, caller in made.relax_functions().items():
        if any(isinstance(part, Call) and _calls(part, var) for part in compounds(caller)):
            made[other] = rewrite(caller, with_fewer)
    return made


def _calls(call: Call, var: GlobalVar) -> bool:
    return isinstance(call.op, GlobalVar) and call.op.name_hint == var.name_hint


# ---------------------------------------------------------------- bindings


def _without_bindings(reduction: Reduction) -> None:
    """Drop bindings, those of branches and local functions included."""
    for var in reduction.mod.relax_functions():
        mod = reduction.mod
        bound = [part.var for part in compounds(mod[var]) if isinstance(part, Binding)]
        reduction.drop(bound, partial(_binding_less, mod, var, bound))


def _binding_less(
    mod: IRModule, var: GlobalVar, bound: Sequence[Var], gone: Collection[int]
) -> IRModule:
    """The module in which a function binds fewer variables; who used them uses earlier ones."""
    dropped = {bound[place] for place in gone}
    instead = _earlier(mod[var], dropped)
    shorter = _filtered(_still_giving(mod[var], dropped, instead), dropped)
    return _with_function(mod, var, _replaced(shorter, instead))


def _filtered(function: Function, dropped: Collection[Var]) -> Function:
    """The function without the bindings of some variables, which may still be used."""

    def step(node: Node) -> Node | None:
        if isinstance(node, BindingBlock):
            kept = [binding for binding in node.bindings if binding.var not in dropped]
            return node.replace(bindings=kept)
        if isinstance(node, SeqExpr):
            return node.replace(blocks=[block for block in node.blocks if block.bindings])
        return None

    return rewrite_compounds(function, step)


def _earlier(function: Function, dropped: Collection[Var]) -> dict[Var, Var]:
    """For each variable that is dropped an earlier one of its StructInfo, where there is one."""
    instead: dict[Var, Var] = {}
    waiting: list[tuple[Expr, dict[str, Var]]] = [(function, {})]
    while waiting:
        expr, known = waiting.pop()
        known = dict(known)
        if isinstance(expr, Function):
            known |= {str(param.struct_info): param for param in expr.params}
            waiting.append((expr.body, known))
            continue
        for block in expr.blocks if isinstance(expr, SeqExpr) else ():
            for binding in block.bindings:
                info, value = str(binding.var.struct_info), binding.value
                if isinstance(value, If):
                    waiting += [
                        (value.true_branch, known.copy()),
                        (value.false_branch, known.copy()),
                    ]
                elif isinstance(value, Function):
                    waiting.append((value, known.copy()))
                if binding.var not in dropped:
                    known[info] = binding.var
                elif info in known and not isinstance(binding, MatchCast):
                    instead[binding.var] = known[info]
    return instead


def _replaced(function: Function, instead: dict[Var, Var]) -> Function:
    if not instead:
        return function
    made: Function = rewrite(function, lambda n: instead.get(n) if isinstance(n, Var) else None)
    return made


# ---------------------------------------------------------------- branches


def _with_one_branch(reduction: Reduction) -> None:
    """One branch in the place of an `if`, the innermost ones last."""
    for var in reduction.mod.relax_functions():
        place = 0
        while place < len(choices := list(_choices(reduction.mod[var]))):
            bound = choices[place]
            went = any(
                reduction.accept(partial(_with_branch, reduction.mod, var, bound, branch))
                for branch in (True, False)
            )
            place += not went


def _choices(function: Function) -> Iterator[Var]:
    for part in compounds(function):
        if isinstance(part, Binding) and isinstance(part.value, If):
            yield part.var


def _with_branch(mod: IRModule, name: GlobalVar, var: Var, branch: bool) -> IRModule:
    """The module with the bindings of a branch where the `if` was, by which `var` was bound."""

    def step(node: Node) -> Node | None:
        if not isinstance(node, SeqExpr):
            return None
        if not any(binding.var is var for block in node.blocks for binding in block.bindings):
            return None
        blocks: list[BindingBlock] = []
        for block in node.blocks:
            for binding in block.bindings:
                if binding.var is not var:
                    _write(blocks, type(block), [binding])
                    continue
                value = binding.value
                assert isinstance(value, If)
                chosen = value.true_branch if branch else value.false_branch
                assert isinstance(chosen, SeqExpr)
                for inner in chosen.blocks:
                    _write(blocks, type(inner), inner.bindings)
                _write(blocks, BindingBlock, [VarBinding(var, chosen.body)])
        return node.replace(blocks=blocks)

    return _with_function(mod, name, rewrite_compounds(mod[name], step))


def _write(
    blocks: list[BindingBlock], kind: type[BindingBlock], bindings: Sequence[Binding]
) -> None:
    """Write bindings into the last block, if it is of their kind, or into one of their own."""
    if blocks and type(blocks[-1]) is kind:
        blocks[-1] = blocks[-1].replace(bindings=[*blocks[-1].bindings, *bindings])
    else:
        blocks.append(kind(tuple(bindings)))


# ---------------------------------------------------------------- sizes and numbers


def _with_known_sizes(reduction: Reduction) -> None:
    """Numbers, or other shape variables, in the place of shape variables."""
    for number in (1, 2):
        if reduction.accept(partial(_with_all_sizes, reduction.mod, number)):
            return
    for var in reduction.mod.relax_functions():
        for size in defined_symbolic_vars(reduction.mod[var]):
            others = [v for v in defined_symbolic_vars(reduction.mod[var]) if v is not size]
            for value in (1, 2, 3, *others[:1]):
                if reduction.accept(partial(_with_size, reduction.mod, var, size, value)):
                    break


def _with_all_sizes(mod: IRModule, number: int) -> IRModule:
    made = mod.clone()
    for var, function in mod.relax_functions().items():
        sizes = dict.fromkeys(defined_symbolic_vars(function), number)
        made[var] = bind_symbolic_vars(function, sizes, mod)
    return made


def _with_size(mod: IRModule, var: GlobalVar, size: ShapeVar, value: Any) -> IRModule:
    return _with_function(mod, var, bind_symbolic_vars(mod[var], {size: value}, mod))


def _with_less_numbers(reduction: Reduction) -> None:
    """The numbers of the script smaller, each wherever it is."""
    numbers = sorted({int(n) for n in NUMBER.findall(reduction.mod.script())}, reverse=True)
    for number in numbers:
        smaller = [less for less in (1, 2, 3, number // 2) if 0 < less < number]
        any(reduction.accept(partial(_read, reduction.mod, number, less)) for less in smaller)


def _read(mod: IRModule, number: int, less: int) -> IRModule | None:
    text = NUMBER.sub(
        lambda found: str(less) if int(found[1]) == number else found[1],
        mod.script(show_meta=True),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)
        made = from_source(text)
    return made if isinstance(made, IRModule) else None


EDITS: tuple[Callable[[Reduction], None], ...] = (
    _without_functions, _without_dataflow, _without_attributes, _with_bodies_for_calls,
    _with_less_of_results, _with_one_branch, _without_bindings, _with_known_sizes,
    _without_parameters, _with_less_numbers,
)  # fmt: skip
