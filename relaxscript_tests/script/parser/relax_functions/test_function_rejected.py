"""Rejected programs: the shape of a function and its dataflow blocks (RX0105 to RX0107)."""

from __future__ import annotations

from relaxscript.script import ir as I, relax as R
from relaxscript.testing import rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

# ---------------------------------------------------------------- the shape of a function


@rejected
def test_a_missing_return():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
    #   ^ error: RX0105 the function `f` does not return anything
    #       help: end the function with `return y`
        y = R.add(x, x)


@rejected
def test_a_missing_return_where_nothing_is_bound():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
    #   ^ error: RX0105 the function `f` does not return anything
    #       help: end the function with `return ...`
        pass


@rejected
def test_a_statement_behind_return():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        return x
        y = R.add(x, x)
        # <^^^^^^^^^^^^^^ error: RX0105 nothing can follow `return`
        #                  help: a function returns once, at its end


@rejected
def test_a_return_in_a_branch():
    @R.function
    def f(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
        if c:
            y = x
            return x
            # <^^^^^^^ error: RX0105 a branch cannot return from the function
            #           help: bind the value in both branches, and return it after the `if`
        else:
            y = R.add(x, x)
        return y


@rejected
def test_a_return_as_the_only_statement_of_a_branch():
    @R.function
    def f(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
        if c:
            return x
            # <^^^^^^^ error: RX0105 a branch cannot return from the function
            # help: bind the value in both branches, and return it after the `if`
            # fix: result =
            # fix: result =
            # fix: \n        return result
        else:
            return R.add(x, x)


@rejected
def test_an_if_without_else():
    @R.function
    def f(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
        if c:
        #  ^ error: RX0106 this `if` has no `else`
        #      help: both ways must bind a value: add `else:` with `y = ...`
            y = R.add(x, x)
        return y


@rejected
def test_an_elif_without_else():
    @R.function
    def f(c: R.Tensor((), "bool"), d: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
        if c:
            y = R.add(x, x)
        elif d:
        #    ^ error: RX0106 this `if` has no `else`
        #        help: both ways must bind a value: add `else:` with `y = ...`
            y = x
        return y


@rejected
def test_branches_that_bind_different_names():
    @R.function
    def f(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
        if c:
            y = R.add(x, x)
        else:
            z = R.multiply(x, x)
            # <^^^^^^^^^^^^^^^^^^^ error: RX0106 the branches bind different names at their ends
            #       help: the last statement of both branches binds the name that is used afterwards
        return y


@rejected
def test_a_branch_that_binds_nothing():
    @R.function
    def f(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
        if c:
            y = R.add(x, x)
        else:
            pass
            # <^^^ error: RX0106 a branch ends with the binding of one name
            #       help: bind the value of the branch in its last statement: `y = ...`
        return y


@rejected
def test_a_branch_that_ends_with_two_names():
    @R.function
    def f(c: R.Tensor((), "bool"), t: R.Tuple(R.Object, R.Object)):
        if c:
            a, b = t
            # <^^^^^^^ error: RX0106 a branch ends with the binding of one name
            #           help: bind the value of the branch in its last statement: `y = ...`
        else:
            b, a = t
            # <^^^^^^^ error: RX0106 a branch ends with the binding of one name
            #           help: bind the value of the branch in its last statement: `y = ...`
        return a


@rejected
def test_a_condition_that_is_no_bool():
    @R.function
    def f(c: R.Tensor((), "int32"), x: R.Tensor((4,), "float32")):
        if c:
        #  ^ error: RX0201 the condition of `if` must be a bool scalar
            y = R.add(x, x)
        else:
            y = x
        return y


@rejected
def test_a_condition_of_several_elements():
    @R.function
    def f(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        if x < y:
        #  ^^^^^ error: RX0201 the condition of `if` must be a bool scalar
            z = R.add(x, x)
        else:
            z = x
        return z


# ---------------------------------------------------------------- dataflow blocks


@rejected
def test_a_name_used_outside_its_dataflow_block():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            y = R.add(x, x)
            z = R.multiply(y, y)
            R.output(z)
        return R.add(y, z)
        #            ^ error: RX0107 `y` is used outside its dataflow block
        #                help: let it leave the block: `R.output(z, y)`


@rejected
def test_a_dataflow_block_without_output():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            y = R.add(x, x)
        return y
        #      ^ error: RX0107 `y` is used outside its dataflow block
        #          help: let it leave the block: `R.output(y)`


@rejected
def test_an_output_that_is_not_bound():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            total = R.add(x, x)
            R.output(totl)
            #        ^^^^ error: RX0101 `totl` is not defined
            #               help: did you mean `total`?
            #               fix: total
        return x


@rejected
def test_an_output_that_was_bound_before_the_block():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            y = R.add(x, x)
            R.output(x, y)
            #        ^ error: RX0107 `x` is not bound in this dataflow block
            #            help: what was bound before is visible after the block anyway
        return y


@rejected
def test_an_output_that_is_no_name():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            y = R.add(x, x)
            R.output(R.add(y, y))
            #        ^^^^^^^^^^^ error: RX0104 `R.output` takes names that the block bound
        return x


@rejected
def test_a_dataflow_block_in_another():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            with R.dataflow():
            #    ^^^^^^^^^^^^ error: RX0104 a dataflow block is not allowed inside another
                y = R.add(x, x)
                R.output(y)
            R.output(y)
        return y


@rejected
def test_an_if_in_a_dataflow_block():
    @R.function
    def f(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
        with R.dataflow():
            if c:
            #  ^ error: RX0307 `if` is not allowed in a dataflow block
            #      help: close the block with `R.output(...)` first, or use `R.where`
                y = R.add(x, x)
            else:
                y = x
            R.output(y)
        return y


@rejected
def test_a_local_function_that_captures_a_variable_of_its_dataflow_block():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            b = R.add(x, x)

            @R.function
            def inner(a: R.Tensor((4,), "float32")):
                return R.add(a, b)
                #               ^ error: RX0311 `b` belongs to the dataflow block around this
                #        | function
                #                 help: give it to the function as an argument

            y = inner(x)
            R.output(y)
        return y


@rejected
def test_a_recursive_call_in_a_dataflow_block():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            cls = Module
            with R.dataflow():
                y = cls.main(x)
                #   ^^^^^^^^^^^ error: RX0307 `cls.main` is recursive and cannot be called in a
                #        | dataflow block
                #                 help: move the call out of the dataflow block
                R.output(y)
            return y
