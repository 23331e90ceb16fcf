"""Targets, and the global infos of a module, of which virtual devices are one."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

from .node import Node, field, node
from .relax import Attrs

__all__ = [
    "DummyGlobalInfo", "GlobalInfo", "Target", "VDevice", "as_target", "as_vdevice", "same_vdevice",
]  # fmt: skip


_entered: ContextVar[tuple[Target, ...]] = ContextVar("relaxscript_targets", default=())


@node
class Target(Node):
    """A target of code generation: a kind such as "llvm", with options; no kind: the null target.

    It is also made of a string with options, "llvm -mcpu=znver4", and of a mapping with "kind".
    `build` uses the target of the innermost `with Target(...):` where none is given.
    """

    kind: str = ""
    attrs: Attrs = field(convert=Attrs, default=Attrs())

    @staticmethod
    def _arrange(kind: Any, attrs: Any) -> tuple[Any, Any]:
        if type(kind) is str and " " not in kind:
            return kind, attrs
        made = as_target(kind)
        return made.kind, Attrs({**made.attrs, **attrs})

    @staticmethod
    def current(allow_none: bool = True) -> Target | None:
        """The target of the innermost `with`; raises `ValueError` for none unless it is allowed."""
        targets = _entered.get()
        if not targets and not allow_none:
            raise ValueError('no target is entered; write `with Target("llvm"):` around this')
        return targets[-1] if targets else None

    @staticmethod
    def from_device(device: Any) -> Target:
        """The target that compiles for a device or its text, `cpu(0)` or "cpu:0"."""
        kind = str(device).partition(":")[0]
        return Target("llvm" if kind == "cpu" else kind)

    def __enter__(self) -> Target:
        _entered.set((*_entered.get(), self))
        return self

    def __exit__(self, *raised: object) -> None:
        _entered.set(_entered.get()[:-1])

    @property
    def tag(self) -> str:
        """The target as one text: the spec's `tag`."""
        return str(self)

    @property
    def config(self) -> dict[str, Any]:
        """The target as a mapping with "kind": the spec's `config`."""
        return {"kind": self.kind, **self.attrs}

    def __str__(self) -> str:
        return " ".join([self.kind, *(f"-{name}={value}" for name, value in self.attrs.items())])


def as_target(value: Any) -> Target:
    """A target from a string ("llvm -mcpu=znver4"), a mapping with "kind", or a Target.

    None and the empty string are the null target.
    """
    match value:
        case Target():
            return value
        case None:
            return Target()
        case Mapping() if isinstance(value.get("kind"), str):
            options = {k: v for k, v in value.items() if k != "kind"}
            return Target(value["kind"], Attrs(options))
        case Mapping():
            raise ValueError('a target needs a "kind", for example {"kind": "llvm"}')
        case str():
            kind, *words = value.split() or [""]
        case _:
            raise TypeError('a target is a string such as "llvm", or a mapping with "kind"')
    options = dict(w.lstrip("-").partition("=")[::2] for w in words)
    return Target(kind, Attrs(options))


@node
class GlobalInfo(Node):
    """Information kept at module level."""

    __slots__ = ()


@node
class DummyGlobalInfo(GlobalInfo):
    __slots__ = ()


def _compiled_for(value: Any) -> Target:
    """As `as_target`; "cpu" is the kind "llvm"."""
    target = as_target(value)
    return Target("llvm", target.attrs) if target.kind == "cpu" else target


@node
class VDevice(GlobalInfo):
    """A virtual device: a target, its number from 0 on, and a memory scope.

    "cpu" is another name of the target kind "llvm".
    """

    target: Target = field(convert=_compiled_for, default=Target())
    vdevice_id: int = 0
    memory_scope: str = "global"

    def _check(self) -> None:
        if self.vdevice_id < 0:
            raise ValueError(f"`VDevice.vdevice_id` counts from 0, and is {self.vdevice_id}")

    @property
    def tgt(self) -> Target:
        """The spec's name of `target`."""
        return self.target

    @property
    def dev_id(self) -> int:
        """The spec's name of `vdevice_id`."""
        return self.vdevice_id

    @property
    def mem_scope(self) -> str:
        """The spec's name of `memory_scope`."""
        return self.memory_scope

    @property
    def short(self) -> str:
        """As people write it: "llvm:1", with the memory scope only where that is another one."""
        scope = "" if self.memory_scope == "global" else f":{self.memory_scope}"
        return f"{self.target}:{self.vdevice_id}{scope}"

    def __str__(self) -> str:
        return f"{self.target}:{self.vdevice_id}:{self.memory_scope}"


def as_vdevice(value: Any) -> Any:
    """A virtual device from its text "kind[:id[:scope]]"; anything else is left as it is."""
    if not isinstance(value, str):
        return value
    kind, _, rest = value.partition(":")
    number, _, scope = rest.partition(":")
    if number and not number.isdigit():
        raise ValueError(f'"{value}" is not a device; write "kind", "kind:id" or "kind:id:scope"')
    return VDevice(as_target(kind), int(number or 0), scope or "global")


def same_vdevice(a: VDevice | None, b: VDevice | None) -> bool:
    """True if both name the same device; "cpu" is the target kind "llvm"."""
    if a is b:
        return True
    if a is None or b is None:
        return False
    return _device(a) == _device(b)


def _device(device: VDevice) -> tuple[Any, ...]:
    kind = "llvm" if device.target.kind == "cpu" else device.target.kind
    return kind, dict(device.target.attrs), device.vdevice_id, device.memory_scope
