"""Making IR: `BlockBuilder`, the one place where a binding is normalised and typed.

Start with `block_builder.py`; `normal_form.py` is how an expression becomes a binding, `scope.py`
what is visible where, `arguments.py` how arguments become expressions. Passes rewrite functions by
`mutator.py`; users by TVM's hooks, in `expr_functor.py` and `expr_mutator.py`. `bind.py` and
`inline.py` are the methods of functions that make others of them, `empty_function.py` the one that
makes a signature.
"""

from __future__ import annotations

from relaxscript.ir import hooks

from .arguments import args_converter, convert_to_expr, make_shape
from .bind import bind_params, bind_symbolic_vars
from .block_builder import BlockBuilder, left_to_devices, left_to_run_time, undecided
from .empty_function import create_empty
from .inline import inline_functions
from .mutator import ExprMutator
from .te_calls import gen_call_tir_inputs, te_tensor

__all__ = [
    "BlockBuilder", "ExprMutator", "args_converter", "bind_params", "bind_symbolic_vars",
    "convert_to_expr", "create_empty", "gen_call_tir_inputs", "inline_functions",
    "left_to_devices", "left_to_run_time", "make_shape", "te_tensor", "undecided",
]  # fmt: skip

hooks.bind_params.fill(bind_params)
hooks.bind_symbolic_vars.fill(bind_symbolic_vars)
hooks.inline_functions.fill(inline_functions)
hooks.create_empty.fill(create_empty)
