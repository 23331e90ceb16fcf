"""Effects: states that calls of a method change, which go into its function and out again.

Source: TVM `relax.frontend.nn.core.Effect`, `relax.frontend.nn.modules.IOEffect`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from relaxscript.builder import BlockBuilder
from relaxscript.ir.relax import Var
from relaxscript.ir.struct_info import ObjectStructInfo
from relaxscript.script import relax as R

from .trace import bind_value, model_error

__all__ = ["Effect", "IOEffect"]


class Effect(ABC):
    """A state that calls of a method change.

    `create` makes the variables of the state for one function. `set_state` takes what they are
    after a call, and `finalize` gives what the function returns of it.
    """

    @abstractmethod
    def emit_init(self, name_hint: str, builder: BlockBuilder) -> list[Var]:
        """Write how the state begins; gives its variables."""

    @abstractmethod
    def create(self, name_hint: str) -> list[Var]:
        """Make the parameters of a function that are the state, and hold them as the state."""

    @abstractmethod
    def set_state(self, state_vars: list[Var]) -> None:
        """Take these as the state."""

    @abstractmethod
    def finalize(self) -> list[Var]:
        """Give the state at the end of a function, and forget it."""

    def to(self, dtype: str | None = None) -> None:
        """Change the dtype of the state, where it has one; most have none."""
        return


class IOEffect(Effect):
    """The order of what is printed: an object that each call takes and gives."""

    def __init__(self) -> None:
        self.effect: Var | None = None

    def emit_init(self, name_hint: str, builder: BlockBuilder) -> list[Var]:
        """The null object."""
        return [bind_value(R.null_value(), f"{name_hint}_io")]

    def create(self, name_hint: str) -> list[Var]:
        """A parameter for the object."""
        self.effect = Var(f"{name_hint}_io", ObjectStructInfo())
        return [self.effect]

    def set_state(self, state_vars: list[Var]) -> None:
        """Take the object."""
        (self.effect,) = state_vars

    def finalize(self) -> list[Var]:
        """Give the object at the end of the function. Raises RX0711 where there is none."""
        if self.effect is None:
            raise model_error("an `IOEffect` ends that has not begun")
        effect, self.effect = self.effect, None
        return [effect]
