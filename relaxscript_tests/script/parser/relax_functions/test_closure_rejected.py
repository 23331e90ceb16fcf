"""Closures that are made of what they cannot be made of."""

from __future__ import annotations

from relaxscript.script import ir as I, relax as R
from relaxscript.testing.rejected import rejected


@rejected
def test_a_closure_is_made_of_a_function():
    @R.function
    def f(x: R.Tensor((4,), "float32"), o: R.Object):
        a = R.make_closure(x, (x,))
        #                  ^ error: RX0201 `R.make_closure` cannot take these operands
        b = R.invoke_pure_closure(x, (x,), sinfo_args=R.Object)
        #                         ^ error: RX0201 `R.invoke_pure_closure` cannot take these operands
        c = R.invoke_closure(o, (x,), sinfo_args=R.Object)
        #   ^^^^^^^^^^^^^^^^ error: RX0401 `R.invoke_closure` is impure and cannot be called in a
        #        | pure function
        #       help: declare the function impure: `@R.function(pure=False)`, or vouch
        #       | for it: `R.func_attr({"relax.force_pure": True})`
        d = R.invoke_pure_closure(o, (x,))
        #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0103 `R.invoke_pure_closure` needs
        #        | `sinfo_args`
        #       help: it is called as `R.invoke_pure_closure(closure, args, sinfo_args)`
        return x


@rejected
def test_a_closure_captures_arguments_of_its_function():
    @I.ir_module
    class M:
        @R.function
        def inner(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
            return x

        @R.function
        def main(x: R.Tensor((4,), "float32"), y: R.Tensor((5,), "float32")):
            cls = M
            a = R.make_closure(cls.inner, (x, x, x))
            #                             ^^^^^^^^^ error: RX0206 a closure gives arguments of its
            #                                  | function, and this one takes 2
            b = R.make_closure(cls.inner, (y,))
            #                              ^ error: RX0206 a captured value does not fit parameter 1
            #                                  | of the function
            #                                  help: the parameter is `R.Tensor((4,), "float32")`
            return x
