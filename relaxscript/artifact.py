"""Compiled programs as files: `save`, `load`, and what a file says of itself, `inspect`.

    manifest.json          the format and its version, the target, and of each other file how long
                           it is and its SHA-256
    module.py              the script of the module, of which no Python is ever evaluated
    weights.safetensors    its large constants, "0", "1" and so on

A saved program is a zip of these three. None is compressed, so that nothing in it can be larger
than the file. There is no machine code in it: loading compiles for the computer that loads. A file
may come from a stranger, so all of it is checked before any of it is used.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any, NoReturn

import numpy as np

from .compiler import build
from .dtypes import DataType, result_dtype
from .errors import Diagnostic, DiagnosticError, InternalError
from .errors.exceptions import is_user_error
from .errors.files import open_regular, replaced
from .ir import prim, relax, tir
from .ir.module import IRModule, Target, as_target
from .ir.relax import Attrs
from .ir.structural_equality import structural_equal
from .ir.walk import walk
from .opdef.user_operators import is_user_operator
from .runtime import Executable, VirtualMachine
from .runtime.builtins import BUILTINS
from .runtime.kv_cache.packed import CACHE_FUNCTIONS
from .runtime.sampling import SAMPLING_FUNCTIONS
from .runtime.values import kind_of
from .script.parser.from_source import read_again
from .script.printer.module import constants_of
from .semantics.prim_funcs import symbol_of
from .transform.lower.legacy_lowering import remove_shape_heaps
from .transform.normalize.normalize import normalize_module
from .transform.vdevice.realize_vdevice import realize_vdevices
from .version import __version__
from .weights.header import Array, array_of, bytes_of, read_header

__all__ = ["FORMAT_VERSION", "Contents", "inspect", "load", "readable", "save"]

__tracebackhide__ = is_user_error

FORMAT = "relaxscript program"
FORMAT_VERSION = 1
MANIFEST, MODULE, WEIGHTS = "manifest.json", "module.py", "weights.safetensors"
# A script takes about 60 characters a binding, and half a second to read for each million of them.
_LONGEST = {MANIFEST: 1 << 22, MODULE: 1 << 24}
# Dtypes that other readers of safetensors know; the others are kept as bytes.
_PLAIN = frozenset({
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64",
})  # fmt: skip


@dataclass(frozen=True)
class Contents:
    """The contents of a file: its module, the target it was built for, the version that wrote it.

    `packed_funcs` and `c_functions` are what the program calls that is not in the file; `addressed`
    are those C functions that it gives addresses to, or takes addresses from: these can reach all
    memory.
    """

    module: IRModule
    target: Target
    made_by: str
    packed_funcs: tuple[str, ...]
    c_functions: tuple[str, ...]
    addressed: tuple[str, ...] = ()

    @property
    def constants(self) -> list[Array]:
        """The arrays that the script of the module refers to, by their numbers."""
        return [constant.data for constant in constants_of(self.module)]


# ---------------------------------------------------------------- writing


def save(executable: Executable | VirtualMachine, path: str | os.PathLike[str]) -> None:
    """Write a program that `build` made to a file, which `load` reads on any computer.

    Of a machine it is the program that it runs. A file of that name is replaced, once the new one
    is complete. Raises `DiagnosticError`: RX0704 for what is no executable, was not made of a
    module or is too long. RX0701 where the file cannot be written.
    """
    if isinstance(executable, VirtualMachine):
        executable = executable.executable
    if not isinstance(executable, Executable):
        what = f"`{executable.__name__}`" if isinstance(executable, IRModule) else "this"
        message = f"a program is saved when it is built, and {what} is {kind_of(executable)}"
        help = "write `rx.save(rx.build(...), path)`"
        raise DiagnosticError(Diagnostic("RX0704", message, None, help=help))
    origin = executable.origin
    if origin is None:
        message = "an executable that no module was built to cannot be saved"
        help = "save what `rx.build(module)` gives"
        raise DiagnosticError(Diagnostic("RX0704", message, None, help=help))
    module, target = origin
    if module.external_mods:
        symbols = ", ".join(f"`{name}`" for made in module.external_mods for name in made)
        message = f"functions of code generators are not saved, and the program has {symbols}"
        help = "save the module before `RunCodegen`, and run it on what you load"
        raise DiagnosticError(Diagnostic("RX0704", message, None, help=help))
    content = _archive_bytes(normalize_module(realize_vdevices(module)), target)
    try:
        with replaced(path) as file:
            file.write(content)
    except OSError as error:
        _refuse(path, error.strerror or str(error), verb="write")


def _archive_bytes(module: IRModule, target: Target) -> bytes:
    constants = constants_of(module)
    text = module.script(show_meta=False)
    if not structural_equal(module, read_again(text, MODULE, _metadata(constants))):
        raise InternalError("the script of a module that was built reads as another module")
    files = {MODULE: text.encode(), WEIGHTS: bytes_of(_weight_arrays(constants))}
    manifest = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "made_by": f"relaxscript {__version__}",
        "target": {"kind": target.kind, **dict(target.attrs)},
        "weights": [
            {"dtype": str(result_dtype(c.data)), "shape": list(c.data.shape)} for c in constants
        ],
        "files": {
            name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            for name, content in files.items()
        },
    }
    written = {MANIFEST: json.dumps(manifest, indent=2).encode(), **files}
    for name, longest in _LONGEST.items():
        if len(written[name]) > longest:
            message = f"the program is too long for a file: {name} would have over {longest} bytes"
            raise DiagnosticError(Diagnostic("RX0704", message, None))
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, content in written.items():
            # Without a date, so that the same program is the same file.
            archive.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue()


def _weight_arrays(constants: Iterable[relax.Constant]) -> dict[str, Array]:
    """The arrays of constants by their numbers, those of unusual types as bytes."""
    stored = {}
    for number, constant in enumerate(constants):
        data = np.ascontiguousarray(constant.data).reshape(constant.data.shape)
        plain = str(result_dtype(data)) in _PLAIN
        stored[str(number)] = data if plain else np.frombuffer(data.tobytes(), np.uint8)
    return stored


def _metadata(constants: list[relax.Constant]) -> dict[str, Any]:
    return {"relax.expr.Constant": constants}


# ---------------------------------------------------------------- reading


def load(
    path: str | os.PathLike[str], allowed: Iterable[str] = (),
    target: str | Target | Mapping[str, Any] | None = None,
) -> Executable:  # fmt: skip
    """Read a program that `save` wrote and compile it for this computer.

    `allowed` are the names of the PackedFuncs and C functions outside of the file that the program
    may call; `target` is instead of the one for which it was built. Nothing in the file is run, and
    all of it is checked first. Raises `DiagnosticError`: RX0701 for a file that cannot be read, is
    damaged or of a later version. RX0705 for a program that calls what was not allowed, and the
    errors of its module. Indices are always checked, whatever the options of the build were. The
    memory that native code makes begins as zeros.
    """
    found = inspect(path)
    may = set(allowed)
    refused = [name for name in (*found.packed_funcs, *found.c_functions) if name not in may]
    if refused:
        names = ", ".join(f"`{readable(name)}`" for name in refused)
        listed = ", ".join(repr(name) for name in sorted({*may, *refused}))
        message = f"the program calls {names}, which was not allowed"
        help = f"if you trust it, write `allowed=[{listed}]`"
        raise DiagnosticError(Diagnostic("RX0705", message, None, help=help))
    wanted = _with_checks(found.target) if target is None else _requested_target(target)
    # What the process kept in memory that is free now is none of the program's business.
    made_for = Target(wanted.kind, Attrs({**wanted.attrs, "zero-memory": "1"}))
    executable = build(found.module, made_for)
    module, kind = executable.origin[0], executable.origin[1].kind
    executable.origin = (module, Target(kind, wanted.attrs))
    return executable


def _with_checks(target: Target) -> Target:
    """The target without the option that leaves checks out: who wrote a file may not choose that.

    An option that no target has is left, for `build` to refuse.
    """
    return Target(target.kind, Attrs({k: v for k, v in target.attrs.items() if k != "check"}))


def _requested_target(given: str | Target | Mapping[str, Any]) -> Target:
    """The target that a caller wants, which cannot leave out checks either."""
    target = as_target(given)
    if _with_checks(target).attrs != target.attrs and str(target.attrs["check"]) != "1":
        message = "the indices of a program that was read from a file are always checked"
        help = "leave out the option `check`"
        raise DiagnosticError(Diagnostic("RX0703", message, None, help=help))
    return target


def inspect(path: str | os.PathLike[str]) -> Contents:
    """Read the contents of a file without running or compiling them. Raises as `load`."""
    files = _files(path)
    manifest = _manifest(path, files)
    constants = _constants(path, manifest, files[WEIGHTS])
    target = _target(path, manifest)
    try:
        text = files[MODULE].decode()
    except UnicodeDecodeError:
        _refuse(path, f"it is damaged: {MODULE} is not text")
    module = read_again(text, f"{os.fspath(path)}/{MODULE}", _metadata(constants))
    if not isinstance(module, IRModule):
        _refuse(path, f"it is damaged: {MODULE} holds no module")
    module = remove_shape_heaps(module)
    packed, c, addressed = _external_functions(module)
    return Contents(module, target, str(manifest.get("made_by", "")), packed, c, addressed)


def _files(path: str | os.PathLike[str]) -> dict[str, bytes]:
    """The three files of the archive, read whole: none is longer than the archive."""
    try:
        with open_regular(path) as file:
            length = os.fstat(file.fileno()).st_size
            if not zipfile.is_zipfile(file):
                _refuse(path, "it is no saved program")
            with zipfile.ZipFile(file) as archive:
                entries = archive.infolist()
                names = [entry.filename for entry in entries]
                if sorted(names) != sorted((MANIFEST, MODULE, WEIGHTS)):
                    _refuse(path, "it is no saved program")
                for entry in entries:
                    _check_entry(path, entry, length)
                return {name: archive.read(name) for name in names}
    except DiagnosticError:
        raise
    except OSError as error:
        _refuse(path, error.strerror or str(error))
    except Exception as error:  # `zipfile` raises what it likes at damaged archives
        _refuse(path, f"it is damaged: {error}")


def _check_entry(
    path: str | os.PathLike[str], entry: zipfile.ZipInfo, length: int
) -> None:  # fmt: skip
    stored = entry.compress_type == zipfile.ZIP_STORED and entry.file_size == entry.compress_size
    if not stored or entry.file_size > length:
        _refuse(path, f"it is damaged: {entry.filename} is not stored as it is")
    longest = _LONGEST.get(entry.filename, length)
    if entry.file_size > longest:
        _refuse(path, f"{entry.filename} is longer than {longest} bytes")


def _manifest(path: str | os.PathLike[str], files: Mapping[str, bytes]) -> dict[str, Any]:
    """The manifest; the other files are those of which it speaks."""
    try:
        manifest = json.loads(files[MANIFEST])
    except (ValueError, RecursionError):
        _refuse(path, f"it is damaged: {MANIFEST} is not JSON")
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        _refuse(path, "it is no saved program")
    version = manifest.get("version")
    if type(version) is not int or version < 1:
        _refuse(path, f"it is damaged: {MANIFEST} has no version")
    if version > FORMAT_VERSION:
        _refuse(
            path, f"its format has version {version}, and this is relaxscript {__version__}, which "
            f"reads version {FORMAT_VERSION}", help="use a later relaxscript",
        )  # fmt: skip
    said = manifest.get("files")
    for name in (MODULE, WEIGHTS):
        real = {"bytes": len(files[name]), "sha256": hashlib.sha256(files[name]).hexdigest()}
        if not isinstance(said, dict) or said.get(name) != real:
            _refuse(path, f"it is damaged: {name} is not what {MANIFEST} says")
    return manifest


def _constants(
    path: str | os.PathLike[str], manifest: Mapping[str, Any], content: bytes
) -> list[relax.Constant]:
    described = manifest.get("weights")
    try:
        tensors, _ = read_header(content)
        if not isinstance(described, list) or len(described) != len(tensors):
            raise ValueError("their number is not that of the manifest")
        stored = (array_of(content, tensors[str(i)]) for i in range(len(described)))
        return [_constant(array, said) for array, said in zip(stored, described, strict=True)]
    except (ArithmeticError, KeyError, MemoryError, TypeError, ValueError) as error:
        _refuse(path, f"it is damaged: the weights cannot be read: {error}")


def _constant(array: Array, said: Mapping[str, Any]) -> relax.Constant:
    dtype, shape = DataType(said["dtype"]), tuple(said["shape"])
    if not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError("a shape is a list of sizes")
    if str(dtype) not in _PLAIN:
        array = np.frombuffer(array.tobytes(), dtype.numpy).reshape(shape)
    if array.shape != shape or result_dtype(array) != dtype:
        raise ValueError("they are not what the manifest says")
    return relax.Constant(array)


def _target(path: str | os.PathLike[str], manifest: Mapping[str, Any]) -> Target:
    said = manifest.get("target")
    plain = (str, int, float, bool)
    if (
        not isinstance(said, dict)
        or not isinstance(said.get("kind"), str)
        or not all(isinstance(value, plain) for value in said.values())
    ):
        _refuse(path, f"it is damaged: {MANIFEST} has no target")
    return Target(said["kind"], Attrs({key: v for key, v in said.items() if key != "kind"}))


def _external_functions(module: IRModule) -> tuple[tuple[str, ...], ...]:
    """The PackedFuncs and the C functions that a module calls and neither it nor we define.

    Operators that users define are among the first. Behind these, the C functions that handle
    addresses. Intrinsics of LLVM handle none.

    In a Relax function, the name of a packed function means the PrimFunc of that symbol where there
    is one. Otherwise it means a builtin of the machine; a PrimFunc always means what is registered.
    """
    ours = {*BUILTINS, *CACHE_FUNCTIONS, *SAMPLING_FUNCTIONS} - {
        var.name_hint for var in module.functions
    }
    ours |= {symbol_of(f) or "" for f in module.functions.values() if isinstance(f, tir.PrimFunc)}
    packed: set[str] = set()
    c: set[str] = set()
    addressed: set[str] = set()
    for function in module.functions.values():
        for node in walk(function):
            match node:
                case relax.ExternFunc(global_symbol=symbol) if symbol not in ours:
                    packed.add(symbol)
                case relax.Op(name=name) if is_user_operator(name):
                    packed.add(name)
                case prim.Call(op="tir.call_extern" | "tir.call_pure_extern", args=(name, *rest)):
                    c.add(_text(name))
                    given = [e for e in rest if not isinstance(e, prim.StringImm)]
                    if any(e.dtype.kind == "handle" for e in (node, *given)):
                        addressed.add(_text(name))
                case prim.Call(op="tir.tvm_call_packed" | "tir.tvm_call_cpacked", args=(name, *_)):
                    packed.add(_text(name))
    return tuple(sorted(packed)), tuple(sorted(c)), tuple(sorted(addressed))


def readable(text: str) -> str:
    """A string of a stranger, without what would change a terminal."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _text(name: prim.PrimExpr) -> str:
    return name.value if isinstance(name, prim.StringImm) else str(name)


def _refuse(
    path: str | os.PathLike[str], reason: str, verb: str = "read", help: str | None = None
) -> NoReturn:
    message = f"cannot {verb} `{os.fspath(path)}`: {reason}"
    raise DiagnosticError(Diagnostic("RX0701", message, None, help=help)) from None
