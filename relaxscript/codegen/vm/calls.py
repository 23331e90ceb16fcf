"""The forms of calls in bytecode: operators, kernels, packed functions, closures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from relaxscript.analysis import Context
from relaxscript.arith import YES
from relaxscript.errors import UnplacedError
from relaxscript.interpreter.blame import name_of_call
from relaxscript.interpreter.checks import function_check, place_of
from relaxscript.interpreter.prim_funcs import result_infos
from relaxscript.ir import prim, relax, tir
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.op import Obligation, builtin, lookup, memory, vm
from relaxscript.op.base import (
    compute_prim_value,
    invoke_closure,
    invoke_pure_closure,
    make_closure,
    null_value,
)
from relaxscript.op.calls import call_builtin_with_ctx, call_dps_packed, call_pure_packed, call_tir
from relaxscript.op.device import to_vdevice
from relaxscript.op.inplace import call_inplace_packed, call_tir_inplace
from relaxscript.op.results import in_their_places, inplace_indices
from relaxscript.runtime import Arg, Check, TupleCheck
from relaxscript.runtime.builtins import BUILTINS, INVOKE_CLOSURE
from relaxscript.sinfo import is_subtype

from .function import FunctionEmitter
from .program import Program
from .usage import read_only_args, read_only_direct_args

__all__ = ["CallEmitter"]

_UNIT = TupleCheck(())


class CallEmitter(FunctionEmitter):
    """Emits functions with all forms of calls."""

    def __init__(self, program: Program, name: str, function: relax.Function) -> None:
        super().__init__(program, name, function)
        self._forms: dict[str, Callable[[relax.Call], Arg]] = {
            call_builtin_with_ctx.name: self._call_builtin_with_ctx,
            call_dps_packed.name: self._call_dps_packed,
            call_inplace_packed.name: self._call_inplace_packed,
            call_pure_packed.name: self._call_pure_packed,
            call_tir.name: self._call_tir,
            call_tir_inplace.name: self._call_tir_inplace,
            compute_prim_value.name: self._compute_prim_value,
            invoke_closure.name: self._invoke_closure,
            invoke_pure_closure.name: self._invoke_closure,
            make_closure.name: self._make_closure,
            memory.alloc_storage.name: self._alloc_storage,
            memory.alloc_tensor.name: self._cut_tensor,
            memory.kill_storage.name: self._kill,
            memory.kill_tensor.name: self._kill,
            null_value.name: lambda call: self.ib.void_arg(),
            to_vdevice.name: self._to_vdevice,
            vm.alloc_storage.name: self._alloc_storage,
            vm.alloc_tensor.name: self._cut_tensor,
            vm.kill_object.name: self._kill,
        }

    def call_value(self, call: relax.Call) -> Arg:
        outer, self.span = self.span, call.span or self.span
        match call.op:
            case relax.Op(name) if name in self._forms:
                result = self._forms[name](call)
            case builtin.alloc_tensor.op if _is_known(self._info(call)):
                shape, dtype = (self.value(arg) for arg in call.args[:2])
                result = self.call("vm.builtin.alloc_tensor", [shape, dtype])
            case relax.Op():
                result = self._by_meaning(call)
            case _:
                result = self._apply(call.op, call.args, call)
        self.span = outer
        return result

    def _by_meaning(self, call: relax.Call) -> Arg:
        args = [self.value(arg, read_only=True) for arg in call.args]
        checked = _needs_check(call, self.program.context)
        return self.call(self.program.operator(call, checked), args)

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
                return self.enter(callee.name_hint, self._values(args), known, found)
            case relax.ExternFunc(symbol):
                values = self._values(args)
                if symbol == "vm.builtin.check_func_info" and self.checks_itself:
                    values.append(self._func_check(args, call))
                name = self.program.extern(symbol)
                if name in BUILTINS and _is_unit(self._info(call)):  # that is what it gives
                    self.ib.emit_call(name, values, self.ib.void_arg(), span=self.span)
                    return self.ib.convert_constant(())
                return self.call(name, values, self._result(call))
            case relax.Var() if callee in self.local:
                local, captured = self.local[callee]
                values, known = self._values(args), [self._info(arg) for arg in args]
                given = [*values, *captured]
                return self.enter(local.name, given, known, local.function, local.shape_vars)
        function = self.value(callee)
        return self.call(INVOKE_CLOSURE, [function, *self._values(args)], self._result(call))

    def _call_prim_func(
        self, callee: relax.GlobalVar, function: tir.PrimFunc, args: Sequence[relax.Expr]
    ) -> Arg:
        """A direct call: of the kernel itself, where it takes all arguments as they are."""
        read = read_only_direct_args(callee, args, self.program.module)
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
        known = self.program.context.struct_info(call)
        if self.checks_itself and not _is_unit(known):
            return None
        info = self.in_scope(known)
        if isinstance(info, ObjectStructInfo):
            return None
        return self.left_of(*self.checks.of([info], self.bound, self.register_of))[0]

    def _func_check(self, args: Sequence[relax.Expr], call: relax.Call) -> Arg:
        """The type that a function must have: what a check that is written out says it gives.

        Its last argument may be a shape with the shape variables to which that type refers.
        """
        info, sizes = self._info(call), self._info(args[-1])
        assert isinstance(info, FuncStructInfo)
        used = sizes.values or () if isinstance(sizes, ShapeStructInfo) else ()
        slots = {v: i for i, v in enumerate(used) if isinstance(v, prim.Var)}
        return self.ib.convert_constant(function_check(info, slots))

    def _call_pure_packed(self, call: relax.Call) -> Arg:
        callee, *args = call.args
        return self._apply(callee, args, call)

    def _call_inplace_packed(self, call: relax.Call) -> Arg:
        callee, *given = call.args
        args = self._values(given)
        name, function = self._callee(callee)
        returned = self.call(name, [*function, *args])
        indices = self.ib.convert_constant(inplace_indices(call))
        value = self.call(self.program.in_place(), [returned, indices, *args])
        return self._checked(value, self._info(call), callee)

    def _checked(self, value: Arg, info: StructInfo, callee: relax.Expr) -> Arg:
        """What a function outside of the module wrote, checked as what `callee` returned."""
        return self.matched(value, self.in_scope(info), name_of_call(callee) or "what was written")

    def _call_builtin_with_ctx(self, call: relax.Call) -> Arg:
        callee, args = call.args
        name, function = self._callee(callee)
        values = [self.ib.vm_state(), *self._values(self._fields(args))]
        return self.call(name, [*function, *values], self._result(call))

    def _callee(self, callee: relax.Expr) -> tuple[str, list[Arg]]:
        """The entry of the function table for a packed function, and arguments that say which."""
        if isinstance(callee, relax.ExternFunc):
            return self.program.extern(callee.global_symbol), []
        return INVOKE_CLOSURE, [self.value(callee)]

    def _to_vdevice(self, call: relax.Call) -> Arg:
        (value,) = self._values(call.args)
        return self.call("vm.builtin.to_device", [value, str(call.attrs["dst_vdevice"])])  # type: ignore[index]

    def _invoke_closure(self, call: relax.Call) -> Arg:
        callee, args = call.args
        if isinstance(args, relax.Tuple):
            return self._apply(callee, args.fields, call)
        info = self.program.context.struct_info(args)
        count = len(info.fields) if isinstance(info, TupleStructInfo) else 0
        fields = [relax.TupleGetItem.make(args, i) for i in range(count)]
        return self._apply(callee, fields, call)

    def _make_closure(self, call: relax.Call) -> Arg:
        callee, args = call.args
        values = [self.value(callee), *self._values(self._fields(args))]
        return self.call(self.program.make_closure(), values)

    def _compute_prim_value(self, call: relax.Call) -> Arg:
        (shape,) = call.args
        assert isinstance(shape, relax.ShapeExpr)
        return self.scalar(shape.values[0])

    # -- destination passing -----------------------------------------------------------------------

    def _call_tir(self, call: relax.Call) -> Arg:
        callee, args, *integers = call.args
        assert isinstance(callee, relax.GlobalVar)
        read = read_only_args(call, self.program.module)
        given = self._fields(args)
        values = [self.value(arg, read_only=arg in read) for arg in given]
        values += [self.value(shape) for shape in integers]
        results = self._allocated(result_infos(_described(call)))
        self._run_kernel(call, given, [*values, *results])
        return self._assembled(_described(call), results)

    def _run_kernel(
        self, call: relax.Call, given: Sequence[relax.Expr], values: Sequence[Arg]
    ) -> None:
        """Call the kernel; by way of what puts arguments in order, where it must be."""
        callee, _, *integers = call.args
        assert isinstance(callee, relax.GlobalVar)
        if (
            integers
            or any(not _is_host_tensor(self._info(arg)) for arg in given)
            or not all(_is_host_tensor(info) for info in result_infos(_described(call)))
        ):
            kernel = self.program.arranged_kernel(callee)
        else:
            kernel = self.program.kernel(callee)
        self.ib.emit_call(kernel, values, self.ib.void_arg(), span=self.span)

    def _call_tir_inplace(self, call: relax.Call) -> Arg:
        given = self._fields(call.args[1])
        values = self._values(given)
        infos, indices = result_infos(_described(call)), inplace_indices(call)
        for index, info in zip(indices, infos, strict=True):
            if index >= 0:
                values[index] = self._fitting(values[index], self._info(given[index]), info, index)
        integers = self._values(call.args[2:])
        new = [info for index, info in zip(indices, infos, strict=True) if index < 0]
        made = self._allocated(new)
        self._run_kernel(call, given, [*values, *integers, *made])
        return self._assembled(_described(call), in_their_places(made, values, indices))

    def _fitting(self, arg: Arg, known: StructInfo, wanted: StructInfo, index: int) -> Arg:
        """A check that an argument is what its result is said to be, where that is not known."""
        if is_subtype(known, wanted, self.program.context.facts, in_scope=self.bound) is YES:
            return arg
        return self.matched(
            arg, self.in_scope(wanted), f"`args[{index}]`, which is written in place,"
        )

    def _call_dps_packed(self, call: relax.Call) -> Arg:
        callee, args = call.args
        values = self._values(self._fields(args))
        described = _described(call)
        results = self._allocated(result_infos(described))
        void = self.ib.void_arg()
        if isinstance(callee, relax.ExternFunc):
            name = self.program.extern(callee.global_symbol)
            self.ib.emit_call(name, [*values, *results], void, span=self.span)
        else:
            function = self.value(callee)
            self.ib.emit_call(INVOKE_CLOSURE, [function, *values, *results], void, span=self.span)
        return self._checked(self._assembled(described, results), described, callee)

    # -- storage -----------------------------------------------------------------------------------

    def _alloc_storage(self, call: relax.Call) -> Arg:
        """A storage of the machine's allocator, where the operands are of the kinds it takes."""
        given = self._storage_operands(call)
        if given is None:
            return self._by_meaning(call)
        return self.call("vm.builtin.alloc_storage", given)

    def _cut_tensor(self, call: relax.Call) -> Arg:
        """A tensor in a storage, where the operands are of the kinds that the machine takes."""
        _, offset, shape, dtype = call.args
        known = isinstance(self._info(shape), ShapeStructInfo) and isinstance(
            self._info(offset), PrimStructInfo
        )
        if not known or not isinstance(dtype, relax.DataTypeImm):
            return self._by_meaning(call)
        _needs_check(call, self.program.context)  # refuses what is wrong already
        values = [self.value(operand, read_only=True) for operand in call.args]
        return self.call("vm.builtin.alloc_tensor", values)

    def _storage_operands(self, call: relax.Call) -> list[Arg] | None:
        """Size, index of the device and data type; None where only the run shows what they are."""
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

    def _allocated(self, infos: Sequence[TensorStructInfo]) -> list[Arg]:
        """New tensors for results as a call describes them."""
        made = []
        for info in infos:
            place = place_of(info.vdevice)
            where = [] if place is None else [str(place)]
            held = info.shape  # by a variable, where the dimensions are not said
            shape = self.value(held) if isinstance(held, relax.Var) else self.shape(info.dims or ())
            made.append(self.call("vm.builtin.alloc_tensor", [shape, info.dtype, *where]))
        return made

    def _assembled(self, info: StructInfo, tensors: list[Arg]) -> Arg:
        """The tensors as the value that is _described: one, or tuples of them."""
        rest = iter(tensors)

        def build(part: StructInfo) -> Arg:
            if not isinstance(part, TupleStructInfo):
                return next(rest)
            return self.call("vm.builtin.make_tuple", [build(field) for field in part.fields])

        return build(info)


