"""SplitCallTIRByPattern: which nests become calls of libraries, and what is left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.ir.module import IRModule
from relaxscript.ir.tir import PrimFunc
from relaxscript.runtime import register_func
from relaxscript.runtime.packed_func import remove_global_func
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS, assert_same
from relaxscript.transform import (
    MatchResult,
    PassContext,
    SplitCallTIRByPattern,
    VerifyEach,
)

PARAMS = (
    'x: T.Buffer(("n", "k"), "float32"), w: T.Buffer(("k", "m"), "float32"), '
    'b: T.Buffer(("m",), "float32"), out: T.Buffer(("n", "m"), "float32")'
)
SIZES = "n, k, m = T.int64(), T.int64(), T.int64()"
PRODUCT = """
for i, j, l in T.grid(n, m, k):
    with T.block("product"):
        vi, vj, vl = T.axis.remap("SSR", [i, j, l])
        with T.init():
            {out}[vi, vj] = T.float32(0)
        {out}[vi, vj] = {out}[vi, vj] + {x}[vi, vl] * {w}[vl, vj]
"""
BIAS = """
for i, j in T.grid(n, m):
    with T.block("bias"):
        vi, vj = T.axis.remap("SS", [i, j])
        {out}[vi, vj] = {x}[vi, vj] + {b}[vj]
"""
RELU = """
for i, j in T.grid(n, m):
    with T.block("relu"):
        vi, vj = T.axis.remap("SS", [i, j])
        {out}[vi, vj] = T.max({x}[vi, vj], T.float32(0))
"""
SCALED = """
for i, j in T.grid(n, m):
    with T.block("scaled"):
        vi, vj = T.axis.remap("SS", [i, j])
        {out}[vi, vj] = {b}[vj] * T.Cast("float32", {size})
"""


def indented(text: str, by: int) -> str:
    return "\n".join(" " * by + line for line in text.strip("\n").split("\n"))


def prim_func(params: str, *body: str) -> PrimFunc:
    text = "\n".join(indented(part, 4) for part in body)
    found = from_source(f"@T.prim_func(private=True)\ndef f({params}):\n{text}\n")
    assert isinstance(found, PrimFunc)
    return found


PATTERN_SIZES = "p, q, r = T.int64(), T.int64(), T.int64()"
MATMUL = prim_func(
    'A: T.Buffer(("p", "q"), "float32"), B: T.Buffer(("q", "r"), "float32"), '
    'C: T.Buffer(("p", "r"), "float32")',
    PATTERN_SIZES,
    PRODUCT.format(out="C", x="A", w="B").replace("n, m, k", "p, r, q"),
)
ADD = prim_func(
    'A: T.Buffer(("p", "q"), "float32"), B: T.Buffer(("q",), "float32"), '
    'C: T.Buffer(("p", "q"), "float32")',
    "p, q = T.int64(), T.int64()",
    BIAS.format(out="C", x="A", b="B").replace("n, m", "p, q"),
)
MAX = prim_func(
    'A: T.Buffer(("p", "q"), "float32"), C: T.Buffer(("p", "q"), "float32")',
    "p, q = T.int64(), T.int64()",
    RELU.format(out="C", x="A").replace("n, m", "p, q"),
)
DENSE = "product = T.alloc_buffer((n, m))\nsum = T.alloc_buffer((n, m))" + "".join([
    PRODUCT.format(out="product", x="x", w="w"),
    BIAS.format(out="sum", x="product", b="b"),
    RELU.format(out="out", x="sum"),
])  # fmt: skip
MAIN = """
@R.function
def main(
    x: R.Tensor(("n", "k"), "float32"), w: R.Tensor(("k", "m"), "float32"),
    b: R.Tensor(("m",), "float32"),
):
    n, m = T.int64(), T.int64()
    cls = M
    with R.dataflow():
        y = R.call_tir(cls.dense, (x, w, b), out_sinfo=R.Tensor((n, m), "float32"))
        R.output(y)
    return y
