"""Private functions become public under their names."""

from __future__ import annotations

from relaxscript.transform import AttachGlobalSymbol
from relaxscript_tests.transform.before_after import check

BEFORE = """
@I.ir_module
class M:
    @T.prim_func(private=True)
    def kernel(x: T.Buffer((4,), "float32")):
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        return M.twice(x)

    @R.function(private=True)
    def twice(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return R.add(x, x)
"""


def test_private_functions_become_public():
    after = BEFORE.replace("(private=True)", "")
    check(AttachGlobalSymbol(), BEFORE, after)
    check(AttachGlobalSymbol(), after)


def test_symbols_that_are_there_stay():
    check(AttachGlobalSymbol(), """
@I.ir_module
class M:
    @T.prim_func
    def kernel(x: T.Buffer((4,), "float32")):
        T.func_attr({"global_symbol": "another"})
        T.evaluate(0)
""")  # fmt: skip
