"""RealizeVDevice: every tensor of a program on a virtual device of the module."""

from __future__ import annotations

from relaxscript.builder import ExprMutator
from relaxscript.errors import Span
from relaxscript.ir.module import IRModule, VDevice
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Binding,
    Call,
    Constant,
    Expr,
    Function,
    If,
    MatchCast,
    Op,
    Tuple,
    Var,
)
from relaxscript.ir.struct_info import FuncStructInfo, StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.ir.walk import rewrite
from relaxscript.op.device import hint_on_device, to_vdevice
from relaxscript.sinfo import same_vdevice, with_vdevice_of
from relaxscript.transform.normalize.normalize import normalize_module
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

from .device_calls import (
    hinted_device,
    is_closure_call,
    is_host,
    is_kernel_call,
    listed_devices,
    move_call,
)
from .device_errors import refuse
from .device_flow import DeviceFlow
from .graph import with_devices

__all__ = ["RealizeVDevice", "realize_vdevices"]


class RealizeVDevice(ModulePass):
    """Say of every tensor on which virtual device it is, and put it there.

    Before:

        I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("llvm", 1)]})

        @R.function
        def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32", "llvm:1")):
            a = R.add(x, R.const(1.0))
            b = R.multiply(a, y)
            c = R.hint_on_device(b, R.device("cpu", 0))
            return c

    After:

        @R.function
        def main(
            x: R.Tensor((4,), "float32", "llvm:1"), y: R.Tensor((4,), "float32", "llvm:1")
        ) -> R.Tensor((4,), "float32", "llvm:0"):
            const: R.Tensor((), "float32", "llvm:1") = R.to_vdevice(R.const(1.0), "llvm:1")
            a: R.Tensor((4,), "float32", "llvm:1") = R.add(x, const)
            b: R.Tensor((4,), "float32", "llvm:1") = R.multiply(a, y)
            c: R.Tensor((4,), "float32", "llvm:0") = R.to_vdevice(b, "llvm:0")
            return c

    A device that is known of a tensor is known of what it is bound to. It is known of operands and
    results of the same operator or PrimFunc, too. So it is of what functions return, and of the
    arguments for a parameter (`device_flow.py` has the choices). `R.hint_on_device` becomes
    `R.to_vdevice`, or nothing where the tensor is known to be on that device. What an operator
    makes of no tensor is moved to where it is wanted. So are constants, which are made on the host.
    Nothing changes in a module that lists no virtual device.

    Raises `DiagnosticError`: RX0210 for a tensor that would be on two devices; RX0211 for an
    operand of which no device is known; RX0324 for a hint at a device that the module has not.
    Source: spec "Propagating Virtual Device Information", `hint_on_device`; TVM
    `relax.transform.RealizeVDevice`.
    """

    changes_signatures = True

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return realize_vdevices(mod)


def realize_vdevices(module: IRModule) -> IRModule:
    """The module with every tensor on a virtual device; itself where it lists none.

    Raises as `RealizeVDevice`.
    """
    if not listed_devices(module):
        return module
    module = normalize_module(module)
    flow = DeviceFlow(module)
    refuse(flow)
    placed = _with_devices(module, flow)
    result = placed
    for var, function in placed.relax_functions().items():
        made = _Mover(placed).function(function)
        if made is not function:
            result = result.clone() if result is placed else result
            result[var] = made
    return result


def _with_devices(module: IRModule, flow: DeviceFlow) -> IRModule:
    """The module with the devices of variables and results filled in; values stay as they are."""
    variables: dict[Node, Var] = {}
    for var, tree in flow.trees.items():
        info = var.struct_info
        if info is not None and (known := with_devices(info, tree)) is not info:
            variables[var] = var.replace(struct_info=known)
    result = module
    for gvar, function in module.relax_functions().items():
        made = rewrite(function, variables.get) if variables else function
        if function.ret_struct_info is not None:
            tree = flow.signatures[function].result
            made = made.replace(ret_struct_info=with_devices(function.ret_struct_info, tree))
        if made is not function:
            result = result.clone() if result is module else result
            result[gvar] = made
    return result


