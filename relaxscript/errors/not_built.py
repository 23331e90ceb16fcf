"""Names that users of TVM know and that are not built: what is said of them, and what to use.

A module takes one of the functions for its `__getattr__`. Importing such a name
from it raises `ImportError`, anything else `AttributeError`, so that `hasattr` answers. Modules of
TVM by their whole names are asked for in `absent_modules.py`.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Mapping
from typing import Any

from .user_frame import caller_frame

__all__ = [
    "PASSES",
    "no_such_name",
    "of_backend",
    "of_frontend",
    "of_ir",
    "of_package",
    "of_relax",
    "of_relax_transform",
    "of_runtime",
    "of_schedule",
    "of_script",
    "of_te",
    "of_tir",
    "of_transform",
    "words_on",
]  # fmt: skip

_SCHEDULES = "`relaxscript.tir.Schedule` changes loops step by step"
_IMPORTERS = "write the model with `relax.frontend.nn`, and give it the weights by name"

_HERE = "programs run on this computer, by `relax.VirtualMachine`"
_LIBRARIES = (
    "`relax.backend.numpy_blas` calls a library, and `relaxscript.build` makes code of all else"
)

_PACKAGE = {
    "dlight": f"`relaxscript.transform.ApplyDefaultSchedule()` arranges all loops; {_SCHEDULES}",
    "meta_schedule": _SCHEDULES,
    "autotvm": _SCHEDULES,
    "auto_scheduler": _SCHEDULES,
    "tirx": "PrimFuncs and their parts are in `relaxscript.tir`",
    "relay": "models are written in Relax; `relaxscript.relax` has its names",
    "rpc": _HERE,
    "exec": _HERE,
    "support": "`relaxscript doctor` tells what this computer has",
    "contrib": "register what a program calls by `relaxscript.register_func`",
    "driver": "`relaxscript.build` compiles modules",
    "micro": _HERE,
}
_RELAX: dict[str, str] = {}
_FRONTEND = dict.fromkeys(("onnx", "stablehlo", "tflite", "torch"), _IMPORTERS)
_TIR = {
    "TensorIntrin": _SCHEDULES,
    "tensor_intrin": _SCHEDULES,
}
_RUNTIME = {
    "disco": _HERE,
    "profiling": "`vm.profile` measures a call, and gives a `relaxscript.runtime.Report`",
}
_SCRIPT = {"relay": "models are written in Relax: `relaxscript.script.relax`"}
_BACKEND = dict.fromkeys(("contrib", "cuda", "gpu_generic", "metal", "rocm"), _LIBRARIES)
_TE = {
    "create_schedule": "`tir.Schedule` changes the loops of `te.create_prim_func`",
    "Schedule": _SCHEDULES,
    "scan": "write the loop in `@T.prim_func`",
    "gradient": "write the gradient as tensor expressions of its own",
    "hybrid": "write the loops in `@T.prim_func`",
    "extern_primfunc": "call a PrimFunc by `R.call_tir`",
}
_IR: dict[str, str] = {}

_BY_PATTERN = "rewrite the calls by `relax.dpl.rewrite_call`, or by an `@R.rewriter` module"
_NO_TUNING = "leave it out, since nothing is tuned"
PASSES = {
    "tuning_api": _NO_TUNING,
}


_IN_PYTHON = "choose it in Python, and give it to the steps"
_IN_SCRIPT = "write it in `@T.prim_func`"
_SCHEDULE = {
    **dict.fromkeys(
        ("sample_categorical", "sample_compute_location", "sample_perfect_tile"), _IN_PYTHON
    ),
    **dict.fromkeys(("blockize", "merge", "rolling_buffer"), _IN_SCRIPT),
    "add_unit_loop": "`sch.split(loop, [None, 1])` makes a loop of one iteration",
    "decompose_padding": "`sch.compute_inline` writes padding where it is read",
    "get_sref": "`sch.get` gives the node of a block or loop",
    "reindex": "`sch.cache_read` copies a buffer",
    "set_scope": "`sch.cache_write` takes the storage scope of the new buffer",
    "storage_align": "`sch.cache_read` copies a buffer",
    "tensorize": "`sch.vectorize` makes vectors of a loop",
    "transform_block_layout": "`sch.split`, `sch.fuse` and `sch.reorder` change loops",
    "transform_layout": "`sch.cache_read` copies a buffer",
}


# Modules of TVM that are none here, by the facade that has their names.
_IN_FACADE = {
    "relaxscript.relax.frontend": ("common",),
    "relaxscript.runtime": ("ndarray", "relax_vm", "vm"),
    "relaxscript.tir": ("generic",),
}
_MODULES: dict[str, Mapping[str, str]] = {
    "relaxscript": _PACKAGE,
    "relaxscript.relax.backend": _BACKEND,
    "relaxscript.relax.frontend": _FRONTEND,
    "relaxscript.runtime": _RUNTIME,
    "relaxscript.script": _SCRIPT,
    "relaxscript.te": {"hybrid": _TE["hybrid"], "schedule": _SCHEDULES},
    "relaxscript.tir": _TIR,
}


def words_on(fullname: str) -> str | None:
    """The words on a module of TVM that is not here; None for any other name."""
    module, _, name = fullname.rpartition(".")
    if name in _IN_FACADE.get(module, ()):
        return f"`{fullname}` is no module here; its names are in `{module}`"
    instead = _MODULES.get(module, {}).get(name)
    return None if instead is None else f"`{fullname}` is not built yet; {instead}"


def of_backend(name: str) -> Any:
    """`__getattr__` of `relaxscript.relax.backend`."""
    raise no_such_name("relaxscript.relax.backend", name, _BACKEND)


def of_runtime(name: str) -> Any:
    """`__getattr__` of `relaxscript.runtime` for a name that it has not."""
    raise no_such_name("relaxscript.runtime", name, _RUNTIME)


def of_script(name: str) -> Any:
    """`__getattr__` of `relaxscript.script`."""
    raise no_such_name("relaxscript.script", name, _SCRIPT)


def of_package(name: str) -> Any:
    """`__getattr__` of the package for a name that it has not."""
    raise no_such_name("relaxscript", name, _PACKAGE)


def of_relax(name: str) -> Any:
    """`__getattr__` of `relaxscript.relax`."""
    raise no_such_name("relaxscript.relax", name, _RELAX)


def of_frontend(name: str) -> Any:
    """`__getattr__` of `relaxscript.relax.frontend`."""
    raise no_such_name("relaxscript.relax.frontend", name, _FRONTEND)


def of_tir(name: str) -> Any:
    """`__getattr__` of `relaxscript.tir`."""
    raise no_such_name("relaxscript.tir", name, _TIR)


def of_transform(name: str) -> Any:
    """`__getattr__` of `relaxscript.transform`."""
    raise no_such_name("relaxscript.transform", name, PASSES)


def of_relax_transform(name: str) -> Any:
    """`__getattr__` of `relaxscript.relax.transform`."""
    raise no_such_name("relaxscript.relax.transform", name, PASSES)


def of_schedule(name: str) -> str | None:
    """Words for a step that `tir.Schedule` has not; None for a name that is none of TVM's."""
    instead = _SCHEDULE.get(name)
    return None if instead is None else f"`tir.Schedule.{name}` is not built yet; {instead}"


def of_te(name: str) -> Any:
    """`__getattr__` of `relaxscript.te`."""
    raise no_such_name("relaxscript.te", name, _TE)


def of_ir(name: str) -> Any:
    """`__getattr__` of `relaxscript.ir`."""
    raise no_such_name("relaxscript.ir", name, _IR)


def no_such_name(module: str, name: str, absent: Mapping[str, str]) -> Exception:
    """The error for a name that a module has not; one of `absent` is known, with what to use."""
    said = words_on(f"{module}.{name}")
    if said is None and name not in absent:
        text = f"module `{module}` has no attribute `{name}`"
        return AttributeError(text, name=name, obj=sys.modules[module])
    text = said or f"`{module}.{name}` is not built yet; {absent[name]}"
    if _is_imported():
        return ImportError(text, name=name)
    return AttributeError(text, name=name, obj=sys.modules[module])


def _is_imported() -> bool:
    """True if it is `from ... import` that asks for the name."""
    frame = caller_frame()
    if frame is None:
        return False
    return dis.opname[frame.f_code.co_code[frame.f_lasti]] == "IMPORT_FROM"
