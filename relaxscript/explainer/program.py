"""Calls of a program: the places that compute something, and what is known of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from relaxscript.arith import simplify
from relaxscript.errors import Span
from relaxscript.ir import prim
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import PrimExpr, Var as PrimVar
from relaxscript.ir.relax import (
    Attrs,
    Call,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    Op,
    Tuple,
    VarBinding,
)
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.tir import PrimFunc
from relaxscript.ir.walk import compounds, free_vars, substitute, walk
from relaxscript.op import Trait, traits_of

from .kernels import ExplainedKernels, member
from .sizes import Sizes, bytes_of, sizes_of, tensors_in, tensors_of, value_of

__all__ = ["KernelCall", "ProgramCalls"]

# Operators that compute nothing of which a kernel could be made.
_NO_WORK = {Trait.AS_IS, Trait.ALLOCATES, Trait.VIEW, Trait.FREES, Trait.CAPTURES}


class CallAmounts(NamedTuple):
    """The bytes and operations of a call; None for what is not known."""

    read: int | None = None
    written: int | None = None
    flops: int | None = None
    itemsize: int = 4


class KernelCall(NamedTuple):
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
    itemsize: int = 4

    def variables(self) -> Iterator[PrimVar]:
        for e in self.facts:
            if e is not None:
                yield from (var for var in free_vars(e) if isinstance(var, PrimVar))

    def amounts(self, dims: Mapping[str, int]) -> CallAmounts:
        """The facts for sizes of shape variables, by their names."""
        values = {var: dims[var.name] for var in self.variables() if var.name in dims}
        read, written, flops = [None if e is None else value_of(e, values) for e in self.facts]
        return CallAmounts(read, written, flops, self.itemsize)


class ProgramCalls:
    """The calls of a program, of which `stages` has the module before and after some passes."""

    def __init__(self, lowered: IRModule, stages: Mapping[str, IRModule]) -> None:
        # Where each kernel is called by itself, and results are not allocated yet.
        called = stages.get("before CallTIRRewrite", lowered)
        self.module = stages.get("before OutlineNative", called)
        self._kernels = ExplainedKernels(self.module, stages)
        functions = [f for f in lowered.functions.values() if isinstance(f, PrimFunc)]
        self.has_inner_calls = any(
            isinstance(node, prim.Call) and isinstance(node.op, GlobalVar)
            for function in functions
            for node in walk(function.body)
        )
        self.calls = [*self._find_calls()]

    def reached_from(self, name: str) -> set[str]:
        """The Relax functions that a function calls or mentions, and itself."""
        reached, open_ = set[str](), [name]
        while open_:
            caller = open_.pop()
            reached.add(caller)
            function = member(self.module, caller)
            if isinstance(function, Function):
                open_ += [g.name_hint for g in _mentioned(function) if g.name_hint not in reached]
        return reached

    # ------------------------------------------------------------ calls that were made

    def dims_of(self, func_name: str, args: Sequence[Any]) -> dict[str, int]:
        """The sizes of a function's shape variables in a call with these arguments."""
        function = member(self.module, func_name)
        sizes: dict[str, int] = {}
        params = function.params if isinstance(function, Function) else ()
        for param, arg in zip(params, args):
            info, shape = param.struct_info, getattr(arg, "shape", ())
            if isinstance(info, TensorStructInfo) and len(shape) == len(info.dims or ()):
                pairs = zip(info.dims or (), shape)
                sizes |= {dim.name: int(n) for dim, n in pairs if isinstance(dim, PrimVar)}
        return sizes

    def amounts_at(self, name: str, span: Span | None, dims: Mapping[str, int]) -> CallAmounts:
        """The bytes that are read and written, and the operations, of the kernel of a place."""
        for call in self.calls:
            if call.name == name and (span is None or call.span == span):
                return call.amounts(dims)
        return CallAmounts()

    def amounts_for(self, external: str, args: Sequence[Any]) -> CallAmounts:
        """The same of a function of the executable, for a call with these arguments.

        Each is the shape of an array, a number, or None.
        """
        name = self._kernel_named(external)
        if name is None:
            return CallAmounts()
        shapes = iter([arg for arg in args if type(arg) is tuple])
        numbers = iter([arg for arg in args if type(arg) is int])
        values: dict[Any, int] = {}
        func = self._kernels.function(name)
        for param in func.params:
            buffer = func.buffer_map.get(param)
            if buffer is None:
                values[param] = next(numbers, 0)
            else:
                pairs = zip(buffer.shape, next(shapes, ()))
                values |= {own: n for own, n in pairs if isinstance(own, PrimVar)}
        facts = self._kernels[name].facts
        read, written, flops = [value_of(e, values) for e in facts.amounts]
        return CallAmounts(read, written, flops, facts.itemsize)

    def _kernel_named(self, external: str) -> str | None:
        """The PrimFunc that a function of the executable runs, None for any other function."""
        name = external.removesuffix(".arranged").removesuffix(".function")
        if isinstance(member(self.module, name), PrimFunc):
            return name
        for gvar, function in self.module.functions.items():
            attrs = function.attrs if isinstance(function, PrimFunc) else None
            if (attrs or Attrs()).get("global_symbol") == name:
                return gvar.name_hint
        return None

    # ------------------------------------------------------------ calls in the program

    def _find_calls(self) -> Iterator[KernelCall]:
        for gvar, function in self.module.relax_functions().items():
            for node in compounds(function):
                if isinstance(node, VarBinding) and isinstance(node.value, Call):
                    call = self._call(gvar.name_hint, node.value, node)
                    if call is not None:
                        yield call
        if not self.module.relax_functions():
            for gvar, found in self.module.functions.items():
                if isinstance(found, PrimFunc):
                    yield self._kernel_call(gvar.name_hint, gvar, found.span, {})

    def _call(self, function: str, call: Call, binding: VarBinding) -> KernelCall | None:
        span = call.span or binding.span
        callee: Expr = call.op
        traits = traits_of(callee)
        args: Sequence[Expr] = call.args
        rest: Sequence[Expr] = ()
        results = tensors_of(binding.var.struct_info)
        if Trait.CALLS_PRIM_FUNC in traits:
            callee, held, *rest = args
            args = held.fields if isinstance(held, Tuple) else (held,)
        prim_func = self._prim_func(callee)
        if prim_func is not None:
            sizes = sizes_of(prim_func, args, results, rest)
            return self._kernel_call(function, callee, span, sizes)
        traffic = bytes_of(tensors_in(args)), bytes_of(results)
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
        return KernelCall(function, name, kind, (name,), span, "", by, "", (*traffic, None))

    def _prim_func(self, callee: Expr) -> PrimFunc | None:
        found = member(self.module, callee.name_hint) if isinstance(callee, GlobalVar) else None
        return found if isinstance(found, PrimFunc) else None

    def _kernel_call(
        self, function: str, gvar: Expr, span: Span | None, sizes: Sizes
    ) -> KernelCall:
        assert isinstance(gvar, GlobalVar)
        found = self._kernels[gvar.name_hint]
        facts = found.facts
        read, written, flops = [simplify(substitute(e, sizes)) for e in facts.amounts]
        return KernelCall(
            function, gvar.name_hint, "kernel", found.operators, span,
            facts.pattern.name.lower(), found.schedule, found.reason, (read, written, flops),
            facts.itemsize,
        )  # fmt: skip


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
