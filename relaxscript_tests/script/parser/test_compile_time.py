"""Python that is worked out while a script is parsed: loops, comprehensions, lambdas, lengths."""

from __future__ import annotations

import inspect

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir import assert_structural_equal
from relaxscript.script import from_source, relax as R

HEAD = (
    '@R.function\ndef f(x: R.Tensor(("n", 4), "float32"), t: R.Tuple(R.Tensor((2,)), R.Object)):\n'
)


def function(body: str):
    return from_source(HEAD + "    n = T.int64()\n" + indented(body))


def indented(body: str) -> str:
    return "\n".join(f"    {line}" for line in inspect.cleandoc(body).splitlines()) + "\n"


def same(body: str, written_out: str) -> None:
    """Two bodies mean the same."""
    assert_structural_equal(function(body), function(written_out))


def test_a_loop_over_numbers_is_written_out():
    same(
        """
        y = x
        for i in range(3):
            y = R.add(y, R.const(i, "float32"))
        return y
        """,
        """
        y = x
        y = R.add(y, R.const(0, "float32"))
        y = R.add(y, R.const(1, "float32"))
        y = R.add(y, R.const(2, "float32"))
        return y
        """,
    )


def test_break_continue_and_else_of_a_loop_mean_what_python_means():
    same(
        """
        y = x
        for i in range(9):
            if i == 1:
                continue
            if i == 3:
                break
            y = R.add(y, R.const(i, "float32"))
        else:
            y = R.exp(y)
        for i in []:
            y = R.cos(y)
        else:
            y = R.tanh(y)
        return y
        """,
        """
        y = x
        y = R.add(y, R.const(0, "float32"))
        y = R.add(y, R.const(2, "float32"))
        y = R.tanh(y)
        return y
        """,
    )


def test_the_names_of_a_loop_keep_their_last_values():
    same(
        """
        for i, (a, b) in enumerate([("float16", 1), ("int8", 2)]):
            y = R.astype(x, a)
        z = R.full((i, b), R.const(0.5), a)
        return (y, z)
        """,
        """
        y = R.astype(x, "float16")
        y = R.astype(x, "int8")
        z = R.full((1, 2), R.const(0.5), "int8")
        return (y, z)
        """,
    )


def test_a_loop_over_a_tuple_of_the_program_goes_through_its_fields():
    same(
        """
        for field in t:
            a = R.match_cast(field, R.Object)
        return a
        """,
        """
        p = t[0]
        q = t[1]
        a = R.match_cast(p, R.Object)
        a = R.match_cast(q, R.Object)
        return a
        """,
    )


def test_only_the_last_step_of_a_loop_leaves_a_dataflow_block():
    made = function(
        """
        with R.dataflow():
            for i in range(3):
                y = R.exp(x)
            R.output(y)
        return y
        """
    )
    kinds = [type(binding.var).__name__ for binding in made.body.blocks[0].bindings]
    assert kinds == ["DataflowVar", "DataflowVar", "Var"]


def test_a_choice_by_a_python_value_in_a_dataflow_block_leaves_it():
    same(
        """
        with R.dataflow():
            if 1 < 2:
                y = R.exp(x)
            else:
                y = R.cos(x)
            R.output(y)
        return y
        """,
        """
        with R.dataflow():
            y = R.exp(x)
            R.output(y)
        return y
        """,
    )


def test_comprehensions_are_written_out():
    same(
        """
        a = [R.multiply(x, R.const(i, "float32")) for i in range(4) if i % 2]
        b = {k: v for k, v in zip(["one", "two"], a)}
        c = R.concat(tuple(b[k] for k in b))
        return c
        """,
        """
        a = R.multiply(x, R.const(1, "float32"))
        b = R.multiply(x, R.const(3, "float32"))
        c = R.concat((a, b))
        return c
        """,
    )


def test_the_names_of_a_comprehension_end_with_it():
    same(
        """
        i = R.exp(x)
        a = [R.cos(x) for i in range(1)]
        return (i, a[0])
        """,
        """
        i = R.exp(x)
        a = R.cos(x)
        return (i, a)
        """,
    )


def test_a_lambda_is_called_where_it_is_written():
    same(
        """
        scaled = lambda a, by=2.0, *more, last=1, **others: R.add(R.multiply(a, R.const(by)), a)
        y = scaled(R.exp(x))
        z = scaled(y, 3.0, 4, 5, last=6, other=7)
        return z
        """,
        """
        e = R.exp(x)
        m = R.multiply(e, R.const(2.0))
        y = R.add(m, e)
        k = R.multiply(y, R.const(3.0))
        z = R.add(k, y)
        return z
        """,
    )


