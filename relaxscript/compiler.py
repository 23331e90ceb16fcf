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

from .analysis.repeatable import REPEATABLE, is_repeatable
from .analysis.well_formedness import diagnose_ill_formed
from .codegen.backend import BACKENDS, Backend, backend_for, register_backend, unknown_name
from .codegen.program_cache import find_kept_build
from .codegen.vm import Kernel, codegen
from .errors import Diagnostic, DiagnosticError
from .errors.exceptions import is_user_error
from .explainer import Explainer
from .interpreter.element_copies import copy_elements
from .interpreter.tir import evaluate
from .ir import relax, tir
from .ir.calling import home_of, set_home
from .ir.module import IRModule, Target
from .ir.walk import post_order, walk
from .ir.written_size import MOST_PARTS, size_when_written
from .runtime import Device, Executable, VirtualMachine
from .runtime.coercion import call_packed
from .runtime.collector import collector_paused
from .runtime.progress import showing_progress
from .runtime.unoptimised import Unoptimised
from .transform.lower.remove_redundant_checks import RemoveRedundantChecks
from .transform.lower.remove_unused_checks import RemoveUnusedChecks
from .transform.normalize.normalize import normalize_module
from .transform.pass_infra.context import PassContext
from .transform.pass_infra.passes import Pass
from .transform.pass_infra.run_pipeline import PipelineLike, run_pipeline
from .transform.pipeline import OUR_PIPELINES, build_pipelines, optimises
from .transform.specialize.bind_weights import with_params
from .transform.vdevice.device_calls import listed_devices, named_device
from .transform.vdevice.realize_vdevice import realize_vdevices

__all__ = [
    "VirtualMachine", "build", "compile", "evaluate_prim_func", "jit", "run_function",
    "with_params",
]  # fmt: skip

__tracebackhide__ = is_user_error

