"""The forms of calls in bytecode: operators, kernels, packed functions, closures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from relaxscript.analysis import Context
from relaxscript.errors import UnplacedError
from relaxscript.ir import relax, tir
from relaxscript.ir.prim import FloatImm, IntImm
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.op import DeferredCheck, lookup, vm
from relaxscript.op.base import (
    compute_prim_value,
    null_value,
)
from relaxscript.op.calls import call_builtin_with_ctx
from relaxscript.op.inplace import call_inplace_packed, call_tir_inplace
from relaxscript.op.results import inplace_indices
from relaxscript.runtime import Arg, Check, TupleCheck
from relaxscript.runtime.builtins import BUILTINS, INVOKE_CLOSURE, MATCH_CAST
from relaxscript.semantics.check_calls import check_of
from relaxscript.semantics.error_context import name_of_call

from .function import FunctionEmitter
from .program import Program

__all__ = ["CallEmitter"]

_UNIT = TupleCheck(())


class CallEmitter(FunctionEmitter):
    """Emits functions with all forms of calls."""

    def __init__(self, program: Program, name: str, function: relax.Function) -> None:
        super().__init__(program, name, function)
        self._forms: dict[str, Callable[[relax.Call], Arg]] = {
            call_builtin_with_ctx.name: self._call_builtin_with_ctx,
            call_inplace_packed.name: self._call_inplace_packed,
            call_tir_inplace.name: self._call_tir_inplace,
            compute_prim_value.name: self._compute_prim_value,
            null_value.name: lambda call: self.ib.void_arg(),
            vm.alloc_storage.name: self._alloc_storage,
            vm.alloc_tensor.name: self._tensor_in_storage,
            vm.kill_object.name: self._kill,
        }

    def call_value(self, call: relax.Call) -> Arg:
        outer, self.span = self.span, call.span or self.span
        match call.op:
            case relax.Op(name) if name in self._forms:
                result = self._forms[name](call)
            case relax.Op():
                result = self._call_operator(call)
            case _:
                result = self._apply(call.op, call.args, call)
        self.span = outer
        return result

    def _call_operator(self, call: relax.Call) -> Arg:
        args = [self.value(arg, read_only=True) for arg in call.args]
        checked = _needs_check(call, self.program.context)
        # What operands are called is in the source. A call that is nowhere in it says so here: its
        # failures are shown at the place of something before it, which has operands of its own.
        words = [getattr(arg, "name_hint", None) for arg in call.args] if call.span is None else ()
        return self.call(self.program.operator(call, checked), args, operands=words)

    def _kill(self, call: relax.Call) -> Arg:
        (arg,) = call.args
        if isinstance(arg, relax.Var):
            self.kill(arg)
        return self.ib.convert_constant(())

    # -- calls of functions ------------------------------------------------------------------------

    def _apply(self, callee: relax.Expr, args: Sequence[relax.Expr], call: relax.Call) -> Arg:
        """Call a function of the module, a packed function, or whatever the callee evaluates to."""
        module = self.program.module
        match callee:
            case relax.GlobalVar() if callee in module:
                found = module[callee]
                if isinstance(found, relax.ExternFunc):
                    return self._apply(found, args, call)
                if isinstance(found, tir.PrimFunc):
                    return self._call_prim_func(callee, found, args)
                known = [self._info(arg) for arg in args]
                return self.enter(self.program.name_of(callee), self._values(args), known, found)
            case relax.ExternFunc(symbol) if symbol == INVOKE_CLOSURE and args:
                return self._apply(args[0], args[1:], call)
            case relax.ExternFunc(symbol):
                return self._call_external(self.program.extern(symbol, args), [], args, call)
        return self._call_external(INVOKE_CLOSURE, [self.value(callee)], args, call)

    def _call_external(
        self, name: str, function: list[Arg], args: Sequence[relax.Expr], call: relax.Call
    ) -> Arg:
        """Call a function from outside of the module."""
        values = [*function, *self._values(args)]
        trusted = _is_builtin(call.op)
        if trusted and _is_unit(self._info(call)):  # that is what it gives
            self.ib.emit_call(name, values, self.ib.void_arg(), span=self.span)
            return self.ib.convert_constant(())
        if self.unused and args and args[-1] in self.fresh:  # it is to write there
            self.ib.emit_call(name, values, self.ib.void_arg(), span=self.span)
            return self.ib.void_arg()
        return self.call(name, values, None if trusted else self._result(call))

    def _call_prim_func(
        self, callee: relax.GlobalVar, function: tir.PrimFunc, args: Sequence[relax.Expr]
    ) -> Arg:
        """A direct call: of the kernel itself, where it takes all arguments as they are."""
        read = self.program.kernel_args.only_read(callee, args)
        values = [self.value(arg, read_only=arg in read) for arg in args]
        tensors = all(param in function.buffer_map for param in function.params)
        if not tensors or not all(_is_host_tensor(self._info(arg)) for arg in args):
            return self.call(self.program.prim_func_value(callee), values)
        kernel = self.program.kernel(callee)
        self.ib.emit_call(kernel, values, self.ib.void_arg(), span=self.span)
        return self.ib.convert_constant(())

    def _values(self, args: Sequence[relax.Expr]) -> list[Arg]:
        return [self.value(arg) for arg in args]

    def _result(self, call: relax.Call) -> Check | None:
        """The check of what a function outside of the module returns."""
        info = self.in_scope(self._info(call))
        if isinstance(info, ObjectStructInfo):
            return None
        return self.checks.of([info], self.bound, self.register_of)[0]

    def _call_inplace_packed(self, call: relax.Call) -> Arg:
        callee, *given = call.args
        args = self._values(given)
        name, function = self._callee(callee)
        returned = self.call(name, [*function, *args])
        indices = self.ib.convert_constant(inplace_indices(call))
        value = self.call(self.program.in_place(), [returned, indices, *args])
        words = name_of_call(callee) or "what was written"
        return self.check_value(value, self.in_scope(self._info(call)), words)

    def _call_builtin_with_ctx(self, call: relax.Call) -> Arg:
        check = check_of(call)
        if check is not None:
            return self._check(*check)
        callee, args = call.args
        name, function = self._callee(callee)
        values = [self.ib.vm_state(), *self._values(self._fields(args))]
        return self.call(name, [*function, *values], self._result(call))

    def _check(self, name: str, args: Sequence[relax.Expr], info: StructInfo) -> Arg:
        """A check of a value; those of arguments and results belong to the function."""
        if name != MATCH_CAST:
            return self.ib.void_arg()
        value, words = args
        assert isinstance(words, relax.StringImm)
        return self.check_value(self.value(value), info, words.value)

    def _callee(self, callee: relax.Expr) -> tuple[str, list[Arg]]:
        """The entry of the function table for a packed function, and arguments that say which."""
        if isinstance(callee, relax.ExternFunc):
            return self.program.extern(callee.global_symbol), []
        return INVOKE_CLOSURE, [self.value(callee)]

    def _compute_prim_value(self, call: relax.Call) -> Arg:
        (shape,) = call.args
        assert isinstance(shape, relax.ShapeExpr)
        return self.scalar(shape.values[0])

    # -- destination passing -----------------------------------------------------------------------

    def _call_tir_inplace(self, call: relax.Call) -> Arg:
        """A call of a PrimFunc into arguments, by way of what puts these in order."""
        callee, held, *integers = call.args
        assert isinstance(callee, relax.GlobalVar)
        values = self._values(self._fields(held))
        kernel, given = self.program.arranged_kernel(callee), [*values, *self._values(integers)]
        self.ib.emit_call(kernel, given, self.ib.void_arg(), span=self.span)
        tensors = (values[index] for index in inplace_indices(call))
        return self._assemble(_result_info(call), tensors)

    # -- storage -----------------------------------------------------------------------------------

    def _alloc_storage(self, call: relax.Call) -> Arg:
        """A storage of the machine's allocator, where the operands are of the kinds it takes."""
        given = self._storage_operands(call)
        if given is None:
            return self._call_operator(call)
        return self.call("vm.builtin.alloc_storage", given)

    def _tensor_in_storage(self, call: relax.Call) -> Arg:
        """A tensor in a storage, where the operands are of the kinds that the machine takes."""
        _, offset, shape, dtype = call.args
        known = isinstance(self._info(shape), ShapeStructInfo) and isinstance(
            self._info(offset), PrimStructInfo
        )
        if not known or not isinstance(dtype, relax.DataTypeImm):
            return self._call_operator(call)
        _needs_check(call, self.program.context)  # refuses what is wrong already
        values = [self.value(operand, read_only=True) for operand in call.args]
        return self.call("vm.builtin.alloc_tensor", values)

    def _storage_operands(self, call: relax.Call) -> list[Arg] | None:
        """Size, index of the device and dtype; None where only the run shows what they are."""
        operator = lookup(call.op)  # type: ignore[arg-type]
        given = {p.name: arg for p, arg in zip(operator.parameters, call.args)}
        size, dtype = given["size" if "size" in given else "shape"], given["dtype"]
        (index,) = (arg for name, arg in given.items() if name.endswith("device_index"))
        infos = self._info(size), self._info(index)
        if not isinstance(dtype, relax.DataTypeImm) or not (
            isinstance(infos[0], ShapeStructInfo) and isinstance(infos[1], PrimStructInfo)
        ):
            return None
        _needs_check(call, self.program.context)  # refuses what is wrong already
        return [self.value(operand, read_only=True) for operand in (size, index, dtype)]

    def _fields(self, args: relax.Expr) -> Sequence[relax.Expr]:
        """The arguments of a call that gives them as a tuple."""
        if isinstance(args, relax.Tuple):
            return args.fields
        info = self._info(args)
        count = len(info.fields) if isinstance(info, TupleStructInfo) else 0
        return [relax.TupleGetItem.make(args, index) for index in range(count)]

    def _info(self, expr: relax.Expr) -> StructInfo:
        return self.program.context.struct_info(expr)

    def _assemble(self, info: StructInfo, tensors: Iterator[Arg]) -> Arg:
        """The tensors as the value that the StructInfo describes: one, or tuples of them."""
        if not isinstance(info, TupleStructInfo):
            return next(tensors)
        fields = [self._assemble(field, tensors) for field in info.fields]
        return self.call("vm.builtin.make_tuple", fields)


