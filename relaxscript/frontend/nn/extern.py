"""Functions in C that a model calls: in a shared object, or as source that is compiled here.

    scale = nn.SourceModule(
        {"scale": lambda x, factor: nn.Tensor.placeholder(x.shape, x.dtype)},
        source_code=code, source_format="c",
    )

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        return self.scale["scale"](x, 2.0)

The C function takes a `DLTensor *` for each tensor, `int64_t` for integers and `double` for floats.
Last come the `DLTensor *` of the results, whose memory it writes. It gives 0, or another number
where it fails. The header is `<dlpack/dlpack.h>`.

Source: TVM `relax.frontend.nn.extern`.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from relaxscript.errors import Diagnostic, DiagnosticError, VMError, did_you_mean, nearest
from relaxscript.errors.user_frame import caller_span
from relaxscript.runtime.dlpack import dl_tensor
from relaxscript.runtime.values import DeviceTensor, Prim, kind_of, tensor_dtype
from relaxscript.script import relax as R

from .exporter import Exporter
from .tensor import expression, wrap_nested
from .trace import Trace

__all__ = ["ExternModule", "ObjectModule", "SourceModule", "add_extern"]

_SUFFIXES = {"c": ".c", "cpp": ".cpp"}
_COMPILERS = {"c": ("cc", "gcc", "clang"), "cpp": ("c++", "g++", "clang++")}

_HEADER = """
#ifndef RELAXSCRIPT_DLPACK_H_
#define RELAXSCRIPT_DLPACK_H_
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef struct { int32_t device_type; int32_t device_id; } DLDevice;
typedef struct { uint8_t code; uint8_t bits; uint16_t lanes; } DLDataType;
typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides;
  uint64_t byte_offset;
} DLTensor;
#ifdef __cplusplus
}
#endif
#endif
"""


class ExternModule(ABC):
    """Functions outside of the model; `symbols` maps each name to a function of its arguments.

    That function gives a tensor of the shape and dtype of the result, or a tuple of such. `load`
    gives the functions themselves, by name.
    """

    def __init__(self, symbols: Mapping[str, Callable[..., Any]]) -> None:
        self._symbols = dict(symbols)

    def __getitem__(self, func_name: str) -> Callable[..., Any]:
        """A function that calls this one. Raises `DiagnosticError` (RX0101) where there is none."""
        infer = self._symbols.get(func_name)
        if infer is None:
            names = ", ".join(f"`{name}`" for name in self._symbols)
            raise DiagnosticError(
                Diagnostic(
                    "RX0101", f"the extern module has no function `{func_name}`", caller_span(),
                    help=did_you_mean(nearest(func_name, self._symbols), f"it has {names}"),
                )
            )  # fmt: skip

        def call(*args: Any) -> Any:
            add_extern(self)
            results = infer(*args)
            several = isinstance(results, (tuple, list))
            infos = [result.struct_info for result in (results if several else [results])]
            given = [_argument(arg) for arg in args]
            made = R.call_dps_packed(func_name, given, infos if several else infos[0])
            return wrap_nested(made, func_name)

        return call

    @abstractmethod
    def load(self) -> dict[str, Callable[..., Any]]:
        """The functions by name."""


class ObjectModule(ExternModule):
    """Functions of a shared object, which is a file.

    Raises `DiagnosticError` (RX0701) where the file is not there.
    """

    def __init__(self, symbols: Mapping[str, Callable[..., Any]], filepath: str | Path) -> None:
        super().__init__(symbols)
        self.filepath = str(filepath)
        if not os.path.isfile(self.filepath):
            message = f"there is no shared object `{self.filepath}`"
            help = f"it is looked for in `{os.getcwd()}`: give the path of a file"
            raise DiagnosticError(Diagnostic("RX0701", message, caller_span(), help=help))

    def load(self) -> dict[str, Callable[..., Any]]:
        """The functions of the file. Raises `DiagnosticError` (RX0701) where it has them not."""
        return _functions(self.filepath, self._symbols)


class SourceModule(ExternModule):
    """Functions in C or C++ (`source_format` "c" or "cpp"), which a compiler makes.

    `source_code` is the text, or the path of a file. `compile_options` are added to `-O2`, and
    `compiler` is the command, looked for unless it is given. In C++ they are `extern "C"`.
    """

    def __init__(
        self, symbols: Mapping[str, Callable[..., Any]], source_code: str | Path,
        source_format: str, compile_options: Sequence[str] | None = None,
        compiler: str | None = None, output_format: str = "obj",
    ) -> None:  # fmt: skip
        super().__init__(symbols)
        if source_format not in _SUFFIXES:
            raise _mistake(
                f"there is no source format `{source_format}`",
                did_you_mean(nearest(str(source_format), _SUFFIXES), 'write "c" or "cpp"'),
            )
        if output_format != "obj":
            raise _mistake(
                f"source is not compiled to `{output_format}`", "leave out `output_format`"
            )
        is_file = isinstance(source_code, Path) or "\n" not in source_code
        self.source_code = _text_of(source_code) if is_file else str(source_code)
        self.source_format = source_format
        self.compile_options = list(compile_options or ())
        self.compiler = compiler
        self._loaded: dict[str, Callable[..., Any]] | None = None

    def load(self) -> dict[str, Callable[..., Any]]:
        """The compiled functions, which are made once.

        Raises `DiagnosticError`: RX0702 where no compiler is found, RX0703 for what it refuses, and
        RX0701 for functions that the source has not.
        """
        if self._loaded is None:
            # A library that is loaded needs its file no more.
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                library = self._compile(Path(folder))
                self._loaded = _functions(str(library), self._symbols)
        return self._loaded

    def _compile(self, folder: Path) -> Path:
        source = folder / f"extern{_SUFFIXES[self.source_format]}"
        source.write_text(self.source_code, "utf-8")
        (folder / "dlpack").mkdir()
        (folder / "dlpack" / "dlpack.h").write_text(_HEADER, "utf-8")
        library = folder / "extern.so"
        options = ["-O2", "-shared", "-fPIC", f"-I{folder}", *self.compile_options]
        command = [self._find_compiler(), *options, str(source), "-o", str(library)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            said = tuple(line for line in done.stderr.splitlines() if "error" in line)
            raise _mistake(f"`{command[0]}` refuses the source", None, said)
        return library

    def _find_compiler(self) -> str:
        wanted = (self.compiler,) if self.compiler else _COMPILERS[self.source_format]
        found = next(filter(None, map(shutil.which, wanted)), None)
        if found is None:
            names = " or ".join(f"`{name}`" for name in wanted)
            raise DiagnosticError(
                Diagnostic(
                    "RX0702", f"the source of an extern module needs a compiler, {names}",
                    caller_span(),
                    help="install one, name it by `compiler=`, or load a shared object: "
                    "`nn.ObjectModule`",
                )
            )  # fmt: skip
        return found


def add_extern(mod: ExternModule) -> None:
    """Have the export that is going on give this extern module as well."""
    if Trace.current() is not None:
        Exporter.current().add_external_module(mod)


def _argument(value: Any) -> Any:
    return R.prim_value(value) if isinstance(value, (int, float)) else expression(value)


def _functions(
    path: str, names: Sequence[str] | Mapping[str, Any]
) -> dict[str, Callable[..., Any]]:
    """The functions of a shared object by name."""
    try:
        library = ctypes.CDLL(os.path.abspath(path))
    except OSError as error:
        message = f"`{path}` is no shared object that can be loaded: {error}"
        raise DiagnosticError(Diagnostic("RX0701", message, caller_span())) from None
    absent = [name for name in names if not hasattr(library, name)]
    if absent:
        listed = ", ".join(f"`{name}`" for name in absent)
        raise DiagnosticError(
            Diagnostic(
                "RX0701", f"the shared object has no function {listed}", caller_span(),
                help='in C++ write `extern "C"` before each',
            )
        )  # fmt: skip
    return {name: _c_function(name, getattr(library, name)) for name in names}


def _c_function(name: str, function: Any) -> Callable[..., Any]:
    """A C function as one of arrays and numbers, the results of which are its last arguments."""

    def call(*args: Any) -> None:
        code = function(*[_c_argument(name, arg) for arg in args])
        if code:
            raise VMError(f"the C function `{name}` failed with the code {code}", code="RX0604")

    return call


def _c_argument(name: str, value: Any) -> Any:
    match value:
        case DeviceTensor():
            return ctypes.byref(dl_tensor(value))
        case _ if tensor_dtype(value) is not None:
            return ctypes.byref(dl_tensor(value))
        case Prim():
            return _c_argument(name, value.value)
        case bool() | int():
            return ctypes.c_int64(value)
        case float():
            return ctypes.c_double(value)
    raise VMError(
        f"the C function `{name}` takes tensors and numbers, not {kind_of(value)}", code="RX0610"
    )


def _text_of(path: str | Path) -> str:
    try:
        return Path(path).read_text("utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise _mistake(
            f"cannot read the source `{path}`: {reason}",
            "a string of one line is a path: end what is source with a new line",
        ) from None


def _mistake(message: str, help: str | None, notes: tuple[str, ...] = ()) -> DiagnosticError:
    return DiagnosticError(Diagnostic("RX0703", message, caller_span(), notes=notes, help=help))