def test_a_lambda_can_be_given_to_functions_of_python():
    @R.function
    def f(x: R.Tensor((2,), "float32")):
        last = max(["a", "bbb", "cc"], key=lambda word: len(word))
        ys = list(map(lambda k: R.call_pure_packed(k, x, sinfo_args=R.Object), [last]))  # noqa: C417
        return ys[0]

    assert "bbb" in f.script()


@pytest.mark.parametrize(
    ("python", "meant"),
    [
        ("R.zeros((len(x), len(t)), x.dtype)", 'R.zeros((n, 2), "float32")'),
        ("R.zeros(x.shape, x.dtype)", 'R.zeros((n, 4), "float32")'),
        ("R.zeros((*x.shape, x.ndim), 'int8')", 'R.zeros((n, 4, 2), "int8")'),
        ("R.reshape(x, (x.shape[0] * x.shape[-1],))", "R.reshape(x, (n * 4,))"),
        ("R.zeros(x.shape[1:] + (3,), 'int8')", 'R.zeros((4, 3), "int8")'),
        ("R.zeros((x.shape[1] // 2 + 1,), 'int8')", 'R.zeros((3,), "int8")'),
        ("x.reshape(-1).astype('int8')", 'R.astype(R.reshape(x, (-1,)), "int8")'),
        ("x.T.transpose(1, 0).sum(axis=0)", "R.sum(R.permute_dims(R.permute_dims(x), (1, 0)), 0)"),
        ("x.softmax(-1).relu().view(4, n)", "R.reshape(R.nn.relu(R.nn.softmax(x, -1)), (4, n))"),
        ("x.add(x).pow(2.0)", 'R.power(R.add(x, x), R.const(2.0, "float32"))'),
        ("x.squeeze().unsqueeze(0)", "R.expand_dims(R.squeeze(x), 0)"),
        ("R.shape([*x.shape])", "R.shape([n, 4])"),
        ("t[:1]", "(t[0],)"),
    ],
)
def test_attributes_and_lengths_are_what_python_reads(python, meant):
    same(f"y = {python}\nreturn y", f"y = {meant}\nreturn y")


@pytest.mark.parametrize(
    ("python", "meant"),
    [("x.shape", "R.shape([n, 4])"), ("x.shape[1]", "R.prim_value(4)"), ("len(x)", "n")],
)
def test_what_is_known_now_is_a_value_where_one_is_needed(python, meant):
    same(f"y = {python}\nreturn y", f"return {meant}")


def test_dimensions_with_names_stay_dimensions():
    same(
        """
        rows, columns = x.shape
        wide = columns * 2 - 1
        return R.zeros((rows + 1, wide, -(-columns // 3)), "int8")
        """,
        """
        return R.zeros((n + 1, 7, 2), "int8")
        """,
    )


def test_a_dimension_as_a_value_is_a_scalar_of_int64():
    same("_, k = x.shape\nreturn k", "return R.prim_value(4)")


def test_a_set_is_made_now_and_asked_for_its_members():
    same(
        """
        odd = {i for i in range(5) if i % 2}
        y = x
        for i in range(4):
            if i in odd:
                y = R.add(y, R.const(i, "float32"))
        return y
        """,
        """
        y = x
        y = R.add(y, R.const(1, "float32"))
        y = R.add(y, R.const(3, "float32"))
        return y
        """,
    )


def test_strings_and_arrays_are_unpacked_as_items_of_a_loop():
    same(
        """
        y = x
        for a, b in ["12", "34"]:
            y = R.add(y, R.const(int(a) * int(b), "float32"))
        return y
        """,
        """
        y = x
        y = R.add(y, R.const(2, "float32"))
        y = R.add(y, R.const(12, "float32"))
        return y
        """,
    )


def test_a_lambda_of_a_prim_func_has_defaults_and_parameters_by_name():
    written = """@T.prim_func
def f(x: T.Buffer((8,), "float32")):
    scaled = lambda v, *more, by=2.0, **others: (v + sum(more)) * by
    x[0] = scaled(x[1])
    x[1] = scaled(x[1], x[2], by=3.0)
"""
    plain = """@T.prim_func
def f(x: T.Buffer((8,), "float32")):
    x[0] = (x[1] + 0) * T.float32(2.0)
    x[1] = (x[1] + x[2]) * T.float32(3.0)
"""
    assert_structural_equal(from_source(written), from_source(plain))


def test_steps_are_counted_over_all_loops_of_a_prim_func():
    with pytest.raises(DiagnosticError, match="more than 100,000 steps are written out"):
        from_source(
            """@T.prim_func
def f(x: T.Buffer((8,), "int32")):
    for i in list(range(400)):
        for j in list(range(400)):
            pass
"""
        )
