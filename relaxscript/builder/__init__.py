"""Making IR: `BlockBuilder`, the one place where a binding is normalised and typed.

Start with `block_builder.py`; `normal_form.py` is how an expression becomes a binding, `scope.py`
what is visible where, `arguments.py` how arguments become expressions. Passes rewrite functions by
`mutator.py`; users by TVM's hooks, in `expr_functor.py` and `expr_mutator.py`. `bind.py` and
`inline.py` are the methods of functions that make others of them.
"""

from __future__ import annotations

from relaxscript.ir import hooks

from .arguments import args_converter, convert_to_expr
from .bind import bind_params, bind_symbolic_vars
from .block_builder import BlockBuilder, left_to_devices, left_to_run_time, undecided
from .inline import inline_functions
from .mutator import ExprMutator

__all__ = [
    "BlockBuilder", "ExprMutator", "args_converter", "bind_params", "bind_symbolic_vars",
    "convert_to_expr", "inline_functions", "left_to_devices", "left_to_run_time", "undecided",
]  # fmt: skip

hooks.bind_params.fill(bind_params)
hooks.bind_symbolic_vars.fill(bind_symbolic_vars)
hooks.inline_functions.fill(inline_functions)
