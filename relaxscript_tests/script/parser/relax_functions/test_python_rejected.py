"""Rejected programs: Python that Relax has not, and Python that fails (RX0104, RX0112)."""

# ruff: noqa: E731, F842  (what is rejected is not meant to be good Python)
from __future__ import annotations

import ast

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.script import from_source, relax as R, tir as T
from relaxscript.testing import check_rejected, rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

# ---------------------------------------------------------------- Python that Relax has not


@rejected
def test_a_for_loop():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        for row in x:
        #          ^ error: RX0104 `x` is a tensor, which cannot be gone through by `for`
        #       help: only a tuple and values known while the script is parsed can be
            y = R.add(x, row)
        for x.row in range(3):
        #   ^^^^^ error: RX0104 a loop gives its items to names
            y = x
        return x


@rejected
def test_a_mistake_in_a_loop_is_reported_once():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        for i in range(3):
            y = R.add(x, z)
            #            ^ error: RX0101 `z` is not defined
        return y


@rejected
def test_a_loop_with_too_many_steps():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        for i in range(200_000):
        #        ^^^^^^^^^^^^^^ error: RX0104 more than 100,000 steps are written out while parsing
        #                        help: loop in a `@T.prim_func`
            pass
        return x


@rejected
def test_leaving_a_loop_where_the_program_chooses():
    @R.function
    def f(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
        for i in range(3):
            if c:
                break
                # <^^^^ error: RX0104 `break` is not allowed here
                #     help: a loop is left by a condition that is known while the script is parsed
                y = x
            else:
                continue
                # <^^^^^^^ error: RX0104 `continue` is not allowed here
                #     help: a loop is left by a condition that is known while the script is parsed
                y = x
        return x


@rejected
def test_a_while_loop():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        while True:
        # <^^^^ error: RX0104 `while` cannot be used in a Relax function
        #        help: write a recursive function with a return annotation, or a `@T.prim_func`
            x = R.add(x, x)
        return x


@rejected
def test_a_try_statement():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        try:
        # <^^ error: RX0104 `try` cannot be used in a Relax function
        #      help: Relax has no exceptions: check values with `R.match_cast` or `R.assert_op`
            y = R.add(x, x)
        except ValueError:
            y = x
        return y


@rejected
def test_a_raise_statement():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        raise ValueError("no")
        # <^^^^^^^^^^^^^^^^^^^^^ error: RX0104 `raise` cannot be used in a Relax function
        #                         help: stop with `R.assert_op(condition, ...)`
        return x


@rejected
def test_an_assert_statement():
    @R.function
    def f(x: R.Tensor((), "bool")):
        assert x, "it must be true"
        # <^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0104 `assert` cannot be used in a Relax function
        #                            help: write `R.assert_op(condition, ...)` in an impure function
        return x


@rejected
def test_a_del_statement():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        y = R.add(x, x)
        del x
        # <^^^^ error: RX0104 `del` cannot be used in a Relax function
        #        help: values are freed after their last use by themselves
        return y


@rejected
def test_an_import_statement():
    @R.function
    def f(x: R.Tensor((4,), "float32")):

        return x


@rejected
def test_a_global_statement():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        global state
        # <^^^^^^^^^^^ error: RX0104 `global` cannot be used in a Relax function
        #               help: Relax functions have no variables outside: pass values as arguments
        return x


def test_a_nonlocal_statement():
    state = 0

    @rejected
    def program():
        @R.function
        def f(x: R.Tensor((4,), "float32")):
            nonlocal state
            # <^^^^^^^^^^^^^ error: RX0104 `nonlocal` cannot be used in a Relax function
            #                 help: closures cannot change what they capture: return the new value
            return x


@rejected
def test_a_class_in_a_function():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        class Inner:
        # <^^^^ error: RX0104 `class` cannot be used in a Relax function
        #        help: define it outside the function
            pass

        return x


@rejected
def test_a_with_statement_of_something_else():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        with open("file") as file:
        #    ^^^^^^^^^^^^ error: RX0104 only `with R.dataflow():` has a meaning in Relax
            y = R.add(x, x)
        with open("file"):
        #    ^^^^^^^^^^^^ error: RX0104 only `with R.dataflow():` has a meaning in Relax
            z = R.add(x, x)
        return y


@rejected
def test_a_with_statement_that_names_its_block():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        with R.dataflow() as block:
        #                    ^^^^^ error: RX0104 a dataflow block has no name
        # help: leave it out: `with R.dataflow():`
        # fix:
            y = R.add(x, x)
            R.output(y)
        return y


@rejected
def test_a_match_statement():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        match x:
        # <^^^^ error: RX0104 `match` cannot be used in a Relax function
        #        help: write `if` and `else`
            case _:
                y = x
        return y


@rejected
def test_an_async_function_in_a_function():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        async def g():
        # <^^^^ error: RX0104 `async def` cannot be used in a Relax function
        #        help: define a plain function
            return x

        return x


@rejected
def test_a_lambda():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        g = lambda a, b: R.add(a, b)
        #   ------------------------ label: defined here
        p = g(x)
        #   ^^^^ error: RX0103 `g` needs `b`
        # help: it is called as `g(a, b)`
        h = lambda a: R.add(a, z)
        #                      ^ error: RX0101 `z` is not defined
        q = h(x)
        #   ---- label: called here
        r = R.add(x, g)
        #            ^ error: RX0201 `R.add` cannot take these operands
        #            - label: is a function of Python, not a tensor
        return q


@rejected
def test_comprehensions_that_make_other_things():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        b = {[] for _ in range(2)}
        #    ^^ error: RX0112 evaluating this Python raised TypeError: unhashable type: 'list'
        for i in {1, 2, *b}:
        #        ^^^^^^^^^^ error: RX0104 a set cannot be used here
        #                    help: write a tuple
            pass
        for i in {i * i for i in range(2)}:
        #        ^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0104 the items of a set have no order
        #                               help: write `sorted({i * i for i in range(2)})`
            pass
        c = {[]: x for _ in range(2)}
        #    ^^ error: RX0112 evaluating this Python raised TypeError: unhashable type: 'list'
        d = tuple(y for _ in range(2))
        #         ^ error: RX0101 `y` is not defined
        return x


@rejected
def test_a_set_an_assignment_expression_and_a_yield():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        a = {1, 2}
        #   ^^^^^^ error: RX0104 a set cannot be used here
        #            help: write a tuple
        b = (c := x)
        #    ^^^^^^ error: RX0104 `:=` cannot be used here
        #             help: assign in a statement of its own
        d = yield x
        #   ^^^^^^^ error: RX0104 `yield` cannot be used here
        return x


@rejected
def test_an_assignment_to_an_element():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        x[0] = 1
        # <^^^ error: RX0104 only names can be assigned in Relax, values never change
        #       help: bind a new value: `x = R.slice_scatter(x, R.full((1,), 1, "float32"), 0, 1, 1,
        #       | axis=0)`
        return x


@rejected
def test_an_assignment_to_an_attribute():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        x.name = x
        # <^^^^^ error: RX0104 only names can be assigned in Relax, values never change
        #         help: bind the new value to a name
        return x


@rejected
def test_an_annotation_without_a_value():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        y: R.Tensor((4,), "float32")
        # <^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0104 `y` is annotated but not given a value
        #                               help: write `y: R.Tensor((4,), "float32") = ...`
        return x


@rejected
def test_a_value_that_is_not_used():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        R.add(x, x)
        # <^^^^^^^^^^ error: RX0104 the value of this expression is not used
        #              help: bind it: `y = ...`
        return x


@rejected
def test_a_choice_at_parse_time_by_a_value_of_run_time():
    @R.function
    def f(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
        return x if c else R.add(x, x)
        #      ^^^^^^^^^^^^^^^^^^^^^^^ error: RX0104 `if` in an expression chooses while the script
        #     | is parsed, and `c` is known only later
        # help: write an `if` statement, or `R.where(c, x, R.add(x, x))`
        # fix: R.where(c, x, R.add(x, x))


@rejected
def test_unpacking_what_is_known_only_later():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        y = R.add(*x)
        #          ^ error: RX0104 `x` is a tensor, which cannot be unpacked with `*`
        #                help: only a tuple and values known while the script is parsed can be
        z = R.add(**x)
        #           ^ error: RX0104 only a Python dict can be unpacked with `**` here
        return y


@rejected
def test_a_prim_func_inside_a_relax_function():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        @T.prim_func
        def g(A: T.Buffer((4,), "float32")):
        #   ^ error: RX0104 a PrimFunc is not allowed inside a Relax function
        #     help: put it beside the function, in the class under `@I.ir_module`
            A[0] = T.float32(1)
        return x


@rejected
def test_a_comprehension_whose_items_do_not_fit():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        a = [x for x.y in range(2)]
        #          ^^^ error: RX0104 a loop gives its items to names
        b = [x for i, j in range(2)]
        #          ^^^^ error: RX0104 this item of the loop cannot be unpacked
        c = R.add(*3)
        #          ^ error: RX0104 `3` is a Python int, which cannot be unpacked with `*`
        d = R.add(*"ab")
        #          ^^^^ error: RX0104 only a Python tuple or list can be unpacked with `*` here
        return x


@rejected
def test_older_forms_that_say_too_little():
    @R.function
    def f(x: R.Tensor((4,), "float32"), o: R.Object):
        a = R.match_shape(x)
        #   ^^^^^^^^^^^^^^^^ error: RX0103 `R.match_shape` takes a value and its dimensions
        #                    help: write `R.match_shape(x, (n, m))`
        b = R.match_shape(o, (n,))
        #                 ^ error: RX0201 `o` is an object of unknown kind, which has no shape
        #                   help: say what it is: `R.match_cast(o, R.Tensor((n, m)))`
        return x


# ---------------------------------------------------------------- Python of the program


@rejected
def test_python_that_raises():
    sizes = {"hidden": 64}

    @R.function
    def f(x: R.Tensor((4, 64), "float32")):
        y = R.reshape(x, (sizes["hiden"], 4))
        #                 ^^^^^^^^^^^^^^ error: RX0112 evaluating this Python raised KeyError:
        #        | 'hiden'
        return y


@rejected
def test_a_python_value_that_is_no_expression():
    table = {"a": 1}

    @R.function
    def f(x: R.Tensor((4,), "float32")):
        return table
        #      ^^^^^ error: RX0201 `table` is a Python dict, and no value of a program
        # help: give its values as a tuple: `tuple(table.values())`
        # fix: tuple(table.values())


def test_attributes_of_python_values_in_data_mode():
    check_rejected(
        """
        @R.function
        def f(x: R.Tensor((4,), "float32")):
            y = R.reshape(x, (2, (2).real))
            #                    ^^^^^^^^ error: RX0104 attributes of Python values are not read
            #        | in data mode
            return y
        """,
        mode="data",
    )


@rejected
def test_a_python_value_that_is_unpacked():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        a, b = "ab"
        #      ^^^^ error: RX0208 `'ab'` cannot be unpacked
        c, d = {"a": 1}
        #      ^^^^^^^^ error: RX0208 `{'a': 1}` cannot be unpacked
        return x


@rejected
def test_a_symbol_that_no_operator_has():
    @R.function
    def f(x: R.Tensor((4,), "int32")):
        y = x is x
        #   ^^^^^^ error: RX0104 `is` has no meaning in Relax
        z = x in x
        #   ^^^^^^ error: RX0104 `in` has no meaning in Relax
        w = +x
        #   ^^ error: RX0104 `+` has no meaning in Relax
        return y


@rejected
def test_what_numpy_and_torch_have_and_scripts_have_not():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        a = x.numpy()
        #   ^^^^^^^ error: RX0102 `x` has no attribute `numpy`
        # help: values are known when the program runs: return the tensor
        b = R.add(x, [1.0, 2.0, 3.0])
        #            ^^^^^^^^^^^^^^^ error: RX0201 `R.add` cannot take these operands
        # help: make a tensor of it: `R.const([1.0, 2.0, 3.0])`
        #            --------------- label: is a Python `list`, not a tensor
        return x


@rejected
def test_a_condition_that_is_no_single_truth():
    @R.function
    def f(m: R.Tensor((2, 3), "bool"), k: R.Prim("int64")):
        if m:
        #  ^ error: RX0201 the condition of `if` must be a bool scalar
        #    help: choose element by element: `R.where(m, a, b)`
        #  - label: is `R.Tensor((2, 3), "bool")`
            a = R.const(1)
        else:
            a = R.const(2)
        if k:
        #  ^ error: RX0201 the condition of `if` must be a bool scalar
        #    help: compare it: `k != 0`
        #  - label: is `R.Prim("int64")`
            b = R.const(1)
        else:
            b = R.const(2)
        return m


LATER = {
    "TryStar": (
        "try:\n        y = x\n    except* ValueError:\n        y = x",
        "`try` cannot be used in a Relax function",
        "`try` is not part of a PrimFunc",
    ),
    "TypeAlias": (
        "type Row = int",
        "`type` cannot be used in a Relax function",
        "`type` is not part of a PrimFunc",
    ),
    "TemplateStr": (
        't"{x}"',
        "a t-string cannot be used here",
        "a t-string cannot be used here",
    ),
}


@pytest.mark.parametrize("node", LATER)
@pytest.mark.parametrize("language", ["R.function", "T.prim_func"])
def test_a_form_of_a_later_python_is_named_as_its_users_do(node, language):
    form, *said = LATER[node]
    annotation = {"R.function": "R.Object", "T.prim_func": "T.int32"}[language]
    text = f"@{language}\ndef f(x: {annotation}):\n    {form}\n    return x\n"
    expected = said[language == "T.prim_func"] if hasattr(ast, node) else "this is not Python"
    with pytest.raises(DiagnosticError) as caught:
        from_source(text)
    (diagnostic,) = caught.value.diagnostics
    assert expected in diagnostic.message
    # Where Python cannot read it, the place is what Python says.
    assert diagnostic.span.line == 3 or not hasattr(ast, node)
