"""Functions that are called while a program runs, to look at its values.

They do something where the model is exported with `debug=True`, and nothing otherwise. The state
that goes through the function keeps them in their order.
"""

from __future__ import annotations

from typing import Any

from relaxscript.errors.user_frame import caller_span
from relaxscript.frontend.nn.exporter import Exporter
from relaxscript.frontend.nn.tensor import Tensor, packed_argument
from relaxscript.frontend.nn.trace import bind_value
from relaxscript.script import relax as R

__all__ = ["debug_func", "print_"]


def debug_func(name: str, *args: Any, _line_info: str | None = None) -> None:
    """Call a packed function, with the line of this call as a string and then `args`.

    These are tensors, numbers and strings. `relaxscript.register_func` registers functions. Raises
    `DiagnosticError` (RX0711) outside of an export.
    """
    io = Exporter.current().io_effect
    if io is None or io.effect is None:
        return
    if _line_info is None:
        span = caller_span()
        _line_info = "" if span is None else f"{span.filename}:{span.line}"
    values = [packed_argument(value) for value in args]
    call = R.call_pure_packed(
        "vm.builtin.invoke_debug_func", io.effect, R.str(name), R.str(_line_info), *values,
        sinfo_args=R.Object,
    )  # fmt: skip
    io.set_state([bind_value(call, io.effect.name_hint)])


def print_(tensor: Tensor) -> None:
    """Print a tensor while the program runs: the line of this call, shape, dtype and elements."""
    debug_func("vm.builtin.debug_print", tensor)