"""
STATIC = {'"n"': "3", '"k"': "4", '"m"': "5"}


def parsed(*members: str) -> IRModule:
    text = "\n".join(indented(member, 4) for member in members)
    found = from_source(f"@I.ir_module\nclass M:\n{text}\n")
    assert isinstance(found, IRModule)
    return found


def module(body: str = DENSE, main: str = MAIN, params: str = PARAMS) -> IRModule:
    func = f"@T.prim_func(private=True)\ndef dense({params}):\n    {SIZES}\n{indented(body, 4)}"
    return parsed(func, main)


def static(text: str) -> str:
    """A script in which sizes are numbers."""
    for name, size in STATIC.items():
        text = text.replace(name, size)
    text = text.replace(SIZES, "").replace("n, m = T.int64(), T.int64()", "")
    return text.replace("(n, m", "(3, 5").replace("5, k)", "5, 4)")


def matmul(a: Any, b: Any, out: Any) -> None:
    np.matmul(a, b, out=out)


def by_numpy(results: list[MatchResult]) -> list[Any]:
    """Takes the first nest, where it is a product."""
    first = results[0]
    if first.pattern is not MATMUL:
        return ["", 0, []]
    return [matmul, 1, list(first.matched_buffers[:2])]


def split(mod: IRModule, codegen: Callable[..., Any] = by_numpy, *patterns: PrimFunc) -> IRModule:
    step = SplitCallTIRByPattern(patterns or (MATMUL, ADD, MAX), codegen)
    before = mod.script(show_meta=True)
    with PassContext(instruments=[VerifyEach()]):
        made = step(mod)
    assert mod.script(show_meta=True) == before
    assert step(made) is made
    return made


def check_runs_as_before(mod: IRModule, made: IRModule, rng: np.random.Generator) -> None:
    shapes = ((3, 4), (4, 5), (5,))[: len(mod["main"].params)]
    inputs = [rng.normal(size=shape).astype("float32") for shape in shapes]
    expected = EXECUTORS["interpreter"](mod)("main", *inputs)
    for load in EXECUTORS.values():
        actual = load(made)("main", *inputs)
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("is_static", [False, True])
def test_a_product_before_an_epilogue_is_computed_by_numpy_on_all_executors(is_static, rng):
    text = module().script()
    mod = from_source(static(text)) if is_static else module()
    if is_static:
        assert "n = T.int64()" not in mod.script()
    made = split(mod)
    assert {gvar.name_hint for gvar in made.functions} == {"main", "unfused_epilogue"}
    (functions,) = made.external_mods
    assert functions == {"dense_library": matmul}
    check_runs_as_before(mod, made, rng)


def test_the_rest_is_a_prim_func_that_is_given_what_the_library_wrote():
    rest = f"""
