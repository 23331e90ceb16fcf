"""From a module to something that runs: `build`, `jit`.

    model = jit(Digits)                      # build and load in one step
    executable = build(Digits, target="llvm")
    model = VirtualMachine(executable, cpu())

The one file that knows every layer: it brings modules into normal form and has PrimFuncs compiled
(or interpreted, `target="reference"`). Then it turns Relax functions into bytecode and links the
functions that they call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import partial
from importlib.util import find_spec
from operator import is_not
from typing import Any

import numpy as np

from . import op as operators
from .analysis.well_formedness import diagnose_ill_formed, ill_formed
from .arith import NO, YES
from .codegen.backend import BACKENDS, Backend, backend_for, register_backend, unknown_name
from .codegen.vm import Kernel, codegen
from .errors import Diagnostic, DiagnosticError, VMError
from .errors.exceptions import is_user_error
from .interpreter.tir import evaluate
from .ir import relax, tir
from .ir.calling import home_of, set_home
from .ir.constant_folding import fold_constants
from .ir.module import IRModule, Target
from .ir.prim import IntImm, PrimExpr, Var as ShapeVar
from .ir.struct_info import StructInfo
from .ir.walk import post_order, rewrite, substitute, walk
from .ir.written_size import MOST_PARTS, size_when_written
from .runtime import Device, Executable, VirtualMachine
from .runtime.coercion import call_packed
from .runtime.values import to_tensor
from .script.collector import collector_paused
from .sinfo import (
    check_compatibility,
    explain_mismatch,
    is_subtype,
    shape_var_mapping,
    shape_vars,
    substitute_shape_vars,
)
from .transform.lower.remove_redundant_checks import RemoveRedundantChecks
from .transform.lower.remove_unused_checks import RemoveUnusedChecks
from .transform.normalize.normalize import normalize_module
from .transform.pass_infra.passes import Pass
from .transform.pass_infra.run_pipeline import PipelineLike, run_pipeline
from .transform.pipeline import OUR_PIPELINES, build_pipelines
from .transform.vdevice.device_calls import is_host, listed_devices, move_call, named_device
from .transform.vdevice.realize_vdevice import realize_vdevices

__all__ = [
    "VirtualMachine", "build", "compile", "evaluate_prim_func", "jit", "run_function",
    "with_params",
]  # fmt: skip

__tracebackhide__ = is_user_error

_EXEC_MODES = ("bytecode", "compiled")
_REMOVERS: dict[str, Callable[[], Pass]] = {
    "redundant": RemoveRedundantChecks,
    "unused": RemoveUnusedChecks,
}


def build(
    mod: IRModule | relax.BaseFunc,
    target: str | Target | Mapping[str, Any] | None = None,
    params: Mapping[str, Any] | None = None,
    relax_pipeline: PipelineLike = "default",
    tir_pipeline: PipelineLike = "default",
    exec_mode: str = "bytecode",
    *,
    remove_checks: str | None = None,
) -> Executable:
    """Compile a module, or one function as a module of its own, for `VirtualMachine`.

    `target` is "llvm" (the default, unless a `with Target(...):` is entered: PrimFuncs become
    native code for this computer; the option `-opt-level=0` to 3) or "reference" (they are
    interpreted, without llvmlite). Every index of a PrimFunc that is not proved to lie in its
    buffer is checked when it runs; "llvm -check=0" leaves that out, and such a program then reads
    and writes wherever its indices lead. With "llvm -zero-memory=1" the memory that a PrimFunc
    makes begins as zeros; otherwise what lies there before the first store is left open.

    `params` maps names of parameters of `main` to arrays that become constants of the program.
    Where there is no `main`, they are parameters of every public function. A pipeline is a name,
    None, passes in a row or a function from module to module. The relax_pipeline lowers the module:
    bytecode is made of calls, `if` and results only, and what it leaves of anything else is
    refused. `get_pipeline("default")` is the default one, whose `script()` names its passes;
    "default_build" also plans memory. Both `exec_mode`s, "bytecode" and "compiled", make bytecode
    at present.

    `remove_checks` says which run-time checks to leave out beside those that are seen at once to
    hold: "redundant" what earlier checks imply (`transform.RemoveRedundantChecks`), which changes
    nothing else; "unused" all that give no shape variable a value that is used
    (`transform.RemoveUnusedChecks`). A value that is not as the program says then goes unnoticed.

    Raises `DiagnosticError`: what the program does wrong, with its place; RX0703 for an unknown
    target, option, pipeline, mode, parameter or kind of device.
    """
    given = module = _as_module(mod)
    made_for = _target(target)
    if exec_mode not in _EXEC_MODES:
        raise unknown_name("execution mode", str(exec_mode), _EXEC_MODES)
    _require_devices(module)
    _require_bounded(module)
    # A function that lowers is a program of the user's, and keeps the collector as it likes.
    ours = relax_pipeline in OUR_PIPELINES and tir_pipeline == "default"
    with diagnose_ill_formed(given), collector_paused() if ours else nullcontext():
        if remove_checks is not None:
            module = _without_checks(module, remove_checks)
        if params:
            module = with_params(normalize_module(realize_vdevices(module)), params)
        with _evaluating_for(made_for):
            lowered = run_pipeline(
                module, relax_pipeline, "relax_pipeline", build_pipelines(), OUR_PIPELINES
            )
        lowered = run_pipeline(
            lowered, tir_pipeline, "tir_pipeline", {"default": _nothing}, ["default"]
        )
        executable = codegen(lowered, _kernels(lowered, made_for)).link(_external(lowered))
    executable.origin = (module if relax_pipeline == "default" else lowered, made_for)
    return executable


compile = build  # TVM's name for it since 0.20


def jit(
    mod: IRModule | relax.BaseFunc,
    target: str | Target | Mapping[str, Any] | None = None,
    device: Device | str | Sequence[Device | str] | None = None,
    *,
    remove_checks: str | None = None,
) -> VirtualMachine:
    """Compile a module and load it: `jit(mod).main(x)`. Takes and raises what `build` does."""
    made = build(mod, target, exec_mode="compiled", remove_checks=remove_checks)
    return VirtualMachine(made, device)


# -- functions that are called with arrays ---------------------------------------------------------


def run_function(function: relax.BaseFunc, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """Run a function on arrays: a member of a module in it, any other alone.

    What was compiled for a module is used again until one of its functions is another. Raises
    `DiagnosticError` for a program that is wrong, `VMError` for a run that fails.
    """
    home = home_of(function)
    if home is None:
        for node in walk(function):
            if isinstance(node, relax.GlobalVar):
                message = "a function that uses others of its module runs in it only"
                help = "call it as an attribute of the module: `Model.main(x)`"
                raise DiagnosticError(Diagnostic("RX0607", message, function.span, help=help))
        module = _as_module(function)
        (name,) = (var.name_hint for var in module.functions)
        set_home(function, module, name)
    else:
        module, name = home
    return _machine_for(module, isinstance(function, tir.PrimFunc))[name](*args, **named)


def _machine_for(module: IRModule, of_kernels: bool) -> VirtualMachine:
    """A machine for a module, or for its PrimFuncs, which can only be called where they are alone.

    It is kept as long as the module is what it was.
    """
    program = module
    if of_kernels:
        program = IRModule({
            var: function.with_attr("global_symbol", var.name_hint)
            for var, function in module.functions.items()
            if isinstance(function, tir.PrimFunc)
        })  # fmt: skip
    state = (module.attrs, *module.global_infos.values(), *module.functions.values())
    kind = "kernels" if of_kernels else "all"
    machine: VirtualMachine | None
    before, machine = module._compiled.get(kind, ((), None))
    if machine is None or len(before) != len(state) or any(map(is_not, before, state)):
        machine = VirtualMachine(build(program))
        module._compiled[kind] = (state, machine)
    return machine


_evaluated_for: ContextVar[Target | None] = ContextVar("relaxscript.evaluated_for", default=None)


@contextmanager
def _evaluating_for(target: Target) -> Iterator[None]:
    """Have passes inside evaluate PrimFuncs as code for a target does."""
    token = _evaluated_for.set(target)
    try:
        yield
    finally:
        _evaluated_for.reset(token)


def evaluate_prim_func(mod: IRModule, name: str, args: Sequence[Any]) -> None:
    """Run a PrimFunc of a module, for a pass: it writes into the arrays that it is given.

    `args` are arrays and numbers in the order of its parameters. Inside of `build` it runs as on
    the target; elsewhere on the current target, which is native where llvmlite is there. Raises
    `DiagnosticError` and `VMError` as a program does that calls it.
    """
    target = _evaluated_for.get() or Target.current()
    if target is None:
        target = Target("llvm" if find_spec("llvmlite") else "reference")
    function = mod[name]
    key = f"evaluate {target} {name}"
    before, kernel = mod._compiled.get(key, (None, None))
    if kernel is None or before is not function:
        kernel = backend_for(target).kernels({name: function}, mod, target)[name]
        mod._compiled[key] = (function, kernel)
    kernel(*args)


# -- what users write ------------------------------------------------------------------------------


def _as_module(mod: Any) -> IRModule:
    match mod:
        case IRModule():
            return mod
        case relax.BaseFunc():
            function = mod
            if function.attrs is None or "global_symbol" not in function.attrs:
                function = function.with_attr("global_symbol", "main")
            return IRModule.from_expr(function)
    raise TypeError(
        f"build takes an IRModule, a Relax function or a PrimFunc, not {type(mod).__name__}"
    )


def _without_checks(module: IRModule, which: str) -> IRModule:
    if which not in _REMOVERS:
        raise unknown_name("kind of checks to remove", str(which), list(_REMOVERS))
    return _REMOVERS[which]()(normalize_module(module))


def _target(given: str | Target | Mapping[str, Any] | None) -> Target:
    match given:
        case None:
            target = Target.current() or Target("llvm")
        case str() if not given.split():
            raise unknown_name("target", given, list(BACKENDS))
        case Target():
            target = given
        case str() | Mapping():
            from .ir.module import as_target

            target = as_target(given)
    if target.kind == "cpu":
        target = Target("llvm", target.attrs)
    backend_for(target)
    return target


def _nothing() -> Callable[[IRModule], IRModule]:
    return lambda module: module


def _require_bounded(module: IRModule) -> None:
    """PrimFuncs share scalars, and every use of one is a piece of code."""
    for var, function in module.functions.items():
        if isinstance(function, tir.PrimFunc) and size_when_written(function.body) > MOST_PARTS:
            message = f"`{var.name_hint}` has more than {MOST_PARTS:,} parts when it is written out"
            raise DiagnosticError(Diagnostic("RX0104", message, function.span))


def _require_devices(module: IRModule) -> None:
    """Raise where a tensor is said to be on a device of a kind that is not there."""
    absent = {d.target.kind for d in listed_devices(module)} - set(Device.KINDS)
    functions = module.relax_functions().values() if absent else ()
    found = [
        (device.target.kind, node.span)
        for function in functions
        for node in post_order(function)
        if (device := named_device(node)) is not None and device.target.kind in absent
    ]
    if found:
        kind, span = next((pair for pair in found if pair[1] is not None), found[0])
        raise unknown_name("device of kind", kind, list(Device.KINDS), span)


# -- PrimFuncs -------------------------------------------------------------------------------------


def _kernels(module: IRModule, target: Target) -> dict[str, Kernel]:
    """The kernels of the PrimFuncs."""
    functions = {
        var.name_hint: function
        for var, function in module.functions.items()
        if isinstance(function, tir.PrimFunc)
    }
    return backend_for(target).kernels(functions, module, target)


def _external(module: IRModule) -> dict[str, Callable[..., Any]]:
    """The functions that code generators made, called as packed functions are."""
    return {
        symbol: partial(_call_external, symbol, function)
        for made in reversed(module.external_mods)  # the first one of a name is meant
        for symbol, function in made.items()
    }


def _call_external(symbol: str, function: Callable[..., Any], *args: Any) -> Any:
    return call_packed(symbol, function, args)


def _evaluators(
    functions: Mapping[str, tir.PrimFunc], module: IRModule, target: Target
) -> dict[str, Kernel]:
    """The evaluator for each PrimFunc."""

    def kernel(function: tir.PrimFunc) -> Kernel:
        return lambda *args: evaluate(function, args, module)

    return {name: kernel(function) for name, function in functions.items()}


register_backend(Backend("reference", _evaluators))


# -- parameters as constants -----------------------------------------------------------------------


def with_params(module: IRModule, params: Mapping[str, Any]) -> IRModule:
    """The module with parameters of `main` (or of all public functions) bound to arrays.

    Shape variables that the arrays determine become numbers everywhere in the function. Raises
    `DiagnosticError`: RX0703 for a name that is no parameter, RX0206 for an array that is no
    argument for it.
    """
    public = {v: f for v, f in module.relax_functions().items() if not f.is_private}
    chosen = {v: f for v, f in public.items() if v.name_hint == "main"} or public
    names = [p.name_hint for f in chosen.values() for p in f.params]
    for name in params:
        if name not in names:
            raise unknown_name("parameter", name, names)
    result, narrowed = module.clone(), False
    for var, function in chosen.items():
        arrays = {
            p: _array(p, params[p.name_hint]) for p in function.params if p.name_hint in params
        }
        if arrays:
            result[var] = _bind_constants(function, arrays)
            narrowed = narrowed or any(shape_vars(param.struct_info) for param in arrays)
    # Calls that fitted for all values of a shape variable need not fit for the one that it got.
    if narrowed and (wrong := ill_formed(result)):
        raise DiagnosticError(wrong)
    return result


def _array(param: relax.Var, value: Any) -> np.ndarray[Any, Any]:
    try:
        array: np.ndarray[Any, Any] = to_tensor(value)
        return array
    except VMError as error:
        message = f"the value for `{param.name_hint}` is no array: {error.diagnostic.message}"
        raise DiagnosticError(Diagnostic("RX0206", message, param.span)) from error


def _bind_constants(
    function: relax.Function, arrays: Mapping[relax.Var, np.ndarray[Any, Any]]
) -> relax.Function:
    """The function with parameters turned into bindings of constants at its start."""
    constants = {param: relax.Constant(array) for param, array in arrays.items()}
    infos = {param: _info_of(constant) for param, constant in constants.items()}
    declared = [param.struct_info for param in infos]
    mapping = shape_var_mapping(declared, list(infos.values()))
    for param, info in infos.items():
        expected = substitute_shape_vars(param.struct_info, mapping)
        if check_compatibility(info, expected) is NO:
            reason = explain_mismatch(info, expected)
            message = f"the array for `{param.name_hint}` does not fit: {reason}"
            raise DiagnosticError(Diagnostic("RX0206", message, param.span))
    specialised = _specialise(function, mapping)
    renamed = dict(zip(function.params, specialised.params, strict=True))
    bindings = tuple(
        _constant_binding(renamed[p], constant, infos[p]) for p, constant in constants.items()
    )
    body = specialised.body
    assert isinstance(body, relax.SeqExpr)
    blocks = _after(bindings, body.blocks)
    kept = tuple(renamed[p] for p in function.params if p not in constants)
    return specialised.replace(params=kept, body=body.replace(blocks=blocks))


def _after(
    bindings: tuple[relax.Binding, ...], blocks: tuple[relax.BindingBlock, ...]
) -> tuple[relax.BindingBlock, ...]:
    """Blocks with bindings before them, which join a first block that is no dataflow block."""
    if blocks and not isinstance(blocks[0], relax.DataflowBlock):
        bindings, blocks = (*bindings, *blocks[0].bindings), blocks[1:]
    return (relax.BindingBlock.make(bindings), *blocks)


def _constant_binding(var: relax.Var, constant: relax.Constant, info: StructInfo) -> relax.Binding:
    """A variable for a constant; what shape variables decide is checked when the program runs.

    The constant is copied to where the parameter is said to be.
    """
    value: relax.Expr = constant
    device = getattr(var.struct_info, "vdevice", None)
    if device is not None:
        info = info.replace(vdevice=device)
        value = constant if is_host(device) else move_call(constant, device, var.span)
    if is_subtype(info, var.struct_info) is YES:
        return relax.VarBinding.make(var, value, span=var.span)
    return relax.MatchCast.make(var, value, var.struct_info, span=var.span)


def _info_of(constant: relax.Constant) -> StructInfo:
    return operators.struct_info_of_leaf(constant)


def _specialise(function: relax.Function, mapping: Mapping[ShapeVar, PrimExpr]) -> relax.Function:
    """The function with shape variables replaced by numbers, and computed with as scripts do."""
    numbers = {v: e for v, e in mapping.items() if isinstance(e, IntImm)}
    if not numbers:
        return function
    replaced = substitute(function, numbers)
    return rewrite(
        replaced, lambda node: fold_constants(node) if isinstance(node, PrimExpr) else None
    )
