"""Small Python files that the tests of the command give it."""

from __future__ import annotations

IMPORTS = "from relaxscript.script import ir as I, relax as R, tir as T\n"

GOOD = (
    IMPORTS
    + """
@R.function
def twice(x: R.Tensor(("n", 3), "float32")):
    return R.add(x, x)
"""
)

BAD = (
    IMPORTS
    + """
@R.function
def twice(image: R.Tensor((2, 3), "float32")):
    return R.add(image, imaeg)
"""
)

MODULE = (
    IMPORTS
    + """
@I.ir_module
class Pair:
    @R.function
    def twice(x: R.Tensor((2, 3), "float32")):
        return R.add(x, x)

    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        cls = Pair
        y = cls.twice(x)
        return R.exp(y)
"""
)
