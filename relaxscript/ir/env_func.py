"""Packed functions as parts of programs: an `EnvFunc` is the name of one, and can be called."""

from __future__ import annotations

from typing import Any

from . import hooks
from .node import Node, node

__all__ = ["EnvFunc"]


@node
class EnvFunc(Node):
    """A packed function by its registered name, as an attribute or a `derive_func` has it.

    It is looked up whenever it is called. Source: TVM `ir.EnvFunc`.
    """

    name: str

    @staticmethod
    def get(name: str) -> EnvFunc:
        """The packed function of a name; raises `VMError` where none is registered."""
        hooks.packed_func_named(name)
        return EnvFunc(name)

    @property
    def __name__(self) -> str:
        """The name, as functions have one."""
        return self.name

    @property
    def func(self) -> Any:
        """The `PackedFunc`; raises `VMError` where none is registered any more."""
        return hooks.packed_func_named(self.name)

    def __call__(self, *args: Any) -> Any:
        """Call the function with run-time values, and give what it gives."""
        return self.func(*args)
