"""Making IR: `BlockBuilder`, the one place where a binding is normalised and typed.

Start with `block_builder.py`; `normal_form.py` is how an expression becomes a binding, `scope.py`
what is visible where, `arguments.py` how arguments become expressions. Passes rewrite functions by
`mutator.py`.
"""

from __future__ import annotations

from .arguments import args_converter, convert_to_expr
from .block_builder import BlockBuilder, left_to_devices, left_to_run_time, undecided
from .mutator import ExprMutator

__all__ = [
    "BlockBuilder", "ExprMutator", "args_converter", "convert_to_expr", "left_to_devices",
    "left_to_run_time", "undecided",
]  # fmt: skip
