"""IRModule: names bound to functions, with attributes and global infos (virtual devices).

A module maps `GlobalVar`s to functions in the order in which they were added. Functions are frozen;
the module itself can be updated in place through its methods, as in TVM. `clone()` gives a copy
that shares nothing mutable. Passes never update the module they were given.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias
from weakref import ref

from relaxscript.errors import meant_hint, nearest
from relaxscript.errors.exceptions import NoSuchNameError

from . import hooks
from .calling import member
from .display import Displayable
from .drawing import graph_of_module
from .field_types import brief
from .relax import Attrs, BaseFunc, ExternFunc, Function, GlobalVar, remember_module
from .vdevice import DummyGlobalInfo, GlobalInfo, Target, VDevice, as_target
from .walk import rewrite

if TYPE_CHECKING:
    from relaxscript.errors import Span

    from .struct_info import StructInfo

__all__ = [
    "DummyGlobalInfo", "GlobalInfo", "IRModule", "ModuleFunction", "Target", "VDevice", "as_target",
]  # fmt: skip

ModuleFunction: TypeAlias = "BaseFunc | ExternFunc"


class IRModule(Displayable):
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
        self._members: dict[str, tuple[BaseFunc, BaseFunc]] = {}
        # What was compiled to run members, with what it was compiled of.
        self._compiled: dict[str, tuple[Any, ...]] = {}
        self.functions: dict[GlobalVar, ModuleFunction] = {}
        self.attrs = Attrs(attrs)
        self.global_infos: dict[str, tuple[GlobalInfo, ...]] = {}
        # What code generators made, callables by the names that the program calls them by. They are
        # no part of what the module says: a script has the names only.
        self.external_mods: tuple[Mapping[str, Callable[..., Any]], ...] = ()
        self.span = span
        self.__name__ = name
        for key, values in _mapping("global_infos", global_infos).items():
            self.update_global_info(key, values)
        for var, function in _mapping("functions", functions).items():
            self[var] = function

    @property
    def funcs(self) -> dict[GlobalVar, ModuleFunction]:
        """The spec's name of `functions`."""
        return self.functions

    @property
    def global_info(self) -> dict[str, tuple[GlobalInfo, ...]]:
        """The spec's name of `global_infos`."""
        return self.global_infos

    def __getitem__(self, var: GlobalVar | str) -> Any:
        return self.functions[self._global_var(_name(var))]

    if not TYPE_CHECKING:

        def __getattr__(self, name):  # type: ignore[no-untyped-def]
            """`module.f` is the function `f`, where no attribute of modules has that name.

            It is a member of this module: called with arrays, it runs in it.
            """
            known = None if name.startswith("_") else self._by_name.get(name)
            if known is None:
                there = [] if name.startswith("_") else list(self._by_name)  # a copy has none yet
                hint = meant_hint(nearest(name, there))
                raise NoSuchNameError(f"the module has no function or attribute `{name}`{hint}")
            function = self.functions[known]
            if not isinstance(function, BaseFunc):
                return function
            found = self._members.get(name)
            if found is None or found[0] is not function:
                found = self._members[name] = (function, member(function, self, name))
            return found[1]

    def __setitem__(self, var: GlobalVar | str, function: ModuleFunction) -> None:
        name = _name(var)
        if not isinstance(function, (BaseFunc, ExternFunc)):
            raise TypeError(
                f"a module holds Functions, PrimFuncs and ExternFuncs; `{name}` is "
                f"{brief(function)}"
            )
        known = self._by_name.get(name)
        if known is None:
            known = GlobalVar(name) if isinstance(var, str) else var
            self._by_name[name] = known
        if known.known_module is None or known.known_module() is None:
            remember_module(known, ref(self))
        self.functions[known] = function

    def __contains__(self, var: object) -> bool:
        name = var.name_hint if isinstance(var, GlobalVar) else var
        return name in self._by_name

    def __delitem__(self, var: GlobalVar | str) -> None:
        known = self._global_var(_name(var))
        del self.functions[known], self._by_name[known.name_hint]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *filter(str.isidentifier, self._by_name)})

    def __call__(self, *args: Any, **named: Any) -> NoReturn:
        names = [var.name_hint for var in self.functions]
        chosen = "main" if "main" in names or not names else names[0]
        raise TypeError(
            f"a module is not called, its functions are: write `{self.__name__}.{chosen}(...)`"
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_members": {}, "_compiled": {}}

    def __iter__(self) -> Iterator[GlobalVar]:
        return iter(self.functions)

    def __len__(self) -> int:
        return len(self.functions)

    def __bool__(self) -> bool:
        return True  # an empty module is a module

    def same_as(self, other: object) -> bool:
        """True if `other` is this very module."""
        return self is other

    def functions_items(self) -> list[tuple[GlobalVar, ModuleFunction]]:
        """The functions with their names, sorted by name."""
        return sorted(self.functions.items(), key=lambda item: item[0].name_hint)

    def items(self) -> ItemsView[GlobalVar, ModuleFunction]:
        return self.functions.items()

    def get_global_var(self, name: str) -> GlobalVar:
        """The GlobalVar of a name; raises `KeyError` naming the nearest one.

        Its `struct_info` is that of the function here.
        """
        found = self._global_var(name)
        remember_module(found, ref(self))
        return found

    def _global_var(self, name: str) -> GlobalVar:
        found = self._by_name.get(name)
        if found is None:
            near = nearest(name, list(self._by_name))
            hint = meant_hint(near)
            raise KeyError(f"the module has no function `{name}`{hint}")
        return found

    def get_global_vars(self) -> list[GlobalVar]:
        return [self.get_global_var(var.name_hint) for var in self.functions]

    def update_func(self, var: GlobalVar | str, func: ModuleFunction) -> None:
        """Bind a name to another function, in place."""
        self[var] = func

    def update(self, other: IRModule | Mapping[Any, ModuleFunction]) -> None:
        """Take over all functions of another module, in place."""
        functions = other.functions if isinstance(other, IRModule) else _mapping("other", other)
        for var, function in functions.items():
            self[var] = function

    def update_global_info(self, name: str, global_info: Any) -> None:
        """Set the global infos of a name, one or several, in place."""
        infos = (global_info,) if isinstance(global_info, GlobalInfo) else global_info
        for info in infos if isinstance(infos, (list, tuple)) else (infos,):
            if not isinstance(info, GlobalInfo):
                raise TypeError(f"the global infos `{name}` must be GlobalInfos, not {brief(info)}")
        self.global_infos[name] = tuple(infos)

    def replace_global_vars(self, replacements: Mapping[Any, GlobalVar | str]) -> IRModule:
        """A copy in which functions go by other names, where bound and where used.

        Keys and values are GlobalVars or names. A `global_symbol` that was the old name becomes the
        new one. Raises `KeyError` for a function that there is not, `ValueError` when two functions
        would get one name.
        """
        found = {self.get_global_var(_name(old)): new for old, new in replacements.items()}
        new_vars = {
            old: GlobalVar(new) if isinstance(new, str) else new for old, new in found.items()
        }
        by_name = {old.name_hint: new for old, new in new_vars.items()}
        renamed = self.clone()
        renamed.functions, renamed._by_name = {}, {}
        for var, function in self.functions.items():
            new = new_vars.get(var, var)
            if new in renamed:
                raise ValueError(f"two functions would be named `{new.name_hint}`")
            renamed[new] = _rename(function, var, by_name)
        return renamed

    def clone(self) -> IRModule:
        """A copy; functions are shared, since they are frozen."""
        made = IRModule(None, self.attrs, self.global_infos, self.span, self.__name__)
        made.external_mods = self.external_mods
        made._by_name = dict(self._by_name)
        made.functions = dict(self.functions)  # checked when they came in
        return made

    __copy__ = clone

    @staticmethod
    def from_expr(expr: Any, functions: Mapping[Any, ModuleFunction] | None = None) -> IRModule:
        """A module whose `main` (or global_symbol) is the given function.

        A Relax function without a `global_symbol` gets one: alone in its module, it is what others
        call (criterion 12).
        """
        if not isinstance(expr, BaseFunc):
            raise TypeError(f"`from_expr` makes a module of a function, not of {brief(expr)}")
        name = (expr.attrs or Attrs()).get("global_symbol", "main")
        if isinstance(expr, Function) and expr.is_private and not functions:
            expr = expr.with_attr("global_symbol", name)
        return IRModule({**(functions or {}), name: expr})

    def get_attr(self, attr_key: str) -> Any:
        return self.attrs.get(attr_key)

    def with_attr(self, attr_key: str, attr_value: Any) -> IRModule:
        return self.with_attrs({attr_key: attr_value})

    def with_attrs(self, attr_map: Mapping[str, Any]) -> IRModule:
        """A copy with these attributes more."""
        attrs = Attrs(self.attrs, **dict(attr_map))
        made = IRModule(self.functions, attrs, self.global_infos, self.span, self.__name__)
        made.external_mods = self.external_mods
        return made

    def without_attr(self, attr_key: str) -> IRModule:
        attrs = self.attrs.without(attr_key)
        made = IRModule(self.functions, attrs, self.global_infos, self.span, self.__name__)
        made.external_mods = self.external_mods
        return made

    def struct_info(self, var: GlobalVar | str) -> StructInfo:
        """The FuncStructInfo of a function of the module."""
        info: StructInfo = self[var].struct_info
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

    graph = graph_of_module

    def astext(self, show_meta_data: bool = True) -> str:
        """The script with all constants, by the name that TVM has for it."""
        return self.script(show_meta=show_meta_data)

    def __str__(self) -> str:
        return self.script()

    def __repr__(self) -> str:
        return self.script()


def _name(var: Any) -> str:
    if isinstance(var, GlobalVar):
        return var.name_hint
    if isinstance(var, str):
        return var
    raise TypeError(f"a function of a module goes by its name or GlobalVar, not by {brief(var)}")


def _mapping(what: str, value: Any) -> Mapping[Any, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TypeError(f"`{what}` of a module must be a mapping, not {brief(value)}")
    return value


def _rename(function: Any, var: GlobalVar, by_name: Mapping[str, GlobalVar]) -> Any:
    """A function with its own name and the names that it uses replaced."""
    made = rewrite(
        function, lambda n: by_name.get(n.name_hint) if isinstance(n, GlobalVar) else None
    )
    symbol = (getattr(function, "attrs", None) or Attrs()).get("global_symbol")
    if var.name_hint in by_name and symbol == var.name_hint:
        return made.with_attr("global_symbol", by_name[var.name_hint].name_hint)
    return made
