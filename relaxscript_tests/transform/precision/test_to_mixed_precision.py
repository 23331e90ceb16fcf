"""Products take float16, and all else has the dtypes that it had, or follows."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir.module import IRModule
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS, check_outcomes, observe
from relaxscript.testing.inputs import inputs_for
from relaxscript.transform import ToMixedPrecision
from relaxscript_tests import examples
from relaxscript_tests.growth import growth
from relaxscript_tests.transform.algebra.before_after_products import check_block, script
from relaxscript_tests.transform.before_after import check

HALVES = """
    lv = R.astype(x, "float16")
    lv1 = R.astype(w, "float16")
"""
# A rounding to float16, one part of a number.
ROUNDING = 2.0**-11


def mixed(
    params: str, body: str, after: str, out_dtype: str = "float32", results: str = "y"
) -> None:
    """Compare what becomes of a block; it settles."""
    step = ToMixedPrecision(out_dtype)
    made = check_block(step, params, body, after, results)
    assert step(made) is made


def assert_near(text: str, near: float = 0.02, **options: object) -> IRModule:
    """A program gives nearly the same in mixed precision, on each executor."""
    mod = from_source(text)
    step = ToMixedPrecision(**options)  # type: ignore[arg-type]
    made = step(mod)
    assert made is not mod
    assert step(made) is made
    inputs = inputs_for(mod["main"], 0)
    expected = observe(EXECUTORS["interpreter"](mod), "main", inputs)
    for name in ("interpreter", "reference", "llvm"):
        run = EXECUTORS[name](made)
        actual = observe(lambda f, *args: step.call_as_before(mod, run, f, args), "main", inputs)  # noqa: B023
        check_outcomes(name, actual, "before", expected, near, near)
    return made


# ---------------------------------------------------------------- policies


def test_a_product_takes_halves_and_gives_what_sums_have():
    body = "y = R.matmul(x, w)"
    mixed("x: 2x4; w: 4x3", body, HALVES + 'y = R.matmul(lv, lv1, out_dtype="float32")')
    mixed(
        "x: 2x4; w: 4x3", body,
        HALVES + 'lv2 = R.matmul(lv, lv1, out_dtype="float16")\ny = R.astype(lv2, "float32")',
        "float16",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("x", "w", "call"),
    [
        ("2x3x8", "4x3x3", "R.nn.conv1d({}, {}{})"),
        ("2x3x8x8", "4x3x3x3", "R.nn.conv2d({}, {}{})"),
        ("2x3x8x8x8", "4x3x3x3x3", "R.nn.conv3d({}, {}{})"),
        ("nx4", "4xm", "R.matmul({}, {}{})"),
    ],
)
def test_convolutions_are_products_too(x, w, call):
    after = HALVES + "y = " + call.format("lv", "lv1", ', out_dtype="float32"')
    mixed(f"x: {x}; w: {w}", "y = " + call.format("x", "w", ""), after)


def test_an_attention_gives_halves():
    mixed(
        "q: 2x4x2x8; k: 2x4x2x8", "y = R.nn.attention(q, k, k)",
        """
        lv = R.astype(q, "float16")
        lv1 = R.astype(k, "float16")
        lv2 = R.nn.attention(lv, lv1, lv1)
        y = R.astype(lv2, "float32")
        """,
    )  # fmt: skip


def test_what_is_between_products_follows_them():
    mixed(
        "x: 2x4; w: 4x4",
        """
        a = R.nn.relu(x)
        b = R.matmul(a, w)
        c = R.nn.gelu(b)
        y = R.matmul(c, w)
        """,
        HALVES + """
        a = R.nn.relu(lv)
        b = R.matmul(a, lv1, out_dtype="float32")
        lv2 = R.astype(b, "float16")
        c = R.nn.gelu(lv2)
        y = R.matmul(c, lv1, out_dtype="float32")
        """,
    )  # fmt: skip


def test_what_comes_behind_the_last_product_is_computed_in_the_dtype_of_its_sums():
    body = "a = R.matmul(x, w)\ny = R.nn.relu(a)"
    mixed(
        "x: 2x4; w: 4x4", body,
        HALVES + 'a = R.matmul(lv, lv1, out_dtype="float32")\ny = R.nn.relu(a)',
    )  # fmt: skip
    mixed(
        "x: 2x4; w: 4x4", body,
        HALVES + """
        a = R.matmul(lv, lv1, out_dtype="float16")
        b = R.nn.relu(a)
        y = R.astype(b, "float32")
        """,
        "float16",
    )  # fmt: skip


def test_softmax_never_takes_halves():
    mixed(
        "x: 4x4; w: 4x4",
        "a = R.matmul(x, w)\nb = R.nn.softmax(x)\ny = R.add(a, b)",
        """
        lv = R.astype(w, "float16")
        lv1 = R.astype(x, "float16")
        a = R.matmul(lv1, lv, out_dtype="float16")
        b = R.nn.softmax(x)
        lv2 = R.astype(a, "float32")
        y = R.add(lv2, b)
        """,
        "float16",
    )  # fmt: skip


def test_a_comparison_of_floats_is_made_in_float32():
    mixed(
        "x: 2x4; w: 4x4",
        "a = R.nn.relu(x)\ny = R.matmul(a, w)\nz = R.less(a, R.const(1.0))",
        """
        lv = R.astype(w, "float16")
        a = R.nn.relu(x)
        lv1 = R.astype(a, "float16")
        y = R.matmul(lv1, lv, out_dtype="float32")
        z = R.less(a, R.const(1.0))
        """,
        results="y, z",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("params", "body"),
    [
        ("x: 2x4; w: 4x3", "y = R.nn.softmax(x)\nz = R.add(x, x)"),
        ("x: 2x4 of float16; w: 4x3 of float16", "y = R.matmul(x, w)\nz = R.nn.relu(x)"),
        ("x: 2x4 of float64; w: 4x3 of float64", "y = R.matmul(x, w)\nz = R.nn.relu(x)"),
        ("x: 2x4 of int8; w: 4x3 of int8", 'y = R.matmul(x, w, out_dtype="int32")\nz = x'),
        ("x: 2x4; w: 4x3", 'y = R.matmul(x, w, out_dtype="float64")\nz = R.nn.relu(x)'),
    ],
)
def test_without_a_product_of_float32_nothing_changes(params, body):
    check_block(ToMixedPrecision(), params, body, None, "y, z")


def test_outside_of_dataflow_blocks_nothing_changes():
    check(ToMixedPrecision(), script("x: 2x4; w: 4x4", "y = R.matmul(x, w)", dataflow=False))


# ---------------------------------------------------------------- casts


def test_a_value_is_cast_once_for_all_that_want_it():
    mixed(
        "x: 2x4; w: 4x4",
        "a = R.nn.softmax(x)\nb = R.matmul(a, w)\nc = R.matmul(a, w)\ny = R.add(b, c)\nz = a",
        """
        lv1 = R.astype(w, "float16")
        a = R.nn.softmax(x)
        lv = R.astype(a, "float16")
        b = R.matmul(lv, lv1, out_dtype="float32")
        c = R.matmul(lv, lv1, out_dtype="float32")
        y = R.add(b, c)
        z = a
        """,
        results="y, z",
    )  # fmt: skip


def test_what_the_program_rounds_by_itself_is_rounded_once():
    body = 'a = R.matmul(x, w)\nb = R.astype(a, "float16")\ny = R.matmul(b, v)'
    mixed(
        "x: 2x4; w: 4x4; v: 4x4 of float16", body,
        HALVES + """
        a = R.matmul(lv, lv1, out_dtype="float16")
        b = a
        y = R.matmul(b, v)
        """,
        "float16",
    )  # fmt: skip


def test_what_the_program_cast_up_is_taken_as_it_was():
    mixed(
        "x: 2x4 of float16; w: 4x4", 'a = R.astype(x, "float32")\ny = R.matmul(a, w)',
        """
        lv = R.astype(w, "float16")
        a = R.astype(x, "float32")
        y = R.matmul(x, lv, out_dtype="float32")
        """,
    )  # fmt: skip


def test_constants_are_cast_where_float16_has_room_for_them():
    body = "a = R.matmul(x, w)\nb = R.add(a, R.const({}, 'float32'))\ny = R.matmul(b, w)"
    start = HALVES + 'a = R.matmul(lv, lv1, out_dtype="float32")\n'
    end = 'y = R.matmul({}, lv1, out_dtype="float32")'
    for fits in ("0.1", "65504.0", 'float("inf")'):
        after = f"lv2 = R.astype(a, 'float16')\nb = R.add(lv2, R.const({fits}, 'float16'))\n"
        mixed("x: 2x4; w: 4x4", body.format(fits), start + after + end.format("b"))
    wide = "b = R.add(a, R.const(1e5, 'float32'))\nlv2 = R.astype(b, 'float16')\n"
    mixed("x: 2x4; w: 4x4", body.format("1e5"), start + wide + end.format("lv2"))


def test_a_product_with_a_constant_too_large_for_float16_stays():
    check_block(ToMixedPrecision(), "x: 2x1", "y = R.matmul(x, R.const([[1e6]], 'float32'))", None)


def test_tuples_hold_halves_where_these_are_wanted():
    mixed(
        "x: 2x4; w: 4x4",
        """
        a = R.matmul(x, w)
        b = R.matmul(x, w)
        c = ((a, b), b)
        d = c[0]
        e = d[0]
        y = R.matmul(e, w)
        """,
        HALVES + """
        a = R.matmul(lv, lv1, out_dtype="float32")
        lv2 = R.astype(a, "float16")
        b = R.matmul(lv, lv1, out_dtype="float32")
        c = ((lv2, b), b)
        d = c[0]
        e = d[0]
        y = R.matmul(e, lv1, out_dtype="float32")
        """,
    )  # fmt: skip


def test_a_split_and_its_parts_follow():
    mixed(
        "x: 2x4; w: 4x4",
        "a = R.split(x, 2, axis=1)\nb = R.concat(a, axis=1)\ny = R.matmul(b, w)",
        HALVES + """
        a = R.split(lv, 2, axis=1)
        b = R.concat(a, axis=1)
        y = R.matmul(b, lv1, out_dtype="float32")
        """,
    )  # fmt: skip


# ---------------------------------------------------------------- whole programs

PROGRAM = """
@I.ir_module
class M:
    @T.prim_func(private=True)
    def twice(a: T.Buffer((2, 3), "float32"), b: T.Buffer((2, 3), "float32")):
        for i, j in T.grid(2, 3):
            b[i, j] = a[i, j] * T.float32(2)

    @R.function(private=True)
    def inner(x: R.Tensor(("n", 3), "float32"), w: R.Tensor((3, 3), "float32")):
        n = T.int64()
        with R.dataflow():
            y: R.Tensor((n, 3), "float32") = R.matmul(x, w)
            R.output(y)
        return y

    @R.function
    def main(
        x: R.Tensor((2, 3), "float32"), w: R.Tensor((3, 3), "float32"), c: R.Tensor((), "bool"),
        t: R.Tuple(R.Tensor((2, 3), "float32"), R.Tensor((3, 3), "float32")),
    ):
        cls = M
        with R.dataflow():
            x1 = R.tanh(x)
            a = R.matmul(x1, w)
            b = R.call_tir(cls.twice, (a,), out_sinfo=R.Tensor((2, 3), "float32"))
            s = R.split(a, [1], axis=1)
            a1 = R.concat(s, axis=1)
            d = R.tanh(R.matmul(a1, w))
            e = R.match_cast(d, R.Tensor((2, 3), "float32"))
            f = R.tanh(R.matmul(e, t[1]))
            g = (f, (a, w))
            h = cls.inner(f, w)
            best = R.argmax(a, axis=1)

            @R.function
            def twofold(q: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
                return R.add(q, f)

            k = R.add(a, R.const(0.5, "float32"))
            l = R.matmul(k, w)
            R.output(b, g, h, f, best, twofold, l)
        if c:
            with R.dataflow():
                z0 = R.tanh(R.matmul(f, w))
                z1 = R.matmul(z0, w)
                R.output(z1)
            z = z1
        else:
            z = h
        @R.function
        def local(q: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
            with R.dataflow():
                r = R.tanh(R.matmul(q, w))
                r1 = R.matmul(r, w)
                R.output(r1)
            return r1
        u = local(z)
        return (b, g, h, z, u, best, twofold(f), l)
"""


@pytest.mark.parametrize("out_dtype", ["float32", "float16"])
@pytest.mark.parametrize("names", [None, ["w"], ["x", "w"]])
def test_branches_local_functions_casts_and_calls_get_what_they_had(out_dtype, names):
    assert_near(PROGRAM, 0.2, out_dtype=out_dtype, fp16_input_names=names)


def test_results_of_functions_and_blocks_keep_their_dtypes():
    mod = from_source(PROGRAM)
    made = ToMixedPrecision("float16")(mod)
    for var, func in mod.relax_functions().items():
        assert str(made[var.name_hint].ret_struct_info) == str(func.ret_struct_info)


@pytest.mark.parametrize("out_dtype", ["float32", "float16"])
def test_a_product_is_as_near_as_the_roundings_of_its_operands_and_result(out_dtype, rng):
    mod = ToMixedPrecision(out_dtype)(from_source(script("x: nxk; w: kxm", "y = R.matmul(x, w)")))
    for name in ("reference", "llvm"):
        run = EXECUTORS[name](mod)
        for _ in range(examples(40)):
            n, k, m = rng.integers(1, 40, 3)
            x, w = (rng.standard_normal(shape).astype("float32") for shape in ((n, k), (k, m)))
            wide = np.abs(x.astype("float64")) @ np.abs(w.astype("float64"))
            # Each factor is rounded, and so is each sum to float32; the result, if it is float16.
            bound = (2 * ROUNDING + ROUNDING**2 + (k + 2) * 2.0**-23) * wide + k * 2.0**-24 * 8
            exact = x.astype("float64") @ w
            if out_dtype == "float16":
                bound += ROUNDING * (np.abs(exact) + bound)
            assert (np.abs(run("main", x, w) - exact) <= bound).all()


def test_numbers_that_are_too_large_for_float16_become_infinite():
    mod = ToMixedPrecision()(from_source(script("x: 1x1; w: 1x1", "y = R.matmul(x, w)")))
    for name in ("reference", "llvm"):
        found = EXECUTORS[name](mod)("main", np.float32([[1e5]]), np.float32([[2]]))
        np.testing.assert_array_equal(found, np.float32([[np.inf]]))


@pytest.mark.parametrize("kind", ["chain", "tuples"])
def test_a_long_program_is_written_in_linear_time(kind):
    line = {
        "chain": "v{k} = R.nn.relu(R.matmul(v{j}, w))",
        "tuples": "t{k} = (v{j}, x)\nu{k} = t{k}[0]\nv{k} = R.matmul(u{k}, w)",
    }[kind]

    def prepare(count):
        lines = [line.format(k=k, j=k - 1) for k in range(1, count)]
        text = "\n".join(["v0 = R.add(x, x)", *lines])
        mod = from_source(script("x: 2x4; w: 4x4", text, f"v{count - 1}"))
        return lambda: ToMixedPrecision()(mod)

    assert growth(prepare, 40) < 10


# ---------------------------------------------------------------- mistakes


@pytest.mark.parametrize("dtype", ["float64", "int8", "bfloat16", "half"])
def test_sums_of_another_dtype_are_refused(dtype):
    with pytest.raises(DiagnosticError, match=f'`ToMixedPrecision` has no out_dtype "{dtype}"'):
        ToMixedPrecision(dtype)


def test_arguments_of_other_types_are_refused():
    with pytest.raises(DiagnosticError, match="`out_dtype` of `ToMixedPrecision` is a string"):
        ToMixedPrecision(16)  # type: ignore[arg-type]
    with pytest.raises(DiagnosticError, match="`fp16_input_names` of `ToMixedPrecision` is a list"):
        ToMixedPrecision(fp16_input_names="w")
