"""Making a failing program small: what can go without the failure goes.

Every step is an edit after which the program is well-formed. Start reading at `reduce`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from relaxscript.analysis.well_formedness import well_formed
from relaxscript.errors import DiagnosticError, RelaxWarning
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import (
    Binding,
    Function,
    GlobalVar,
    MatchCast,
    SeqExpr,
    Tuple,
    Var,
)
from relaxscript.ir.walk import rewrite
from relaxscript.script import from_source
from relaxscript.transform import ToNonDataflow

__all__ = ["reduce"]

Check = Callable[[IRModule], object]
NUMBER = re.compile(r"(?<![\w.\"'])([1-9]\d*)(?![\w.\"'])")


def reduce(mod: IRModule, still_fails: Check) -> IRModule:
    """A smaller module for which `still_fails` is true, like for `mod`.

        small = reduce(mod, lambda m: bisect(pipeline, m, check) is not None)

    Functions, bindings, dataflow blocks and fields of results are dropped. The numbers of the
    script become smaller. This ends where nothing more can go. `still_fails` is asked of
    well-formed modules only. An exception that it raises is no failure. A binding that is used
    is replaced by an earlier value of the same StructInfo. Where n things can go, about n log n
    modules are tried.

    Raises `ValueError` where `still_fails` is not true for `mod` itself.
    """
    if not _asked(still_fails, mod):
        raise ValueError("`still_fails` is not true for the module itself")
    while True:
        smaller = mod
        for edit in _EDITS:
            smaller = edit(smaller, still_fails)
        if smaller is mod:
            return mod
        mod = smaller


def _asked(still_fails: Check, mod: IRModule) -> bool:
    try:
        return bool(still_fails(mod))
    except Exception:  # another failure than the one that is looked for
        return False


def _fails(still_fails: Check, mod: IRModule) -> bool:
    return well_formed(mod) and _asked(still_fails, mod)


def _drop(
    items: Sequence[Any], without: Callable[[frozenset[int]], IRModule | None], check: Check
) -> IRModule | None:
    """The module without as many of the items as can go, halves before quarters; None for none."""
    gone: frozenset[int] = frozenset()
    made = None
    size = len(items)
    while size:
        for start in range(0, len(items), size):
            more = gone | frozenset(range(start, min(start + size, len(items))))
            if more == gone:
                continue
            candidate = without(more)
            if candidate is not None and _fails(check, candidate):
                gone, made = more, candidate
        size //= 2
    return made


def _without_functions(mod: IRModule, check: Check) -> IRModule:
    names = list(mod.functions)

    def without(gone: frozenset[int]) -> IRModule:
        made = mod.clone()
        for place in gone:
            del made[names[place]]
        return made

    return _drop(names, without, check) or mod


def _without_dataflow(mod: IRModule, check: Check) -> IRModule:
    """The module with ordinary bindings only: those of dataflow blocks cannot be used outside."""
    made = ToNonDataflow()(mod)
    return made if made is not mod and _fails(check, made) else mod


def _without_bindings(mod: IRModule, check: Check) -> IRModule:
    for var in list(mod.relax_functions()):
        mod = _with_fewer_bindings(mod, var, check)
    return mod


def _with_fewer_bindings(mod: IRModule, var: GlobalVar, check: Check) -> IRModule:
    bindings = list(_bindings(mod[var]))

    def without(gone: frozenset[int]) -> IRModule:
        made = mod.clone()
        made[var] = _function_without(mod[var], [bindings[place] for place in gone])
        return made

    return _drop(bindings, without, check) or mod


def _bindings(function: Function) -> Iterator[Binding]:
    """The bindings of the function itself, not of branches and functions in it."""
    if isinstance(function.body, SeqExpr):
        for block in function.body.blocks:
            yield from block.bindings


def _function_without(function: Function, gone: Sequence[Binding]) -> Function:
    """The function without some bindings; who used one uses an earlier value of its StructInfo."""
    dropped = {id(binding) for binding in gone}
    instead: dict[Var, Var] = {}
    known = {str(param.struct_info): param for param in function.params}
    for binding in _bindings(function):
        info = str(binding.var.struct_info)
        if id(binding) not in dropped:
            known[info] = binding.var
        elif info in known and not isinstance(binding, MatchCast):
            instead[binding.var] = known[info]

    body = function.body
    assert isinstance(body, SeqExpr)
    blocks = []
    for block in body.blocks:
        kept = [binding for binding in block.bindings if id(binding) not in dropped]
        if kept:
            blocks.append(block.replace(bindings=kept))
    shorter = function.replace(body=body.replace(blocks=blocks))
    made: Function = rewrite(shorter, lambda n: instead.get(n) if isinstance(n, Var) else None)
    return made


def _with_one_result(mod: IRModule, check: Check) -> IRModule:
    for var, function in mod.relax_functions().items():
        body = function.body
        if isinstance(body, SeqExpr) and isinstance(body.body, Tuple) and body.body.fields:
            for field in body.body.fields:
                made = mod.clone()
                shorter = body.replace(body=field)
                made[var] = function.replace(body=shorter, ret_struct_info=field.struct_info)
                if _fails(check, made):
                    return made
    return mod


def _with_less_numbers(mod: IRModule, check: Check) -> IRModule:
    """The module that its script says with smaller numbers, each wherever it is."""
    for number in sorted({int(n) for n in NUMBER.findall(mod.script())}, reverse=True):
        for less in (1, 2, 3, number // 2):
            if 0 < less < number and (made := _read(mod, number, less)) and _fails(check, made):
                mod = made
                break
    return mod


def _read(mod: IRModule, number: int, less: int) -> IRModule | None:
    text = NUMBER.sub(
        lambda found: str(less) if int(found[1]) == number else found[1],
        mod.script(show_meta=True),
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RelaxWarning)
            made = from_source(text)
    except DiagnosticError:
        return None  # other numbers depend on this one
    return made if isinstance(made, IRModule) else None


_EDITS = (
    _without_functions, _without_dataflow, _with_one_result, _without_bindings, _with_less_numbers,
)  # fmt: skip
