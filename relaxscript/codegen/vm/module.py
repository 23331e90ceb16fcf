"""A whole module as bytecode: its functions one after the other, then linked."""

from __future__ import annotations

from collections.abc import Mapping

from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.errors.exceptions import is_user_error
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import GlobalVar
from relaxscript.runtime import Executable
from relaxscript.semantics.error_context import span_of_signature

from .calls import CallEmitter
from .program import Kernel, Program
from .require_lowered import require_lowered

__all__ = ["codegen"]

__tracebackhide__ = is_user_error


def codegen(mod: IRModule, kernels: Mapping[str, Kernel] | None = None) -> Executable:
    """The bytecode of all Relax functions of a module, linked with what it calls.

    Of a module without Relax functions, the public PrimFuncs can be called.
    `kernels` maps the names of the module's PrimFuncs to callables that do what they say: they
    write into the arrays they are given. Functions must be typed, and lowered: `default_pipeline`.
    Raises `DiagnosticError` for programs that are not, or that have no meaning.
    """
    require_lowered(mod)
    program = Program(mod, kernels or {})
    for var, function in mod.relax_functions().items():
        name = program.name_of(var)
        try:
            CallEmitter(program, name, function).emit()
        except RecursionError:
            message = f"`{name}` is nested too deeply to be compiled"
            help = "split it into functions"
            found = Diagnostic("RX0104", message, span_of_signature(function), help=help)
            raise DiagnosticError(found) from None
    for name, prim_func in program.entries.items():
        _emit_entry(program, name, prim_func)
    made = {name: external.make(program.kernels) for name, external in program.externals.items()}
    executable = program.builder.get(made)
    executable.made_of, executable.kernels = dict(program.externals), program.kernels
    return executable


def _emit_entry(program: Program, name: str, var: GlobalVar) -> None:
    """A function that calls a PrimFunc, whose kernel checks the arguments."""
    function, builder = program.prim_func(var), program.builder
    buffers = function.buffer_map
    names = [buffers[p].name if p in buffers else p.name for p in function.params]
    with builder.function(name, len(names), names, pure=False, span=function.span):
        callee, result = program.entry_kernel(var), builder.r(len(names))
        args = [builder.r(i) for i in range(len(names))]
        builder.emit_call(callee, args, result, span=function.span)
        builder.emit_ret(result)