@T.prim_func(private=True)
def unfused_epilogue(
    product: T.Buffer(("n", "m"), "float32"), b: T.Buffer(("m",), "float32"),
    out: T.Buffer(("n", "m"), "float32"),
):
    n, m = T.int64(), T.int64()
    sum = T.alloc_buffer((n, m))
{indented(BIAS.format(out="sum", x="product", b="b") + RELU.format(out="out", x="sum"), 4)}
"""
    calls = """product = R.call_dps_packed("dense_library", (x, w), R.Tensor((n, m), "float32"))
        y = R.call_tir(
            cls.unfused_epilogue, (product, b), out_sinfo=R.Tensor((n, m), "float32")
        )"""
    line = 'y = R.call_tir(cls.dense, (x, w, b), out_sinfo=R.Tensor((n, m), "float32"))'
    assert_same(split(module()), parsed(rest, MAIN.replace(line, calls)))


def test_a_code_generator_is_told_sizes_and_buffers_of_the_nests_that_fit():
    mod = module()
    told: list[list[MatchResult]] = []

    def codegen(results: list[MatchResult]) -> list[Any]:
        told.append(results)
        return ["", 0, []]

    assert split(mod, codegen) is mod
    dense = mod["dense"]
    x, w, b, out = [dense.buffer_map[param] for param in dense.params]
    product, total = dense.body.block.alloc_buffers
    (n, k), (_, m) = x.shape, w.shape
    assert told[0] == [
        MatchResult(MATMUL, (n, k, m), (x, w, product)),
        MatchResult(ADD, (n, m), (product, b, total)),
        MatchResult(MAX, (n, m), (total, out)),
    ]
    assert len(told[0][0].symbol_values) == 3
    assert split(mod, codegen, MATMUL, MAX) is mod
    assert [result.pattern for result in told[2]] == [MATMUL]


@pytest.mark.parametrize("count", [1, 2])
def test_the_rest_is_asked_of_in_turn(count, rng):
    def dense(x: Any, w: Any, b: Any, out: Any) -> None:
        np.add(x @ w, b, out=out)

    def codegen(results: list[MatchResult]) -> list[Any]:
        first = results[0]
        if first.pattern is MATMUL and count == 2:
            return (dense, 2, [*first.matched_buffers[:2], results[1].matched_buffers[1]])
        if first.pattern is MATMUL:
            return by_numpy(results)
        if first.pattern is ADD:
            return [lambda a, b, out: np.add(a, b, out=out), 1, first.matched_buffers[:2]]
        return [lambda a, out: np.maximum(a, 0, out=out), 1, first.matched_buffers[:1]]

    mod = module()
    made = split(mod, codegen)
    assert {gvar.name_hint for gvar in made.functions} == {"main"}
    assert made.script().count("call_dps_packed") == 4 - count
    check_runs_as_before(mod, made, rng)


def test_a_pattern_of_several_nests_is_found_as_one(rng):
    both = prim_func(
        'A: T.Buffer(("p", "q"), "float32"), B: T.Buffer(("q", "r"), "float32"), '
        'D: T.Buffer(("r",), "float32"), C: T.Buffer(("p", "r"), "float32")',
        PATTERN_SIZES + "\nE = T.alloc_buffer((p, r))",
        PRODUCT.format(out="E", x="A", w="B").replace("n, m, k", "p, r, q"),
        BIAS.format(out="C", x="E", b="D").replace("n, m", "p, r"),
    )
    mod = module()
    made = split(
        mod, lambda results: [
            lambda x, w, b, out: np.add(x @ w, b, out=out), len(results[:1]),
            results[0].matched_buffers[:3],
        ] if results[0].pattern is both else ["", 0, []], both, MATMUL,
    )  # fmt: skip
    check_runs_as_before(mod, made, rng)
    assert '"dense_library", (x, w, b)' in made.script()


def test_all_calls_of_a_prim_func_share_what_it_is_split_into(rng):
    call = 'R.call_tir(cls.dense, (x, w, b), out_sinfo=R.Tensor((n, m), "float32"))'
    main = f"""
@R.function
def main(
    x: R.Tensor(("n", "k"), "float32"), w: R.Tensor(("k", "m"), "float32"),
    b: R.Tensor(("m",), "float32"),
):
    n, m = T.int64(), T.int64()
    cls = M
    y = {call}
    if R.prim_value(True):
        with R.dataflow():
            z = {call}
            R.output(z)
    else:
        z = y
    return z