_Made = tuple[Executable, Mapping[str, Kernel]]
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

    `params` maps names of parameters to arrays, which become constants. The parameters are those of
    `main`, or of all public functions where there is none. Arrays of `load_weights` are not copied.
    A function with the attribute `num_input` takes an array for each parameter after its inputs. A
    pipeline is a name, None, passes in a row or a function from module to module. The
    relax_pipeline lowers the module: bytecode is made of calls, `if` and results only, and what it
    leaves is refused. `get_pipeline("default")` is the default one, whose `script()` names its
    passes; "default_build" also plans memory. Both `exec_mode`s, "bytecode" and "compiled", make
    bytecode at present.

    `remove_checks` says which run-time checks to leave out beside those that are seen at once to
    hold: "redundant" what earlier checks imply (`transform.RemoveRedundantChecks`), which changes
    nothing else; "unused" all that give no shape variable a value that is used
    (`transform.RemoveUnusedChecks`). A value that is not as the program says then goes unnoticed.

    Raises `DiagnosticError`: what the program does wrong, with its place; RX0703 for an unknown
    target, option, pipeline, mode or kind of device. RX0712 for names in `params` that are missing
    or that no parameter has, RX0206 for arrays that do not fit: all of them, and nothing is built.
    """
    module = _as_module(mod)
    made_for = _target(target)
    if exec_mode not in _EXEC_MODES:
        raise unknown_name("execution mode", str(exec_mode), _EXEC_MODES)
    # A function that lowers is a program of the user's, and keeps the collector as it likes.
    ours = relax_pipeline in OUR_PIPELINES and tir_pipeline == "default"

    def make(module: IRModule, params: Mapping[str, Any] | None) -> _Made:
        return _make(module, made_for, params, relax_pipeline, tir_pipeline, remove_checks)

    with showing_progress("building"), collector_paused() if ours else nullcontext():
        kept = None
        if ours and _has_code(made_for):
            settings = str(relax_pipeline), str(remove_checks)
            kept = find_kept_build(module, made_for, params, settings, make)
        return make(module, params)[0] if kept is None else kept.program(module, params)


def _has_code(target: Target) -> bool:
    """True if code is made for a target that is worth to be kept."""
    return target.kind == "llvm" and target.attrs.get("opt-level") not in (0, "0")


def _make(
    module: IRModule, target: Target, params: Mapping[str, Any] | None,
    relax_pipeline: PipelineLike, tir_pipeline: PipelineLike, remove_checks: str | None,
) -> _Made:  # fmt: skip
    """The program of a module, and the kernels of its PrimFuncs."""
    _require_devices(module)
    _require_bounded(module)
    with diagnose_ill_formed(module):
        if remove_checks is not None:
            module = _without_checks(module, remove_checks)
        if params:
            module = with_params(normalize_module(realize_vdevices(module)), params)
        lower = partial(_lower, module, target, relax_pipeline, tir_pipeline)
        lowered = lower()
        kernels = _kernels(lowered, target)
        executable = _link(lowered, kernels, target)
    executable.origin = (module if relax_pipeline == "default" else lowered, target)
    timed = partial(build_timed, module, target, relax_pipeline, tir_pipeline)
    executable.explainer = Explainer(target, lower, timed, PassContext.current())
    if relax_pipeline == "default":
        executable.unoptimised = _unoptimised(module, lowered, target)
    return executable, kernels


def build_timed(
    module: IRModule, target: Target, relax_pipeline: PipelineLike, tir_pipeline: PipelineLike
) -> Executable:
    """The same program for a profile: native code that takes the times of what it calls."""
    target = Target(target.kind, relax.Attrs({**target.attrs, "profile": 1}))
    return build(module, target, None, relax_pipeline, tir_pipeline)


def _lower(
    module: IRModule, target: Target, relax_pipeline: PipelineLike, tir_pipeline: PipelineLike
) -> IRModule:
    """The module after both pipelines."""
    with _evaluating_for(target):
        lowered = run_pipeline(
            module, relax_pipeline, "relax_pipeline", build_pipelines(target), OUR_PIPELINES
        )
    named = {"default": _nothing}
    return run_pipeline(lowered, tir_pipeline, "tir_pipeline", named, ["default"])


compile = build  # TVM's name for it since 0.20


def jit(
    mod: IRModule | relax.BaseFunc,
    target: str | Target | Mapping[str, Any] | None = None,
    device: Device | str | Sequence[Device | str] | None = None,
    *,
    params: Mapping[str, Any] | None = None,
    remove_checks: str | None = None,
) -> VirtualMachine:
    """Compile a module and load it: `jit(mod).main(x)`. Takes and raises what `build` does."""
    made = build(mod, target, params, exec_mode="compiled", remove_checks=remove_checks)
    return VirtualMachine(made, device)


def _unoptimised(module: IRModule, lowered: IRModule, target: Target) -> Unoptimised | None:
    """The way to the module compiled operator by operator, None where that is what is built."""
    if not optimises(target):
        return None
    plain = Target(target.kind, relax.Attrs({**target.attrs, "opt-level": 0}))
    marked = {
        var.name_hint
        for var, function in lowered.relax_functions().items()
        if function.attrs is not None and REPEATABLE in function.attrs
    }
    return Unoptimised(
        partial(build, module, plain), lambda name: name in marked or is_repeatable(module, name)
    )


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
    if copy_elements(function, args):  # A compilation takes longer than all copies.
        return
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


def _link(module: IRModule, kernels: Mapping[str, Kernel], target: Target) -> Executable:
    """The program of a lowered module, with kernels and with native functions for a target."""
    executable = codegen(module, kernels).link(_external(module))
    executable.entries = backend_for(target).entries(module, kernels)
    executable.counters = _counters(kernels, target)
    return executable


def _counters(kernels: Mapping[str, Kernel], target: Target) -> tuple[Any, ...]:
    """The times that kernels take themselves, where they do."""
    if "profile" not in target.attrs:
        return ()
    found = (getattr(kernel, "counters", None) for kernel in kernels.values())
    return tuple(dict.fromkeys([each for each in found if each is not None]))


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
