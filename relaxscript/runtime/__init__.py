"""The runtime of compiled programs: values, packed functions, checks, the virtual machine.

    values.py       what a Relax variable holds while a program runs
    packed_func.py  functions outside the program, called by name · dlpack.py  tensors for C
    checks.py · run_check.py  StructInfo at run time, as data and applied to values
    bytecode.py     the four instructions · executable.py  programs and their builder
    decode.py · argument_guard.py · dispatch.py · builtins.py · error_context.py  running them
    pooled_allocator.py  storages that are used again
    machine.py      the virtual machine as users see it
    stack_guard.py  how many runs may be inside of each other
    debug/          looking at runs: the stepper, the profiler, timings, instruments, Python text

Imports nothing of the compiler: what needs it is handed in as data and callables.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from relaxscript.errors import absent_modules, not_built

if TYPE_CHECKING:
    from .arrays import NDArray, empty, from_dlpack, tensor
    from .bytecode import (
        Arg,
        ArgKind,
        Call,
        Goto,
        If,
        Instruction,
        Ret,
        SpecialReg,
        VMFuncKind,
        VMFunction,
    )
    from .debug.benchmark import BenchmarkResult
    from .debug.report import Report
    from .debug.stepper import Stepper
    from .devices import (
        cuda,
        ext_dev,
        gpu,
        hexagon,
        metal,
        opencl,
        rocm,
        vpi,
        vulkan,
        webgpu,
    )
    from .dlpack import DLTensor
    from .executable import ExecBuilder, Executable, Module, VMExecutable
    from .machine import VirtualMachine, VMInstrumentReturnKind
    from .object_path import ObjectPath, ObjectPathPair
    from .packed_func import (
        PackedFunc,
        convert,
        get_global_func,
        list_global_func_names,
        register_func,
        register_global_func,
        remove_global_func,
    )
    from .run_check import (
        AnyCheck,
        Check,
        Dim,
        DimBind,
        DimConst,
        DimExpr,
        DimLoad,
        FuncCheck,
        PrimCheck,
        ShapeCheck,
        TensorCheck,
        TupleCheck,
    )
    from .values import (
        Closure,
        Device,
        DeviceTensor,
        Prim,
        Shape,
        ShapeTuple,
        cpu,
        device,
        to_tensor,
    )

__all__ = [
    "AnyCheck",
    "Arg",
    "ArgKind",
    "BenchmarkResult",
    "Call",
    "Check",
    "Closure",
    "DLTensor",
    "Device",
    "DeviceTensor",
    "Dim",
    "DimBind",
    "DimConst",
    "DimExpr",
    "DimLoad",
    "ExecBuilder",
    "Executable",
    "FuncCheck",
    "Goto",
    "If",
    "Instruction",
    "Module",
    "NDArray",
    "ObjectPath",
    "ObjectPathPair",
    "PackedFunc",
    "Prim",
    "PrimCheck",
    "Report",
    "Ret",
    "Shape",
    "ShapeCheck",
    "ShapeTuple",
    "SpecialReg",
    "Stepper",
    "TensorCheck",
    "TupleCheck",
    "VMExecutable",
    "VMFuncKind",
    "VMFunction",
    "VMInstrumentReturnKind",
    "VirtualMachine",
    "convert",
    "cpu",
    "cuda",
    "device",
    "empty",
    "ext_dev",
    "from_dlpack",
    "get_global_func",
    "gpu",
    "hexagon",
    "list_global_func_names",
    "metal",
    "opencl",
    "register_func",
    "register_global_func",
    "remove_global_func",
    "rocm",
    "tensor",
    "to_tensor",
    "vpi",
    "vulkan",
    "webgpu",
]

# Every room imports `values.py`, few of them the machine: the rest is imported when first used.
_HOME = {
    "arrays": ("NDArray", "empty", "from_dlpack", "tensor"),
    "debug.benchmark": ("BenchmarkResult",),
    "bytecode": (
        "Arg",
        "ArgKind",
        "Call",
        "Goto",
        "If",
        "Instruction",
        "Ret",
        "SpecialReg",
        "VMFuncKind",
        "VMFunction",
    ),
    "run_check": (
        "AnyCheck",
        "Check",
        "Dim",
        "DimBind",
        "DimConst",
        "DimExpr",
        "DimLoad",
        "FuncCheck",
        "PrimCheck",
        "ShapeCheck",
        "TensorCheck",
        "TupleCheck",
    ),
    "dlpack": ("DLTensor",),
    "devices": (
        "cuda",
        "ext_dev",
        "gpu",
        "hexagon",
        "metal",
        "opencl",
        "rocm",
        "vpi",
        "vulkan",
        "webgpu",
    ),
    "executable": (
        "ExecBuilder",
        "Executable",
        "Module",
        "VMExecutable",
    ),
    "machine": (
        "VirtualMachine",
        "VMInstrumentReturnKind",
    ),
    "packed_func": (
        "PackedFunc",
        "convert",
        "get_global_func",
        "list_global_func_names",
        "register_func",
        "register_global_func",
        "remove_global_func",
    ),
    "object_path": (
        "ObjectPath",
        "ObjectPathPair",
    ),
    "debug.report": ("Report",),
    "debug.stepper": ("Stepper",),
    "values": (
        "Closure",
        "Device",
        "DeviceTensor",
        "Prim",
        "Shape",
        "ShapeTuple",
        "cpu",
        "device",
        "to_tensor",
    ),
}


absent_modules.answer_for(__path__)


def __getattr__(name: str) -> Any:
    for home, names in _HOME.items():
        if name in names:
            value = getattr(import_module(f"{__name__}.{home}"), name)
            globals()[name] = value
            return value
    return not_built.of_runtime(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