"""
    asked: list[int] = []

    def codegen(results: list[MatchResult]) -> list[Any]:
        asked.append(len(results))
        return by_numpy(results)

    mod = module(main=main)
    made = SplitCallTIRByPattern([MATMUL, ADD, MAX], codegen)(mod)
    assert asked == [3, 2]
    assert made.script().count('"dense_library"') == 2
    assert made.script().count("cls.unfused_epilogue,") == 2
    check_runs_as_before(mod, split(mod), rng)


def test_a_name_is_that_of_a_registered_function(rng):
    register_func("law.product", matmul)
    try:
        mod = module()
        made = split(mod, lambda results: ["law.product", *by_numpy(results)[1:]])
        assert made.external_mods == ()
        assert '"law.product", (x, w)' in made.script()
        check_runs_as_before(mod, made, rng)
    finally:
        remove_global_func("law.product")


def test_a_public_prim_func_stays_and_shares_nothing_with_the_rest():
    mod = module()
    dense = mod["dense"].with_attr("global_symbol", "dense")
    mod[mod.get_global_var("dense")] = dense
    made = split(mod)
    assert made["dense"] is dense
    rest = made["unfused_epilogue"]
    assert rest.is_private
    assert not {*rest.params} & {*dense.params}
    assert made.external_mods[0].keys() == {"dense_library"}


def test_integers_of_the_rest_that_no_size_says_are_passed(rng):
    body = DENSE.replace("T.max(sum[vi, vj], T.float32(0))", 'sum[vi, vj] * T.Cast("float32", k)')
    mod = module(body)
    made = split(mod)
    assert "k: T.int64" in made["unfused_epilogue"].script()
    check_runs_as_before(mod, made, rng)


# ---------------------------------------------------------------- what fits, and what does not


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x[vi, vl] * w[vl, vj]", "w[vl, vj] * x[vi, vl]"),
        ("x[vi, vl] * w[vl, vj]", "x[vi, vl] + w[vl, vj]"),
        ("T.grid(n, m, k)", "T.grid(n, m, k - 1)"),
        ("product[vi, vj] = T.float32(0)", "product[vi, vj] = T.float32(1)"),
        ("x[vi, vl] * w[vl, vj]", "x[vi, vl] * w[vl, (vj + 1) % m]"),
        ("for i, j, l in T.grid(n, m, k):", "for i, l, j in T.grid(n, k, m):"),
    ],
)
def test_nests_that_do_something_else_stay(old, new):
    body = DENSE.replace(old, new, 1)
    assert body != DENSE
    mod = module(body)
    assert split(mod) is mod


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("w[vl, vj]", "w[vl + 0, 1 * vj]"),
        ("T.grid(n, m, k)", "T.grid(n, 2 * m - m, k)"),
        ("vi, vj, vl", "a, vj, vl"),
    ],
)
def test_sizes_and_places_are_compared_by_proof_and_names_are_not(old, new, rng):
    body = DENSE.replace(old, new, 1)
    if new.startswith("a,"):
        head, mark, tail = body.partition("for i, j in")
        body = head.replace("[vi,", "[a,") + mark + tail
    mod = module(body)
    made = split(mod)
    assert made is not mod
    check_runs_as_before(mod, made, rng)


def test_an_axis_that_may_be_negative_is_not_taken_for_one_that_is_not():
    def shifted(buffers: str, index: str) -> PrimFunc:
        first, second = buffers
        return prim_func(
            f'{first}: T.Buffer((8,), "float32"), {second}: T.Buffer((8,), "float32")',
            "for i in range(4):\n    with T.block('b'):\n        v = T.axis.opaque(4, i - 2)\n"
            f"        {second}[v + 2] = {first}[{index}]",
        )

    main = """
@R.function
def main(x: R.Tensor((8,), "float32")):
    cls = M
    y = R.call_tir(cls.f, (x,), out_sinfo=R.Tensor((8,), "float32"))
    return y
