"""Pure functions are trusted, and calls that said they are pure are written out."""

from __future__ import annotations

from relaxscript.transform import RemovePurityChecking
from relaxscript_tests.transform.before_after import check


def test_pure_functions_are_marked_and_pure_calls_written_out():
    before = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((4,), "float32"), f: R.Object) -> R.Object:
        @R.function
        def inner(y: R.Object) -> R.Object:
            a = R.call_pure_packed("f", y, sinfo_args=R.Object)
            return a

        b = inner(x)
        c = R.invoke_pure_closure(f, (b,), sinfo_args=R.Object)
        return c
"""
    after = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((4,), "float32"), f: R.Object) -> R.Object:
        R.func_attr({"relax.force_pure": True})

        @R.function
        def inner(y: R.Object) -> R.Object:
            R.func_attr({"relax.force_pure": True})
            a = R.call_packed("f", y, sinfo_args=R.Object)
            return a

        b = inner(x)
        c = R.invoke_closure(f, (b,), sinfo_args=R.Object)
        return c
"""
    check(RemovePurityChecking(), before, after)
    check(RemovePurityChecking(), after)


def test_impure_functions_are_not_marked():
    check(RemovePurityChecking(), """
@I.ir_module
class M:
    @R.function(pure=False)
    def main(x: R.Object) -> R.Object:
        y = R.call_packed("f", x, sinfo_args=R.Object)
        return y
""")  # fmt: skip


def test_calls_inside_a_dataflow_block_stay_pure():
    before = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Object) -> R.Object:
        R.func_attr({"relax.force_pure": True})
        with R.dataflow():
            y = R.call_pure_packed("f", x, sinfo_args=R.Object)
            R.output(y)
        return y
"""
    check(RemovePurityChecking(), before)
