"""IRModule: names bound to functions, with attributes and global infos (virtual devices).

A module maps `GlobalVar`s to functions in the order in which they were added. Functions are frozen;
the module itself can be updated in place through its methods, as in TVM, and `clone()` gives a copy
that shares nothing mutable. Passes never update the module they were given.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from relaxscript.errors import nearest

from . import hooks
from .node import Node, field, node
from .relax import Attrs, BaseFunc, ExternFunc, Function, GlobalVar

if TYPE_CHECKING:
    from relaxscript.errors import Span

    from .struct_info import StructInfo

__all__ = ["DummyGlobalInfo", "GlobalInfo", "IRModule", "ModuleFunction", "Target", "VDevice"]

ModuleFunction: TypeAlias = "BaseFunc | ExternFunc"


@node
class Target(Node):
    """What code is generated for: a kind such as "llvm", with options."""

    kind: str
    attrs: Attrs = field(convert=Attrs, default=Attrs())

    def __str__(self) -> str:
        return " ".join([self.kind, *(f"-{name}={value}" for name, value in self.attrs.items())])


def as_target(value: Any) -> Target:
    """A target from its text ("llvm -mcpu=znver4"), a mapping with "kind", or a Target."""
    match value:
        case Target():
            return value
        case Mapping():
            options = {k: v for k, v in value.items() if k != "kind"}
            return Target(str(value["kind"]), Attrs(options))
    kind, *words = str(value).split()
    options = dict(w.lstrip("-").partition("=")[::2] for w in words)
    return Target(kind, Attrs(options))


@node
class GlobalInfo(Node):
    """Information kept at module level."""

    __slots__ = ()


@node
class DummyGlobalInfo(GlobalInfo):
    __slots__ = ()


@node
class VDevice(GlobalInfo):
    """A virtual device: a target, its number, and a memory scope.

    "cpu" is another name of the target kind "llvm".
    """

    target: Target = field(convert=as_target, default=None)
    vdevice_id: int = 0
    memory_scope: str = "global"

    def __str__(self) -> str:
        return f"{self.target.kind}:{self.vdevice_id}:{self.memory_scope}"


class IRModule:
    """A program: global names bound to functions.

    `functions` maps GlobalVars (or names) to functions; `attrs` and `global_infos` belong to the
    whole module.
    """

    def __init__(
        self,
        functions: Mapping[Any, ModuleFunction] | None = None,
        attrs: Mapping[str, Any] | None = None,
        global_infos: Mapping[str, Any] | None = None,
        span: Span | None = None,
        name: str = "Module",
    ) -> None:
        self._by_name: dict[str, GlobalVar] = {}
        self.functions: dict[GlobalVar, ModuleFunction] = {}
        self.attrs: Attrs | None = Attrs(attrs) if attrs else None
        self.global_infos: dict[str, tuple[GlobalInfo, ...]] = {
            key: tuple(values) for key, values in (global_infos or {}).items()
        }
        self.span = span
        self.__name__ = name
        for var, function in (functions or {}).items():
            self[var] = function

    def __getitem__(self, var: GlobalVar | str) -> Any:
        return self.functions[self.get_global_var(var if isinstance(var, str) else var.name_hint)]

    def __setitem__(self, var: GlobalVar | str, function: ModuleFunction) -> None:
        name = var if isinstance(var, str) else var.name_hint
        known = self._by_name.get(name)
        if known is None:
            known = GlobalVar(name) if isinstance(var, str) else var
            self._by_name[name] = known
        self.functions[known] = function

    def __contains__(self, var: object) -> bool:
        name = var.name_hint if isinstance(var, GlobalVar) else var
        return name in self._by_name

    def __delitem__(self, var: GlobalVar | str) -> None:
        known = self.get_global_var(var if isinstance(var, str) else var.name_hint)
        del self.functions[known], self._by_name[known.name_hint]

    def __iter__(self) -> Iterator[GlobalVar]:
        return iter(self.functions)

    def __len__(self) -> int:
        return len(self.functions)

    def functions_items(self) -> list[tuple[GlobalVar, ModuleFunction]]:
        """The functions with their names, sorted by name."""
        return sorted(self.functions.items(), key=lambda item: item[0].name_hint)

    def items(self) -> ItemsView[GlobalVar, ModuleFunction]:
        return self.functions.items()

    def get_global_var(self, name: str) -> GlobalVar:
        """The GlobalVar of a name; raises `KeyError` naming the nearest one."""
        found = self._by_name.get(name)
        if found is None:
            near = nearest(name, list(self._by_name))
            hint = f"; did you mean `{near}`?" if near else ""
            raise KeyError(f"the module has no function `{name}`{hint}")
        return found

    def get_global_vars(self) -> list[GlobalVar]:
        return list(self.functions)

    def update_func(self, var: GlobalVar | str, function: ModuleFunction) -> None:
        """Bind a name to another function, in place."""
        self[var] = function

    def update(self, other: IRModule | Mapping[Any, ModuleFunction]) -> None:
        """Take over all functions of another module, in place."""
        for var, function in other.items():
            self[var] = function

    def update_global_info(self, name: str, global_info: Any) -> None:
        self.global_infos[name] = tuple(global_info)

    def clone(self) -> IRModule:
        """A copy; functions are shared, since they are frozen."""
        return IRModule(self.functions, self.attrs, self.global_infos, self.span, self.__name__)

    @staticmethod
    def from_expr(expr: Any, functions: Mapping[Any, ModuleFunction] | None = None) -> IRModule:
        """A module whose `main` (or global_symbol) is the given function."""
        name = (expr.attrs or {}).get("global_symbol", "main")
        return IRModule({**(functions or {}), name: expr})

    def get_attr(self, attr_key: str) -> Any:
        return None if self.attrs is None else self.attrs.get(attr_key)

    def with_attr(self, attr_key: str, attr_value: Any) -> IRModule:
        return self.with_attrs({attr_key: attr_value})

    def with_attrs(self, attr_map: Mapping[str, Any]) -> IRModule:
        """A copy with these attributes more."""
        attrs = Attrs(self.attrs, **dict(attr_map))
        return IRModule(self.functions, attrs, self.global_infos, self.span, self.__name__)

    def without_attr(self, attr_key: str) -> IRModule:
        attrs = (self.attrs or Attrs()).without(attr_key)
        return IRModule(self.functions, attrs, self.global_infos, self.span, self.__name__)

    def struct_info(self, var: GlobalVar | str) -> StructInfo:
        """What is known of a function of the module: its FuncStructInfo."""
        info: StructInfo = hooks.struct_info_of(self[var])
        return info

    def relax_functions(self) -> dict[GlobalVar, Function]:
        """The Relax functions only."""
        return {gv: f for gv, f in self.functions.items() if isinstance(f, Function)}

    @property
    def metadata(self) -> dict[str, Any]:
        """The constants that the script without `show_meta` refers to, as plain data.

        `from_source(mod.script(), metadata=mod.metadata)` gives the module back.
        """
        found: dict[str, Any] = hooks.metadata_of(self)
        return found

    def script(self, **options: Any) -> str:
        """The module as a script that parses back to the same module; options as `show`."""
        text: str = hooks.script_of(self, **options)
        return text

    def show(
        self, style: str | None = None, black_format: bool | None = None, **options: Any
    ) -> None:
        """Print the script, coloured where the terminal or notebook can show it."""
        text: str = hooks.script_of(
            self, style=style, black_format=black_format, show=True, **options
        )
        if text:
            print(text)

    def __str__(self) -> str:
        return self.script()

    def __repr__(self) -> str:
        return self.script()

    def _repr_html_(self) -> str:
        text: str = hooks.html_of(self)
        return text