class _Mover(ExprMutator):
    """Puts tensors where the variables that they are bound to are said to be."""

    def result_info(self, func: Function) -> StructInfo | None:
        """The declared result of the local function that a variable is bound to."""
        info = self._of_variable()
        return info.ret if isinstance(info, FuncStructInfo) else func.ret_struct_info

    def result(self, func: Function, value: Expr) -> Expr:
        return self._move_constants(value, self.result_info(func), None)

    def branch_result(self, choice: If, value: Expr) -> Expr:
        return self._move_constants(value, self._of_variable(), None)

    def _of_variable(self) -> StructInfo | None:
        """The StructInfo of the variable to which the innermost `if` or function is bound."""
        holder = self.path[-2] if len(self.path) > 1 else None
        return holder.var.struct_info if isinstance(holder, Binding) else None

    def binding(self, binding: Binding) -> None:
        info = binding.var.struct_info
        match binding.value:
            case Call() as call:
                made = self._call(call, info, binding)
            case Constant() as constant if (device := _device_in(info)) is not None:
                made = move_call(constant, device, binding.span)
            case value:
                made = self._move_constants(value, info, binding.span)
        placed = binding.replace(value=made)
        if isinstance(placed, MatchCast):
            placed = placed.replace(struct_info=with_vdevice_of(placed.struct_info, info))
        self.changed |= placed is not binding
        self.builder.emit_normalized(placed)

    # -- calls -------------------------------------------------------------------------------------

    def _call(self, call: Call, info: StructInfo | None, binding: Binding) -> Expr:
        match call.op:
            case hint_on_device.op:
                return self._hint(call)
            case to_vdevice.op:
                return call
            case op if is_closure_call(op):
                callee, held = call.args
                made = self._with_args(
                    call, (callee, self._move_arguments(callee, held, call.span))
                )
            case _ if is_kernel_call(call, self.mod):
                return self._kernel(call, info, binding)
            case Op():
                made = call
            case callee:
                fields = self._move_arguments(callee, Tuple.make(call.args), call.span)
                made = self._with_args(
                    call, fields.fields if isinstance(fields, Tuple) else call.args
                )
        return self._retype(made, info)

    def _hint(self, call: Call) -> Expr:
        """The tensor where the hint wants it; itself if it is there."""
        (data,) = call.args
        device = hinted_device(call, self.mod)
        if device is None or same_vdevice(_device_in(self.builder.struct_info(data)), device):
            return data
        return move_call(data, device, call.span)

    def _kernel(self, call: Call, info: StructInfo | None, binding: Binding) -> Expr:
        """A call of an operator or PrimFunc: its operands go, and its results are, to one device.

        A result that does not follow from the operands is moved there.
        """
        operands = map(self.builder.struct_info, call.args)
        devices = map(_device_in, (*operands, info))
        device = next((d for d in devices if d is not None), None)
        if device is None:
            return call
        made = self._with_args(call, tuple(self._at(arg, device, call.span) for arg in call.args))
        made = self._retype(made, info)
        if _device_in(info) is None or _device_in(self.builder.struct_info(made)) is not None:
            return made
        return move_call(self.emit(made, binding.var.name_hint, binding.span), device, call.span)

    def _with_args(self, call: Call, args: tuple[Expr, ...]) -> Call:
        same = all(a is b for a, b in zip(args, call.args))
        return call if same else call.replace(args=args)

    def _move_arguments(self, callee: Expr, args: Expr, span: Span | None) -> Expr:
        """Arguments where the parameters of a function are."""
        function = self.builder.struct_info(callee)
        if not isinstance(function, FuncStructInfo) or function.params is None:
            return args
        return self._move_constants(args, TupleStructInfo.make(function.params), span)

    def _retype(self, call: Call, info: StructInfo | None) -> Call:
        """The call with the devices of its result where it says what the result is."""
        wanted = TupleStructInfo.make((info,)) if len(call.sinfo_args) == 1 else info
        said = TupleStructInfo.make(call.sinfo_args)
        described = with_vdevice_of(said, wanted)
        if isinstance(described, TupleStructInfo) and described is not said:
            return call.replace(sinfo_args=described.fields)
        if (
            info is not None
            and with_vdevice_of(known := self.builder.struct_info(call), info) is known
        ):
            return call
        # What was derived of it is no longer all that is known of the function that it calls.
        made = Call.make(
            call.op, call.args, call.attrs, call.sinfo_args, call.arg_spans, span=call.span
        )
        derived = self.builder.struct_info(made)
        return made if with_vdevice_of(derived, info) is derived else call

    # -- constants ---------------------------------------------------------------------------------

    def _move_constants(self, value: Expr, info: StructInfo | None, span: Span | None) -> Expr:
        """A value whose constants are where its StructInfo says; they are made on the host."""
        match value, info:
            case Constant(), TensorStructInfo(vdevice=VDevice() as device):
                return self._at(value, device, span)
            case Tuple(fields) as held, TupleStructInfo(infos) if len(fields) == len(infos):
                return _renew(
                    held, [self._move_constants(f, i, span) for f, i in zip(fields, infos)]
                )
        return value

    def _at(self, value: Expr, device: VDevice, span: Span | None) -> Expr:
        """A value whose constants are on a device."""
        match value:
            case Constant() if not is_host(device):
                return self.emit(move_call(value, device, span), "const", span)
            case Tuple(fields):
                return _renew(value, [self._at(field, device, span) for field in fields])
        return value


def _renew(value: Tuple, fields: list[Expr]) -> Tuple:
    same = all(a is b for a, b in zip(fields, value.fields))
    return value if same else value.replace(fields=tuple(fields))


def _device_in(info: StructInfo | None) -> VDevice | None:
    """The device of the first tensor in a value that says one."""
    match info:
        case TensorStructInfo(vdevice=device):
            return device
        case TupleStructInfo(fields):
            return next((d for d in map(_device_in, fields) if d is not None), None)
    return None
