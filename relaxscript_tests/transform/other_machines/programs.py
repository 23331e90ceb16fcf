"""A program for passes that leave all programs as they are."""

from __future__ import annotations

__all__ = ["STATIC"]

STATIC = """
@I.ir_module
class M:
    @T.prim_func(private=True)
    def exp(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        for i in range(4):
            b[i] = T.exp(a[i])

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        y = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0))
        u: R.Tuple = M.exp(x, y)
        return y
"""