def _described(call: relax.Call) -> StructInfo:
    """The results that a destination-passing call describes."""
    infos = call.sinfo_args
    return infos[0] if len(infos) == 1 else TupleStructInfo.make(infos)


def _is_host_tensor(info: StructInfo) -> bool:
    return isinstance(info, TensorStructInfo) and (
        info.vdevice is None or info.vdevice.vdevice_id == 0
    )


def _is_unit(info: StructInfo) -> bool:
    return isinstance(info, TupleStructInfo) and not info.fields


class _Collecting:
    """The context of a rule, which counts what cannot be decided before the run."""

    def __init__(self, known: Context) -> None:
        self.struct_info = known.struct_info
        self.facts = known.facts
        self.module = None
        self.undecided = 0

    def require(self, obligation: Obligation) -> None:
        self.undecided += 1


def _needs_check(call: relax.Call, known: Context) -> bool:
    """Whether it is known only when the program runs that an operator takes its operands.

    Raises `DiagnosticError` for operands that it never takes.
    """
    if not all(_is_known(known.struct_info(arg)) for arg in call.args):
        return True
    operator = lookup(call.op)  # type: ignore[arg-type]
    context: Any = _Collecting(known)
    try:
        operator.infer(call, context)
    except UnplacedError as error:
        raise error.placed(f"R.{operator.script_name}", call.span) from None
    return bool(context.undecided)


def _is_known(info: StructInfo) -> bool:
    """Whether shape and data type are known but for the values of shape variables."""
    match info:
        case TensorStructInfo(dims=dims, dtype=dtype):
            return dims is not None and not dtype.is_void
        case ShapeStructInfo(values=values):
            return values is not None
        case TupleStructInfo(fields):
            return all(map(_is_known, fields))
        case PrimStructInfo() | FuncStructInfo():
            return True
    return False