"""
    func = shifted("ab", "T.max(v, 0) + 2").script().partition("@")[2].replace("def main", "def f")
    mod = parsed("@" + func, main)
    assert split(mod, lambda found: [print, 1, []], shifted("cd", "v + 2")) is mod
    made = split(
        mod, lambda found: [print, 1, found[0].matched_buffers[:1]],
        shifted("cd", "2 + T.max(v, 0)"),
    )  # fmt: skip
    assert "call_dps_packed" in made.script()


@pytest.mark.parametrize(
    "body",
    [
        # The rest writes what the library would.
        DENSE.replace("sum", "product").replace("product = T.alloc_buffer((n, m))\n", "", 1),
        # It is a result, from which the rest computes.
        PRODUCT.format(out="out", x="x", w="w") + BIAS.format(out="out", x="out", b="b"),
        # The rest does not read it.
        "product = T.alloc_buffer((n, m))" + PRODUCT.format(out="product", x="x", w="w")
        + RELU.format(out="out", x="x").replace("x[vi, vj]", "b[vj]"),
    ],
)  # fmt: skip
def test_parts_that_share_more_than_one_tensor_stay_together(body):
    mod = module(body)
    assert split(mod) is mod


@pytest.mark.parametrize("size", ["k", "m"])
def test_a_library_is_given_no_integers_but_those_that_shapes_say(size):
    scaled = prim_func(
        's: T.int64, B: T.Buffer(("q",), "float32"), C: T.Buffer(("p", "q"), "float32")',
        "p, q = T.int64(), T.int64()",
        SCALED.format(out="C", b="B", size="s").replace("n, m", "p, q"),
    )
    told: list[MatchResult] = []

    def codegen(results: list[MatchResult]) -> list[Any]:
        told.extend(results)
        return [print, 1, results[0].matched_buffers[:1]]

    first = SCALED.format(out="scaled", b="b", size=size)
    mod = module(
        "scaled = T.alloc_buffer((n, m))" + first
        + PRODUCT.format(out="out", x="x", w="w") + BIAS.format(out="out", x="scaled", b="b")
    )  # fmt: skip
    made = split(mod, codegen, scaled)
    assert (made is mod) == (size == "k")
    assert str(told[0].symbol_values[0]) == size


def test_a_module_in_which_nothing_fits_is_given_back():
    mod = module()
    asked: list[Any] = []
    assert split(mod, asked.append, MAX) is mod
    assert asked == []
    assert SplitCallTIRByPattern([], by_numpy)(mod) is mod


# ---------------------------------------------------------------- mistakes


def mistake_of(act: Callable[[], Any]) -> Diagnostic:
    with pytest.raises(DiagnosticError) as caught:
        act()
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.span is not None
    assert diagnostic.help
    return diagnostic


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, "`patterns[1]` is a PrimFunc, not int (3)"),
        (module(), "`patterns[1]` is a PrimFunc, not IRModule ("),
        (
            prim_func('a: T.Buffer((4,), "float32")', "a[0] = T.float32(0)"),
            "`patterns[1]` matches nothing: its body is no row of loop nests",
        ),
    ],
)
def test_a_pattern_that_can_match_nothing_is_refused(given, message):
    diagnostic = mistake_of(lambda: SplitCallTIRByPattern([MATMUL, given], by_numpy))
    assert diagnostic.code == "RX0709"
    assert diagnostic.message.startswith(message)


def test_a_code_generator_that_is_no_function_is_refused():
    diagnostic = mistake_of(lambda: SplitCallTIRByPattern([MATMUL], "gemm"))
    assert diagnostic.code == "RX0709"
    assert diagnostic.message == (
        "`fcodegen` is a function of a list of `MatchResult`, not str ('gemm')"
    )


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "which is no list of code, count and buffers"),
        ([matmul, 1], "which is no list of code, count and buffers"),
        ([matmul, 4, []], "whose count is int (4), not a number from 0 to 3"),
        ([matmul, -1, []], "whose count is int (-1), not a number from 0 to 3"),
        ([matmul, True, []], "whose count is bool (True), not a number from 0 to 3"),
        ([3, 1, []], "whose code is int (3), not a callable or the name of one"),
        ([matmul, 1, 3], "whose buffers are int (3), not a list of buffers"),
        ([matmul, 1, ["x"]], "whose buffers are list (['x']), not a list of buffers"),
    ],
)
def test_another_answer_of_a_code_generator_is_refused(answer, said):
    diagnostic = mistake_of(lambda: split(module(), lambda results: answer))
    assert diagnostic.code == "RX0709"
    assert diagnostic.message.startswith("`fcodegen` gives ")
    assert diagnostic.message.endswith(f" for `dense`, {said}")
    assert diagnostic.help == (
        "return `[code, count, buffers]`, with the count 0 for what it does not take"
    )


@pytest.mark.parametrize(
    ("name", "choose"),
    [
        ("product", lambda results: results[0].matched_buffers),
        ("b", lambda results: results[1].matched_buffers[1:2]),
        ("A", lambda results: [MATMUL.buffer_map[MATMUL.params[0]]]),
    ],
)
def test_a_buffer_that_the_nests_do_not_read_is_refused(name, choose):
    diagnostic = mistake_of(lambda: split(module(), lambda r: [matmul, 1, list(choose(r))]))
    assert diagnostic.code == "RX0709"
    assert diagnostic.message == (
        f"`fcodegen` gives the buffer `{name}` for `dense`, "
        "which is no tensor that its nests are given and read"
    )
    assert diagnostic.help == (
        "of `matched_buffers` it may give `x`, `w`; what is written is passed last"
    )


def test_a_name_that_is_not_registered_is_refused_with_the_nearest():
    register_func("law.product", matmul)
    try:
        diagnostic = mistake_of(
            lambda: split(module(), lambda r: ["law.prodct", 1, r[0].matched_buffers[:2]])
        )
    finally:
        remove_global_func("law.product")
    assert diagnostic.code == "RX0703"
    assert diagnostic.message == (
        "`fcodegen` gives str ('law.prodct') for `dense`, which is not registered"
    )
    assert diagnostic.help is not None
    assert diagnostic.help.startswith('did you mean "law.product"?')
