"""Kernels of a program: operators in them, their facts, and the rules that arranged their loops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from relaxscript.analysis import OpPattern
from relaxscript.analysis.kernel_facts import KernelFacts, kernel_facts, reduced_axes
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import IntImm, Var
from relaxscript.ir.relax import Attrs, Call, Function, GlobalVar, Op, VarBinding
from relaxscript.ir.stmt_functor import all_parts
from relaxscript.ir.tir import Block, BlockRealize, For, ForKind, PrimFunc
from relaxscript.ir.walk import compounds
from relaxscript.op import Trait, traits_of
from relaxscript.transform.default_schedule.apart import asks_for_addresses
from relaxscript.transform.default_schedule.apply_default_schedule import (
    SCHEDULE,
    ApplyDefaultSchedule,
)

__all__ = ["AFTER", "BEFORE", "ExplainedKernel", "ExplainedKernels", "member"]

# The passes before and after which the module is looked at.
BEFORE = (
    "LegalizeOps", "FuseTIR", "AttachAttrNoAlias", "ApplyDefaultSchedule", "OutlineNative",
    "CallTIRRewrite",
)  # fmt: skip
AFTER = ("LegalizeOps", "AttachAttrNoAlias", "ApplyDefaultSchedule")

_PATTERNS = {
    OpPattern.ELEMWISE: "each element depends on those at its place",
    OpPattern.BROADCAST: "each element depends on one of each operand",
    OpPattern.INJECTIVE: "each element depends on a few of its operands",
    OpPattern.COMM_REDUCE: "reduction",
    OpPattern.OUT_ELEMWISE_FUSABLE: "reduction",
    OpPattern.OPAQUE: "it is not known on what its elements depend",
}


class ExplainedKernel(NamedTuple):
    """The facts that all calls of a PrimFunc share."""

    facts: KernelFacts
    operators: tuple[str, ...]
    schedule: str
    reason: str


class ExplainedKernels:
    """The kernels of a module; `stages` has it as it was before and after some passes."""

    def __init__(self, module: IRModule, stages: Mapping[str, IRModule]) -> None:
        self.module = module
        self.stages = stages
        self.plain = stages.get("before ApplyDefaultSchedule", module)
        self.scheduled = stages.get("after ApplyDefaultSchedule", module)
        self._operators = _operators_of(stages)
        self._known: dict[str, ExplainedKernel] = {}

    def __getitem__(self, name: str) -> ExplainedKernel:
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = self._explain(name)
        return found

    def function(self, name: str) -> PrimFunc:
        """The PrimFunc before its loops were arranged."""
        before = member(self.plain, name)
        found: PrimFunc = before if isinstance(before, PrimFunc) else member(self.module, name)
        return found

    def _explain(self, name: str) -> ExplainedKernel:
        func, arranged = self.function(name), member(self.scheduled, name)
        facts = kernel_facts(func, self.module)
        attrs = getattr(arranged, "attrs", None) or Attrs()
        operators = self._operators.get(name, (name,))
        rule = attrs.get(SCHEDULE)
        words = _pattern_words(func, facts.pattern)
        if rule is not None:
            if isinstance(arranged, PrimFunc) and asks_for_addresses(arranged):
                words += "; as written where a result shares memory with another buffer"
            return ExplainedKernel(facts, operators, str(rule), words)
        if attrs.get("tir.is_scheduled"):
            why = "its loops are as the program arranged them"
        elif "after ApplyDefaultSchedule" not in self.stages:
            why = "no pass of this pipeline arranges loops"
        elif signs := _signs_of_a_schedule(func):
            why = f"its loops are as the program arranged them: {', '.join(signs)}"
        else:
            why = f"no rule fits: {_missing(func) or words}"
        return ExplainedKernel(facts, operators, "plain", why)


def _signs_of_a_schedule(func: PrimFunc) -> list[str]:
    """Words for what only who arranges loops writes, as far as a function has it."""
    found: set[str] = set()
    for part in all_parts(func):
        match part:
            case For(kind=kind, annotations=notes):
                found |= {words for known, words in _KINDS if known == kind}
                found |= {"annotations"} if notes else set()
            case Block(alloc_buffers=buffers, annotations=notes):
                scopes = {str(buffer.scope) for buffer in buffers} - {"global"}
                found |= {f"memory in `{scope}`" for scope in scopes}
                found |= {"annotations"} if notes else set()
            case BlockRealize(iter_values=values):
                plain = all(isinstance(value, (Var, IntImm)) for value in values)
                found |= set() if plain else {"tiles"}
    return sorted(found)


# The loops that only who arranges them writes.
_KINDS = (
    (ForKind.VECTORIZED, "vectors"), (ForKind.UNROLLED, "unrolled loops"),
    (ForKind.PARALLEL, "parallel loops"), (ForKind.THREAD_BINDING, "threads"),
)  # fmt: skip


def member(module: IRModule, name: str) -> Any:
    """The function of a name, None for nothing."""
    return module[name] if name in module else None  # noqa: SIM401


def _operators_of(stages: Mapping[str, IRModule]) -> dict[str, tuple[str, ...]]:
    """The operators in PrimFuncs by their names: what a call of each was, and what was fused."""
    named: dict[str, str] = {}
    before, after = stages.get("before LegalizeOps"), stages.get("after LegalizeOps")
    if before is not None and after is not None:
        called = {b.var: b.value.op.name for b in _bindings(before) if isinstance(b.value.op, Op)}
        for binding in _bindings(after):
            callee = _prim_func_of(binding.value)
            operator = called.get(binding.var)
            if callee is not None and operator is not None and operator != binding.value.op.name:
                named[callee] = operator.removeprefix("relax.")
    found: dict[str, tuple[str, ...]] = {name: (each,) for name, each in named.items()}
    for gvar, function in stages.get("before FuseTIR", IRModule()).relax_functions().items():
        if (function.attrs or Attrs()).get("Primitive"):
            parts = [_prim_func_of(b.value) for b in _bindings_in(function)]
            found[gvar.name_hint] = tuple([named.get(part, part) for part in parts if part])
    for name, old in _older_names(stages).items():
        found[name] = found.get(old, (old,))
    return found


def _older_names(stages: Mapping[str, IRModule]) -> dict[str, str]:
    """The PrimFuncs that only make a promise more than others, with the names of these."""
    before, after = (stages.get(f"{when} AttachAttrNoAlias") for when in ("before", "after"))
    if before is None or after is None:
        return {}
    called = {b.var: _prim_func_of(b.value) for b in _bindings(before)}
    pairs = [(_prim_func_of(b.value), called.get(b.var)) for b in _bindings(after)]
    return {new: old for new, old in pairs if new is not None and old is not None and new != old}


def _bindings(module: IRModule) -> Iterator[Any]:
    for function in module.relax_functions().values():
        yield from _bindings_in(function)


def _bindings_in(function: Function) -> Iterator[Any]:
    """The bindings of calls."""
    for node in compounds(function):
        if isinstance(node, VarBinding) and isinstance(node.value, Call):
            yield node


def _prim_func_of(call: Call) -> str | None:
    """The name of the PrimFunc that a `call_tir` or one like it calls."""
    if Trait.CALLS_PRIM_FUNC in traits_of(call.op) and isinstance(call.args[0], GlobalVar):
        return call.args[0].name_hint
    return None


def _pattern_words(func: PrimFunc, pattern: OpPattern) -> str:
    """The pattern of a function in words; of a reduction with its axes."""
    words = _PATTERNS.get(pattern, "")
    if words != "reduction":
        return words
    params = {buffer.name for buffer in func.buffer_map.values()}
    axes = [(name, axis) for name, axis in reduced_axes(func) if name in params]
    over = ", ".join(f"axis {axis} of `{name}`" for name, axis in axes)
    return f"reduction over {over}" if over else "each element depends on many"


def _missing(func: PrimFunc) -> str | None:
    """The attribute that a function lacks for a rule that would fit otherwise."""
    if (func.attrs or Attrs()).get("tir.noalias"):
        return None
    alone = func.with_attr("tir.noalias", True)
    made = ApplyDefaultSchedule()(IRModule({"alone": alone}))["alone"]
    rule = (made.attrs or Attrs()).get(SCHEDULE)
    if rule is not None:
        return f"its buffers may overlap; with `tir.noalias` it is for `{rule}`"
    return None
