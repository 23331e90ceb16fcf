"""The text of native code: `Executable.imported_modules` and `Executable.get_source`.

    print(executable.get_source("ll"))
    print(executable.mod.imported_modules[0].get_source("asm"))  # as TVM's programs say it

The machine knows kernels as callables; those that were compiled have their text as attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeGuard

from relaxscript.errors import VMError

__all__ = ["NativeCode", "native_code"]

_FORMATS = {"": "optimised_ir", "ll": "optimised_ir", "s": "assembly", "asm": "assembly"}


class _Compiled(Protocol):
    """A kernel that knows the text of the module of LLVM in which it is."""

    @property
    def llvm_ir(self) -> str: ...
    @property
    def optimised_ir(self) -> str: ...
    @property
    def assembly(self) -> str: ...


def _is_compiled(linked: object) -> TypeGuard[_Compiled]:
    """Asks the class, since an instance would compute the texts."""
    return all(hasattr(type(linked), name) for name in ("llvm_ir", *_FORMATS.values()))


class NativeCode:
    """Kernels that are one module of LLVM, with TVM's names of a module of its runtime."""

    type_key = "llvm"

    def __init__(self, names: Sequence[str], kernel: _Compiled) -> None:
        self.names = tuple(names)
        self._kernel = kernel

    def get_source(self, fmt: str = "") -> str:
        """The text of the module: of LLVM after its optimisation ("ll", ""), or "asm", "s".

        It is made anew from what was compiled. Raises `VMError` (RX0608) for other formats.
        """
        if fmt not in _FORMATS:
            known = ", ".join(f'"{name}"' for name in _FORMATS if name)
            message = f"native code has no text in the format {fmt!r}"
            raise VMError(message, code="RX0608", notes=[f"formats: {known}"])
        text: str = getattr(self._kernel, _FORMATS[fmt])
        return text

    def __repr__(self) -> str:
        return f"<native code of {', '.join(self.names)}>"


def native_code(kernels: Mapping[str, Callable[..., Any]]) -> list[NativeCode]:
    """The modules of LLVM in which kernels are, in order; those that are not compiled have none."""
    modules: dict[str, tuple[list[str], _Compiled]] = {}
    for name, linked in kernels.items():
        if _is_compiled(linked):
            modules.setdefault(linked.llvm_ir, ([], linked))[0].append(name)
    return [NativeCode(names, kernel) for names, kernel in modules.values()]
