"""The explanation of a program: what its passes made of it, and what each kernel does.

Nothing of it is noted while a program is built. Who asks has the passes run once more. An
instrument keeps the module as it was at some places. Before operators become loops, these have
their names. Before loops are arranged, what is computed can be counted.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from relaxscript.analysis import OpPattern
from relaxscript.analysis.kernel_facts import KernelFacts, kernel_facts, reduced_axes
from relaxscript.arith import EvaluationError, evaluate, format_expr, simplify
from relaxscript.codegen.roof import measured_roof
from relaxscript.errors import Span
from relaxscript.ir import relax
from relaxscript.ir.instrument import PassInstrument
from relaxscript.ir.module import IRModule, Target
from relaxscript.ir.prim import INT64, PrimExpr, Var as PrimVar, cast, const
from relaxscript.ir.relax import (
    Attrs,
    Call,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    Op,
    ShapeExpr,
    Tuple,
    VarBinding,
)
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.ir.tir import Buffer, PrimFunc
from relaxscript.ir.walk import compounds, free_vars, substitute
from relaxscript.op import Trait, traits_of
from relaxscript.runtime.debug.explanation import Amount, Explanation, KernelRow, check_dims
from relaxscript.transform.default_schedule.apply_default_schedule import (
    SCHEDULE,
    ApplyDefaultSchedule,
)
from relaxscript.transform.pass_infra.context import PassContext, PassInfo

__all__ = ["Explainer"]

Sizes = Mapping[PrimVar, PrimExpr]

# The names of the moments at which a module is kept: before a pass, or after it.
_BEFORE = ("LegalizeOps", "FuseTIR", "ApplyDefaultSchedule", "CallTIRRewrite")
_AFTER = ("LegalizeOps", "ApplyDefaultSchedule")
# Operators that compute nothing of which a kernel could be made.
_NO_WORK = {Trait.AS_IS, Trait.ALLOCATES, Trait.VIEW, Trait.FREES, Trait.CAPTURES}

_PATTERNS = {
    OpPattern.ELEMWISE: "each element depends on those at its place",
    OpPattern.BROADCAST: "each element depends on one of each operand",
    OpPattern.INJECTIVE: "each element depends on a few of its operands",
    OpPattern.COMM_REDUCE: "reduction",
    OpPattern.OUT_ELEMWISE_FUSABLE: "reduction",
    OpPattern.OPAQUE: "it is not known on what its elements depend",
}


class Explainer:
    """Explains a program for a target, of which `lower` makes the lowered module.

    `context` is the one in which the program was built.
    """

    def __init__(self, target: Target, lower: Callable[[], IRModule], context: PassContext) -> None:
        self._target = target
        self._lower = lower
        self._context = context

    def __call__(self, func_name: str | None, dims: Mapping[str, object]) -> Explanation:
        """The explanation of what a function calls, or of all; raises `VMError` for wrong sizes."""
        program = self._program
        reached = None if func_name is None else program.reached_from(func_name)
        calls = [call for call in program.calls if reached is None or call.function in reached]
        names = {var.name: None for call in calls for var in call.variables()}
        sizes = check_dims(dims, [*names])
        rows = _joined_rows([_row(call, sizes) for call in calls])
        known = any(row.moved is not None and row.flops is not None for row in rows)
        roof = measured_roof() if known else None
        return Explanation(rows, str(self._target), sizes, roof, names)

    @cached_property
    def _program(self) -> _Program:
        stages = _Stages()
        context = copy.copy(self._context)
        context.instruments = (stages,)
        with context:
            lowered = self._lower()
        return _Program(lowered, stages.modules)


class _Stages(PassInstrument):
    """Keeps the module before and after some passes, each for the first time that it runs."""

    def __init__(self) -> None:
        self.modules: dict[str, IRModule] = {}

    def run_before_pass(self, mod: IRModule, info: PassInfo) -> None:
        if info.name in _BEFORE:
            self.modules.setdefault(f"before {info.name}", mod)

    def run_after_pass(self, mod: IRModule, info: PassInfo) -> None:
        if info.name in _AFTER:
            self.modules.setdefault(f"after {info.name}", mod)


class _KernelCall(NamedTuple):
    """A place in a Relax function that computes something, and what is known of that.

    `facts` are those of a kernel, in the shape variables of the function.
    """

    function: str
    name: str
    kind: str
    operators: tuple[str, ...]
    span: Span | None
    pattern: str
    schedule: str
    reason: str
    facts: tuple[PrimExpr | None, PrimExpr | None, PrimExpr | None]

    def variables(self) -> Iterator[PrimVar]:
        for e in self.facts:
            if e is not None:
                yield from (var for var in free_vars(e) if isinstance(var, PrimVar))


class _Kernel(NamedTuple):
    """The facts that all calls of a PrimFunc share."""

    facts: KernelFacts
    operators: tuple[str, ...]
    schedule: str
    reason: str


class _Program:
    """The calls of a program; `stages` has the module as it was at some places."""

    def __init__(self, lowered: IRModule, stages: Mapping[str, IRModule]) -> None:
        self.stages = stages
        self.module = stages.get("before CallTIRRewrite", lowered)
        self.plain = stages.get("before ApplyDefaultSchedule", self.module)
        self.scheduled = stages.get("after ApplyDefaultSchedule", self.module)
        self._operators = _operators_of(stages)
        self._kernels: dict[str, _Kernel] = {}
        self.calls = [*self._find_calls()]

    def reached_from(self, name: str) -> set[str]:
        """The Relax functions that a function calls or mentions, and itself."""
        reached, open_ = set[str](), [name]
        while open_:
            caller = open_.pop()
            reached.add(caller)
            function = _member(self.module, caller)
            if isinstance(function, Function):
                open_ += [g.name_hint for g in _mentioned(function) if g.name_hint not in reached]
        return reached

    def _find_calls(self) -> Iterator[_KernelCall]:
        for gvar, function in self.module.relax_functions().items():
            for node in compounds(function):
                if isinstance(node, VarBinding) and isinstance(node.value, Call):
                    call = self._call(gvar.name_hint, node.value, node)
                    if call is not None:
                        yield call
        if not self.module.relax_functions():
            for gvar, member in self.module.functions.items():
                if isinstance(member, PrimFunc):
                    yield self._kernel_call(gvar.name_hint, gvar, member.span, {})

    def _call(self, function: str, call: Call, binding: VarBinding) -> _KernelCall | None:
        span = call.span or binding.span
        callee: Expr = call.op
        traits = traits_of(callee)
        args: Sequence[Expr] = call.args
        results = _tensors_of(binding.var.struct_info)
        if Trait.CALLS_PRIM_FUNC in traits:
            callee, held, *rest = args
            args = held.fields if isinstance(held, Tuple) else (held,)
            if isinstance(callee, GlobalVar) and isinstance(self._function(callee), PrimFunc):
                sizes = _sizes_of(self._function(callee), args, results, rest)
                return self._kernel_call(function, callee, span, sizes)
        elif isinstance(callee, GlobalVar) and isinstance(self._function(callee), PrimFunc):
            sizes = _sizes_of(self._function(callee), args, results, ())
            return self._kernel_call(function, callee, span, sizes)
        traffic = _bytes_of(_tensors_in(args)), _bytes_of(results)
        kind, by = "packed function", "by Python"
        if Trait.CALLS_OUT in traits and args and isinstance(args[0], ExternFunc):
            name = args[0].global_symbol
        elif isinstance(callee, ExternFunc):
            name = callee.global_symbol
        elif isinstance(callee, Op) and not traits & _NO_WORK and not _is_of_machine(callee):
            name = callee.name.removeprefix("relax.")
            kind, by = "operator", "by numpy"
        else:
            return None
        return _KernelCall(function, name, kind, (name,), span, "", by, "", (*traffic, None))

    def _function(self, gvar: GlobalVar) -> Any:
        return _member(self.module, gvar.name_hint)

    def _kernel_call(
        self, function: str, gvar: GlobalVar, span: Span | None, sizes: Sizes
    ) -> _KernelCall:
        name = gvar.name_hint
        found = self._kernels.get(name)
        if found is None:
            found = self._kernels[name] = self._kernel(gvar)
        facts = found.facts
        own = tuple(
            simplify(substitute(e, _in_dtypes(sizes)))
            for e in (facts.bytes_read, facts.bytes_written, facts.flops)
        )
        return _KernelCall(
            function, name, "kernel", found.operators, span,
            facts.pattern.name.lower(), found.schedule, found.reason, own,  # type: ignore[arg-type]
        )  # fmt: skip

    def _kernel(self, gvar: GlobalVar) -> _Kernel:
        func = _member(self.plain, gvar.name_hint)
        arranged = _member(self.scheduled, gvar.name_hint)
        if not isinstance(func, PrimFunc):
            func = self._function(gvar)
        facts = kernel_facts(func)
        attrs = getattr(arranged, "attrs", None) or Attrs()
        rule = attrs.get(SCHEDULE)
        words = _pattern_words(func, facts.pattern)
        if rule is not None:
            return _Kernel(facts, self._names(gvar.name_hint), str(rule), words)
        if attrs.get("tir.is_scheduled"):
            why = "its loops are as the program arranged them"
        elif "after ApplyDefaultSchedule" not in self.stages:
            why = "no pass of this pipeline arranges loops"
        else:
            why = f"no rule fits: {_missing(func) or words}"
        return _Kernel(facts, self._names(gvar.name_hint), "plain", why)

    def _names(self, kernel: str) -> tuple[str, ...]:
        return self._operators.get(kernel, (kernel,))


def _member(module: IRModule, name: str) -> Any:
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
    return found


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


def _mentioned(function: Function) -> Iterator[GlobalVar]:
    for node in compounds(function):
        parts: Iterable[Any] = ()
        if isinstance(node, Call):
            parts = (node.op, *node.args)
        elif isinstance(node, VarBinding):
            parts = (node.value,)
        elif isinstance(node, Tuple):
            parts = node.fields
        yield from (part for part in parts if isinstance(part, GlobalVar))


def _is_of_machine(op: Op) -> bool:
    """True for what the machine does itself: shapes, checks, closures, memory."""
    return op.name.startswith(("relax.builtin.", "relax.vm.", "relax.memory.", "relax.inspect."))


# -- reasons ---------------------------------------------------------------------------------------


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


# -- sizes -----------------------------------------------------------------------------------------


def _sizes_of(
    func: PrimFunc, args: Sequence[Expr], results: Sequence[TensorStructInfo], rest: Sequence[Expr]
) -> dict[PrimVar, PrimExpr]:
    """The sizes of a call for the variables of a PrimFunc, as far as they are known."""
    sizes: dict[PrimVar, PrimExpr] = {}
    infos = iter([*_tensors_in(args), *results])
    scalars = iter([v for e in rest if isinstance(e, ShapeExpr) for v in e.values])
    for param in func.params:
        buffer: Buffer | None = func.buffer_map.get(param)
        info = None if buffer is None else next(infos, None)
        if buffer is None and (value := next(scalars, None)) is not None:
            sizes[param] = value
        elif buffer is not None and info is not None:
            pairs = zip(buffer.shape, info.dims or ())
            sizes |= {own: dim for own, dim in pairs if isinstance(own, PrimVar)}
    return sizes


def _in_dtypes(sizes: Sizes) -> dict[PrimVar, PrimExpr]:
    return {var: cast(size, var.dtype) for var, size in sizes.items()}


def _tensors_in(args: Iterable[Expr]) -> list[TensorStructInfo]:
    return [info for arg in args for info in _tensors_of(_struct_info(arg))]


def _struct_info(e: Expr) -> StructInfo | None:
    if isinstance(e, relax.Constant):
        shape = tuple([const(int(dim), INT64) for dim in e.data.shape])
        return TensorStructInfo(ShapeExpr(shape), e.data.dtype.name)
    if isinstance(e, Tuple):
        fields = [_struct_info(field) for field in e.fields]
        return TupleStructInfo.make(tuple([field for field in fields if field is not None]))
    return e.struct_info if isinstance(e, relax.Var) else None


def _tensors_of(info: StructInfo | None) -> list[TensorStructInfo]:
    match info:
        case TensorStructInfo():
            return [info]
        case TupleStructInfo(fields):
            return [tensor for field in fields for tensor in _tensors_of(field)]
    return []


def _bytes_of(infos: Iterable[TensorStructInfo]) -> PrimExpr | None:
    """The bytes of tensors; None where a shape or dtype is not known."""
    total: PrimExpr = const(0, INT64)
    for info in infos:
        if info.dims is None or info.dtype.is_void:
            return None
        size: PrimExpr = const(info.dtype.itemsize, INT64)
        for dim in info.dims:
            size = size * cast(dim, INT64)
        total = total + size
    return simplify(total)


# -- rows ------------------------------------------------------------------------------------------


def _row(call: _KernelCall, dims: Mapping[str, int]) -> KernelRow:
    read, written, flops = [None if e is None else _amount(e, dims) for e in call.facts]
    spans = () if call.span is None else call.span.spans
    return KernelRow(
        call.function, call.name, call.kind, 1, call.operators, spans, call.pattern,
        call.schedule, call.reason, read, written, flops,
    )  # fmt: skip


def _amount(e: PrimExpr, dims: Mapping[str, int]) -> Amount:
    variables = [var for var in free_vars(e) if isinstance(var, PrimVar)]
    values = {var: dims[var.name] for var in variables if var.name in dims}
    try:
        return Amount(format_expr(e), int(evaluate(e, values)))
    except EvaluationError:
        return Amount(format_expr(e), None)


def _joined_rows(rows: Iterable[KernelRow]) -> list[KernelRow]:
    """One row for all calls of a kernel in a function that are on values of the same sizes."""
    found: dict[Any, list[KernelRow]] = {}
    for row in rows:
        key = row.function, row.name, row.bytes_read, row.bytes_written, row.flops
        found.setdefault(key, []).append(row)
    return [_joined(same) for same in found.values()]


def _joined(rows: Sequence[KernelRow]) -> KernelRow:
    first = rows[0]
    if len(rows) == 1:
        return first
    spans = tuple(dict.fromkeys([span for row in rows for span in row.spans]))
    values = {name: getattr(first, name) for name in KernelRow.__dataclass_fields__}
    return KernelRow(**{**values, "calls": len(rows), "spans": spans})