def _result_info(call: relax.Call) -> StructInfo:
    """The results that a destination-passing call describes."""
    infos = call.sinfo_args
    return infos[0] if len(infos) == 1 else TupleStructInfo.make(infos)


def _is_host_tensor(info: StructInfo) -> bool:
    return isinstance(info, TensorStructInfo) and (
        info.vdevice is None or info.vdevice.vdevice_id == 0
    )


def _is_unit(info: StructInfo) -> bool:
    return isinstance(info, TupleStructInfo) and not info.fields


def _is_builtin(callee: relax.Expr) -> bool:
    """True for a function of the machine, whose results need no check here."""
    name = callee.global_symbol if isinstance(callee, relax.ExternFunc) else INVOKE_CLOSURE
    return name in BUILTINS and name != INVOKE_CLOSURE


class _CheckCollector:
    """The context of a rule, which counts what cannot be decided before the run."""

    def __init__(self, known: Context) -> None:
        self.struct_info = known.struct_info
        self.facts = known.facts
        self.module = None
        self.undecided = 0

    def require(self, deferred: DeferredCheck) -> None:
        self.undecided += 1


def _needs_check(call: relax.Call, known: Context) -> bool:
    """True if it is known only when the program runs that an operator takes its operands.

    Raises `DiagnosticError` for operands that it never takes.
    """
    if not all(_is_known(known.struct_info(arg)) for arg in call.args):
        return True
    operator = lookup(call.op)  # type: ignore[arg-type]
    context: Any = _CheckCollector(known)
    try:
        operator.infer(call, context)
    except UnplacedError as error:
        raise error.as_diagnostic_error(f"R.{operator.script_name}", call.span) from None
    return bool(context.undecided)


def _is_known(info: StructInfo) -> bool:
    """True if shape and dtype are known but for shape variables, and scalars are literals.

    Rules look at the values of scalars: what has no value before the run is looked at then.
    """
    match info:
        case TensorStructInfo(dims=dims, dtype=dtype):
            return dims is not None and not dtype.is_void
        case ShapeStructInfo(values=values):
            return values is not None
        case TupleStructInfo(fields):
            return all(map(_is_known, fields))
        case PrimStructInfo(value=value):
            return isinstance(value, (IntImm, FloatImm))
        case FuncStructInfo():
            return True
    return False
