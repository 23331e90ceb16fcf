"""Closures: the type that a function has when its last arguments are given."""

from __future__ import annotations

import numpy as np

from relaxscript.compiler import jit
from relaxscript.script import from_source

MODULE = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), t: R.Tuple(R.Tensor((2,), "float32"), R.Object)):
        n = T.int64()
        @R.function
        def plus(y: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            a = t[0]
            b = R.sum(a)
            c = R.add(x, b)
            return R.add(c, y)
        return plus
"""


def test_a_closure_that_is_made_again_has_the_type_of_what_it_captures_now() -> None:
    machine = jit(from_source(MODULE))
    pair = (np.ones(2, "float32"), "anything")
    for size in (3, 5, 5, 3):
        x = np.arange(size, dtype="float32")
        closure = machine.main(x, pair)
        shape = f'R.Tensor(({size},), "float32")'
        assert repr(closure.info) == f"R.Callable(({shape},), {shape})"
        np.testing.assert_array_equal(closure(x), x + 2 + x)
