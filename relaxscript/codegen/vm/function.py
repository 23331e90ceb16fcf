"""One Relax function as bytecode.

Each variable lives in a register, or stands for an argument that needs none (a constant that is
only read, a function). Expressions are compiled to the argument that holds their value
(`value`); calls are in `calls.py`. Shape variables are in the shape heap of the call.

Operands need not be in normal form, but variables must be typed. Start at `emit_function`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from relaxscript.analysis.weight_names import names_by_parameter
from relaxscript.errors import Diagnostic, DiagnosticError, InternalError, Span
from relaxscript.errors.exceptions import is_user_error
from relaxscript.ir import prim, relax, tir
from relaxscript.ir.struct_info import (
    ObjectStructInfo,
    StructInfo,
    TupleStructInfo,
)
from relaxscript.op import Trait, traits_of
from relaxscript.runtime import (
    Arg,
    Check,
    DimConst,
    Shape,
)
from relaxscript.runtime.builtins import MATCH_ARGUMENTS, MATCH_RESULT
from relaxscript.runtime.bytecode import ArgKind, SpecialReg
from relaxscript.runtime.values import make_prim
from relaxscript.semantics.check_calls import check_of
from relaxscript.semantics.checks import Checks
from relaxscript.semantics.error_context import (
    span_of_binding,
    span_of_body,
    span_of_parameter,
    span_of_result,
    span_of_signature,
)
from relaxscript.semantics.make_closure import captured_count
from relaxscript.sinfo import (
    definable_shape_vars,
    erase_to_well_defined,
    free_shape_vars,
)
from relaxscript.transform.lower.remove_unused_checks import (
    shape_vars_computed_with,
    trusts_struct_info,
)
from relaxscript.transform.memory.liveness import may_hold_memory

from .program import Program
from .registers import Registers, VariableRanges, last_uses
from .scalars import compile_arithmetic

__all__ = ["FunctionEmitter"]

__tracebackhide__ = is_user_error

_OBJECT = ObjectStructInfo()
_WITHOUT_MEMORY = frozenset({"vm.builtin.make_prim_value", "vm.builtin.make_shape"})


class FunctionEmitter(ABC):
    """Emits one function; subclassed in `calls.py` for what calls do."""

    def __init__(self, program: Program, name: str, function: relax.Function) -> None:
        self.program = program
        self.ib = program.builder
        self.name = name
        self.function = function
        self.env: dict[relax.Var, Arg] = {}
        self.bound: set[prim.Var] = set()
        self.trusts = trusts_struct_info(function)
        needed = shape_vars_computed_with(function) if self.trusts else None
        self.checks = Checks(compile_arithmetic, needed)
        self.span: Span | None = function.span
        self.registers = Registers()
        self.ranges = VariableRanges()
        self.usage = program.usage(function)
        self.fresh: set[relax.Var] = set()  # variables that hold memory that was just allocated
        self.unused = False  # whether nothing asks for what the binding at hand binds
        self.shows_all = function.span is None  # else what is nowhere in the source is hidden
        self.killed: dict[relax.Var, list[int]] = {}  # registers that variables held until then
        self.full: set[int] = set()  # registers with values that may have memory

    # -- functions ---------------------------------------------------------------------------------

    def emit(self) -> None:
        """The whole function."""
        function, params = self.function, self.function.params
        for param in params:
            self.env[param] = self.register()
            self.registers.own(self.env[param].value)
        self.registers.pin(range(len(params)))
        names = [v.name_hint for v in params]
        for v in self._own_shape_vars():
            self.checks.slot(v)
        checks = self._param_checks()
        result = self._return_check()
        weights, inputs = names_by_parameter(function)
        with self.ib.function(
            self.name, len(params), names, param_checks=checks, return_check=result,
            heap_size=len(self.checks.slots), public=not function.is_private, pure=function.is_pure,
            info=self.program.context.struct_info(function), span=span_of_signature(function),
            param_spans=[span_of_parameter(param) for param in function.params],
            shape_vars=[v.name for v in sorted(self.checks.slots, key=self.checks.slot)],
            weights=weights, inputs=inputs,
        ):  # fmt: skip
            value = self.value(function.body)
            self.span = span_of_result(function)
            self.ib.emit_ret(self.in_register(value), span=self.span)
            for place in self.ranges.all:
                stop = self.ib.position if place.stop is None else place.stop
                self.ib.variable(place.name, place.arg, place.start, stop)

    def _own_shape_vars(self) -> list[prim.Var]:
        infos = [param.struct_info or _OBJECT for param in self.function.params]
        found = [v for info in infos for v in definable_shape_vars(info)]
        if self.function.ret_struct_info is not None:
            found += definable_shape_vars(self.function.ret_struct_info)
        return [*found, *self.usage.matched]

    def _param_checks(self) -> tuple[Check, ...]:
        """The checks of a signature."""
        wanted = self._check_info(MATCH_ARGUMENTS, 0)
        infos = wanted.fields if isinstance(wanted, TupleStructInfo) else ()
        captured = captured_count(self.function)
        return self.checks.of_arguments(infos, captured, self.bound, self.register_of)

    def _check_info(self, name: str, index: int) -> StructInfo | None:
        """The demand of the check of that name, which is the first or the last binding."""
        body = self.function.body
        blocks = body.blocks if isinstance(body, relax.SeqExpr) else ()
        bindings = blocks[index].bindings if blocks else ()
        found = check_of(bindings[index].value) if bindings else None
        return found[2] if found is not None and found[0] == name else None

    def _return_check(self) -> Check | None:
        """The check of the result, None where it is known to succeed."""
        declared = self._check_info(MATCH_RESULT, -1)
        if declared is None:
            return None
        (check,) = self.checks.of([declared], set(self.bound), self.register_of)
        return check

    # -- registers ---------------------------------------------------------------------------------

    def register(self) -> Arg:
        """A new register."""
        number = self.registers.take()
        self.ranges.end_all(number, self.ib.position)
        return self.ib.r(number)

    def register_of(self, var: relax.Var) -> int:
        """The register that holds a variable."""
        arg = self.lookup(var)
        if arg.kind is not ArgKind.REGISTER:
            arg = self.env[var] = self.in_register(arg)
            self.registers.pin([arg.value])
        return arg.value

    def in_register(self, arg: Arg) -> Arg:
        """The argument in a register, where an instruction takes nothing else."""
        if _is_register(arg):
            return arg
        return self.call("vm.builtin.copy", [arg])

    def call(
        self, name: str, args: Sequence[Any], result: Check | None = None,
        operands: Sequence[str | None] = (),
    ) -> Arg:  # fmt: skip
        """Emit a call; the register that holds its result."""
        dst = self.register()
        self.ib.emit_call(name, args, dst, result=result, operands=operands, span=self.span)
        if name not in _WITHOUT_MEMORY:
            self.full.add(dst.value)
        return dst

    def enter(
        self, name: str, args: Sequence[Arg], known: Sequence[StructInfo],
        function: relax.Function,
    ) -> Arg:  # fmt: skip
        """Emit a call of a function of the program, which checks what is not `known` to fit."""
        dst, proved = self.register(), tuple[int, ...]()
        fits = len(function.params) == len(known)
        if fits and (trusts_struct_info(function) or not self.trusts):
            order, provable = self.program.provable_arguments(function)
            found = provable.of([known[i] for i in order], self.bound, self.program.context.facts)
            proved = tuple(sorted([order[i] for i in found]))
        self.ib.emit_call(name, args, dst, proved=proved, span=self.span)
        self.full.add(dst.value)
        return dst

    def lookup(self, var: relax.Var) -> Arg:
        """The argument with the value of a variable; `DiagnosticError` (RX0101) without one."""
        found = self.env.get(var)
        if found is None:
            message = f"the variable `{var.name_hint}` is not defined here"
            raise DiagnosticError(Diagnostic("RX0101", message, var.span or self.span))
        return found

    # -- expressions -------------------------------------------------------------------------------

    def value(self, expr: relax.Expr, read_only: bool = False) -> Arg:
        """The argument that holds the value of an expression.

        `read_only` says that the value is only read, so that a constant need not be new.
        """
        match expr:
            case relax.Var():
                return self.lookup(expr)
            case relax.Constant():
                constant: Arg = self.program.constant(expr)
                return constant if read_only else self.call("vm.builtin.constant", [constant])
            case relax.Tuple(fields):
                return self.call(
                    "vm.builtin.make_tuple", [self.value(f, read_only) for f in fields]
                )
            case relax.TupleGetItem(tuple_value, index):
                value = self.value(tuple_value, read_only)
                return self.call("vm.builtin.tuple_getitem", [value, self.ib.imm(index)])
            case relax.PrimValue(value=scalar):
                return self.scalar(scalar)
            case relax.ShapeExpr(values):
                return self.shape(values)
            case relax.StringImm(text) | relax.DataTypeImm(text):
                return self.ib.convert_constant(text)
        return self._larger_value(expr)

    def _larger_value(self, expr: relax.Expr) -> Arg:
        match expr:
            case relax.GlobalVar():
                return self.global_value(expr)
            case relax.ExternFunc(symbol):
                return self.extern_value(symbol)
            case relax.Call():
                return self.call_value(expr)
            case relax.If():
                return self.conditional(expr)
            case relax.SeqExpr():
                return self.sequence(expr)
        raise InternalError(f"no bytecode is known for {type(expr).__name__}")

    @abstractmethod
    def call_value(self, call: relax.Call) -> Arg: ...

    def global_value(self, var: relax.GlobalVar) -> Arg:
        found = self.program.function(var)
        match found:
            case relax.Function():
                return self.ib.f(self.program.name_of(var))
            case relax.ExternFunc(symbol):
                return self.extern_value(symbol)
            case tir.PrimFunc():
                return self.ib.f(self.program.prim_func_value(var))
        message = f"the module has no function `{var.name_hint}`"
        raise DiagnosticError(Diagnostic("RX0101", message, var.span or self.span))

    def extern_value(self, symbol: str) -> Arg:
        """A packed function as a value, looked up here (spec, Evaluating Expressions, 11)."""
        resolver = self.program.resolved(symbol)
        if resolver is not None:
            return self.call(resolver, [symbol])
        return self.call("vm.builtin.copy", [self.ib.f(self.program.extern(symbol))])

    def scalar(self, e: prim.PrimExpr) -> Arg:
        """A scalar."""
        match e:
            case prim.IntImm(value=value) if e.dtype == "int64":
                return self.ib.imm(value)
            case prim.IntImm(value=value) | prim.FloatImm(value=value):
                return self.ib.convert_constant(make_prim(value, e.dtype))
        dim = self.checks.dim(e, self.bound)
        args = [self.ib.vm_state(), self.ib.convert_constant(dim), str(e.dtype)]
        return self.call("vm.builtin.make_prim_value", args)

    def shape(self, values: Sequence[prim.PrimExpr]) -> Arg:
        """A shape value."""
        dims = tuple(self.checks.dim(e, self.bound) for e in values)
        if all(isinstance(dim, DimConst) and dim.value >= 0 for dim in dims):
            return self.ib.convert_constant(Shape(int(dim.value) for dim in dims))  # type: ignore[union-attr]
        args = [self.ib.vm_state(), self.ib.convert_constant(dims)]
        return self.call("vm.builtin.make_shape", args)

    # -- control -----------------------------------------------------------------------------------

    def conditional(self, expr: relax.If) -> Arg:
        """Both branches leave their value in the same register."""
        outer = self.span
        condition = self.in_register(self.value(expr.cond, read_only=True))
        result = self.register()
        test = self.ib.position
        self.ib.emit_if(condition, 0, span=expr.cond_span or expr.span or outer)
        context = self.program.context
        with context.branch(expr.cond, True):
            self._branch(expr.true_branch, result)
        self.span = outer
        end = self.ib.position
        self.ib.emit_goto(0, span=outer)
        self.ib.patch(test, self.ib.position - test)
        with context.branch(expr.cond, False):
            self._branch(expr.false_branch, result)
        self.span = outer
        self.ib.patch(end, self.ib.position - end)
        return result

    def _branch(self, expr: relax.Expr, result: Arg) -> None:
        killed = len(self.killed)
        value = self.value(expr)
        self.ib.emit_call("vm.builtin.copy", [value], result, span=self.span)
        self.full.add(result.value)
        while len(self.killed) > killed:  # the other branch still has them
            _, numbers = self.killed.popitem()
            for number in numbers:
                self.registers.own(number)
                self.full.add(number)

    def sequence(self, seq: relax.SeqExpr) -> Arg:
        """The bindings in their order; shape variables bound inside go out of scope at the end."""
        outer = set(self.bound)
        dying = iter(last_uses(seq))
        owned: dict[relax.Var, int] = {}
        seen = []
        for block in seq.blocks:
            for binding in block.bindings:
                self.span = span_of_binding(binding) or self.span
                before, ending = self.registers.begin(), next(dying)
                self.unused = binding.var in ending
                self.binding(binding)
                self._own(binding.var, owned)
                if self.shows_all or binding.var.span is not None:
                    name, place = binding.var.name_hint, self.env[binding.var]
                    seen.append(self.ranges.begin(name, place, self.ib.position))
                dead = {var: owned.pop(var) for var in ending if var in owned}
                self._disown(dead)
                self._clear_free(self.registers.finish(before, dead.values()))
        self.span = span_of_body(seq) or self.span
        value = self.value(seq.body)
        self._disown(owned)
        if seq is not self.function.body:
            for variable in seen:
                self.ranges.end(variable, self.ib.position + 1)
        self.bound = outer
        return value

    def _disown(self, owned: Mapping[relax.Var, int]) -> None:
        for var, number in owned.items():
            if self.killed.pop(var, None) is None:
                self.registers.disown(number)

    def _clear_free(self, numbers: Iterable[int]) -> None:
        """In a function that gives values back, free registers do not hold on to any."""
        for number in numbers:
            if self.usage.gives_back and number in self.full:
                self._clear(number)

    def _clear(self, number: int) -> None:
        self.full.discard(number)
        self.ranges.end_all(number, self.ib.position)
        self.ib.emit_call("vm.builtin.null_value", [], self.ib.r(number), span=self.span)

    def kill(self, var: relax.Var) -> None:
        """Let go of the value of a variable, unless another variable has it as well."""
        arg = self.lookup(var)
        if var in self.killed:
            return
        held = [arg.value] if _is_register(arg) else []
        self.killed[var] = held
        for number in held:
            if self.registers.disown(number):
                self._clear(number)

    def _own(self, var: relax.Var, owned: dict[relax.Var, int]) -> None:
        arg = self.env[var]
        if _is_register(arg):
            owned[var] = arg.value
            self.registers.own(arg.value)
            if not may_hold_memory(var.struct_info):
                self.full.discard(arg.value)

    def binding(self, binding: relax.Binding) -> None:
        var, value = binding.var, binding.value
        only_read = isinstance(value, relax.Constant) and var not in self.usage.escaping
        self.env[var] = self.value(value, only_read)
        if _is_fresh(value, self.fresh):
            self.fresh.add(var)

    def in_scope(self, info: StructInfo) -> StructInfo:
        """`info` without what refers to shape variables that have no value here."""
        if all(v in self.bound for v in free_shape_vars(info)):
            return info
        visible = self.bound
        return erase_to_well_defined(info, lambda v: True, lambda v: v in visible)

    def check_value(self, arg: Arg, info: StructInfo, where: str) -> Arg:
        """A check of a value, which binds shape variables."""
        held: list[Arg] = []

        def place(var: relax.Var) -> int:
            held.append(self.lookup(var))
            return len(held) - 1

        needed, fresh = self.checks.needed, set(definable_shape_vars(info)) - self.bound
        (check,) = self.checks.of([info], self.bound, place)
        if needed is not None and not fresh & needed:
            return arg
        args = [self.ib.vm_state(), arg, self.ib.convert_constant(check), where, *held]
        return self.call("vm.builtin.match_cast", args)


def _is_register(arg: Arg) -> bool:
    """True if an argument is a register that holds a value."""
    return arg.kind is ArgKind.REGISTER and arg.value != SpecialReg.VOID_ARG


def _is_fresh(value: relax.Expr, fresh: Container[relax.Expr]) -> bool:
    """True for memory that was just allocated, or that is moved to where it is wanted."""
    match value:
        case relax.Call(
            op=relax.ExternFunc("vm.builtin.to_device"), args=(relax.Var() as moved, _)
        ):
            return moved in fresh
        case relax.Call(op=relax.ExternFunc("vm.builtin.alloc_tensor")):
            return True
        case relax.Call(op=relax.Op() as op):
            return bool(traits_of(op) & {Trait.ALLOCATES, Trait.IN_STORAGE})
    return False
