"""The PrimFuncs that AlterOpImpl is given for operators, and what does not fit."""

from __future__ import annotations

from typing import Any

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir.tir import PrimFunc
from relaxscript.ir.tir_compute import IndexMap
from relaxscript.script import from_source, tir as T
from relaxscript.transform import AlterOpImpl
from relaxscript_tests.growth import growth
from relaxscript_tests.transform.before_after import check


@T.prim_func(private=True)
def exp_2d(A: T.Buffer((4, 4), "float32"), B: T.Buffer((4, 4), "float32")):
    for i, j in T.grid(4, 4):
        with T.block("exp"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.exp(A[vi, vj])


EXP = """
    @T.prim_func(private=True)
    def {name}(A: T.Buffer(({shape}), "float32"), B: T.Buffer(({shape}), "float32")):
        T.func_attr({{"operator_name": "{kind}"}})
        for {loops} in T.grid({shape}):
            with T.block("exp"):
                {axes} = T.axis.remap("{kinds}", [{loops}])
                B[{axes}] = T.exp(A[{axes}])
"""
OLD = EXP.format(name="exp", kind="relax.exp", shape="16,", loops="i", axes="vi", kinds="S")
NEW = EXP.format(
    name="relax_exp_replacement", kind="relax.exp", shape="4, 4", loops="i, j", axes="vi, vj",
    kinds="SS",
)  # fmt: skip
OTHER = EXP.format(name="log", kind="relax.log", shape="16,", loops="i", axes="vi", kinds="S")
INFO = 'R.Tensor((16,), "float32")'
CALL = f"y = R.call_tir(cls.exp, (x,), out_sinfo={INFO})"
MAP = "lambda i: (i // 4, i % 4)"


def pack(i: Any) -> Any:
    return i // 4, i % 4


def module(functions: str, body: str, result: str = "y") -> str:
    lines = "\n".join(f"        {line}" for line in body.strip().splitlines())
    return f"""
@I.ir_module
class M:{functions}
    @R.function
    def main(x: {INFO}):
        cls = M
{lines}
        return {result}
"""


def altered(
    maps: Any, separators: Any = None, before: Any = None, func: PrimFunc = exp_2d
) -> AlterOpImpl:
    of = "relax.exp"
    return AlterOpImpl({of: func}, {of: maps}, {of: separators}, {of: before})


SWAPPED = f"""
lv = R.layout_transform(x, {MAP})
lv1 = R.call_tir(cls.relax_exp_replacement, (lv,), out_sinfo=R.Tensor((4, 4), "float32"))
y = R.layout_transform(lv1, lambda i, j: (i * 4 + j,))
"""


@pytest.mark.parametrize(
    "index_map",
    [
        pack,
        IndexMap.from_func(pack),
        IndexMap.from_func_with_separators(lambda i: (i // 4, IndexMap.AXIS_SEPARATOR, i % 4)),
        lambda i: (i // 4, IndexMap.AXIS_SEPARATOR, i % 4),
        IndexMap.from_func(pack, inverse_index_map=lambda i, j: i * 4 + j),
    ],
)
def test_a_prim_func_is_replaced_on_tensors_in_the_layouts_of_its_buffers(index_map):
    step = altered([index_map, index_map])
    made = check(step, module(OLD, CALL), module(OLD + NEW, SWAPPED))
    assert step(made) is made


def test_it_is_replaced_in_dataflow_blocks_and_branches_too():
    def around(body: str) -> str:
        inside = "".join(f"\n        {line}" for line in body.strip().splitlines())
        block = f"    with R.dataflow():{inside}\n        R.output(y)\n    z = y"
        return f"if R.const(True):\n{block}\nelse:\n    z = x"

    check(
        altered([pack, pack]),
        module(OLD, around(CALL), "z"),
        module(OLD + NEW, around(SWAPPED), "z"),
    )


def test_the_separators_of_axes_are_given_on():
    check(altered([pack, pack], [[1], []], [[], [1]]), module(OLD, CALL), module(OLD + NEW, f"""
lv = R.layout_transform(x, {MAP}, axis_separators=[1])
lv1 = R.call_tir(cls.relax_exp_replacement, (lv,), out_sinfo=R.Tensor((4, 4), "float32"))
y = R.layout_transform(lv1, lambda i, j: (i * 4 + j,), input_axis_separators=[1])
"""))  # fmt: skip


def test_other_operators_and_those_without_a_name_stay():
    nameless = OLD.replace('T.func_attr({"operator_name": "relax.exp"})', "pass")
    check(altered([pack, pack]), module(OTHER, CALL.replace("exp", "log")))
    check(altered([pack, pack]), module(nameless, CALL))
    check(AlterOpImpl({}, {}, {}, {}), module(OLD, CALL))


def test_without_index_maps_only_the_prim_func_is_another():
    text = EXP.format(
        name="relax_exp_replacement", kind="relax.exp", shape="16,", loops="k", axes="vk", kinds="S"
    ).replace("T.exp(A[vk])", "A[vk] + A[vk]")
    func = from_source(module(text, "y = x"))["relax_exp_replacement"]
    after = CALL.replace("cls.exp", "cls.relax_exp_replacement")
    for maps in ([], [None, None]):
        check(altered(maps, func=func), module(OLD, CALL), module(OLD + text, after))


# ---------------------------------------------------------------- mistakes


def test_maps_are_one_for_each_parameter():
    with pytest.raises(DiagnosticError, match="RX0103") as found:
        altered([pack])
    (diagnostic,) = found.value.diagnostics
    assert diagnostic.message == "`relax.exp` has 1 index maps, and its PrimFunc has 2 parameters"
    assert diagnostic.help == "give one for each parameter, the results last, or none at all"
    assert diagnostic.span.filename == __file__
    with pytest.raises(DiagnosticError, match=r"`relax.exp` has 3 separators, and its PrimFunc"):
        altered([pack, pack], [[], [], []])
    with pytest.raises(DiagnosticError, match=r"`relax.exp` has 1 input separators, and its"):
        altered([pack, pack], None, [[1]])


@pytest.mark.parametrize(
    ("maps", "message"),
    [
        ([pack, 3], "`relax.exp` has int (3) where an index map is to be"),
        (pack, "the index maps of `relax.exp` are a list, not function (<function pack"),
        (
            [pack, lambda *, i: i],
            "the index map of `relax.exp` cannot be made: a function over variables has plain",
        ),
    ],
)
def test_index_maps_are_functions_of_indices(maps, message):
    with pytest.raises(DiagnosticError) as found:
        altered(maps)
    assert found.value.diagnostics[0].code == "RX0103"
    assert found.value.diagnostics[0].message.startswith(message)


@T.prim_func(private=True)
def three(A: T.Buffer((16,)), B: T.Buffer((16,)), C: T.Buffer((16,))):
    for i in range(16):
        C[i] = A[i] + B[i]


@pytest.mark.parametrize(
    ("step", "code", "message"),
    [
        (
            altered([], func=three),
            "RX0703",
            "the PrimFunc for `relax.exp` has 3 parameters, and `exp`, which it is to replace",
        ),
        (
            altered([lambda i, j: (j, i), pack]),
            "RX0204",
            "there is an index for each axis of `x`",
        ),
        (
            altered([pack, lambda i, j: (j, i)]),
            "RX0204",
            "the index map takes 2 indices",
        ),
        (
            altered([pack, lambda i: (i // 4, i // 4)]),
            "RX0204",
            "the index map leaves places where no element is",
        ),
        (altered([None, pack]), "RX0203", "`relax_exp_replacement` takes another tensor there"),
    ],
)
def test_what_does_not_fit_the_tensors_is_refused_at_the_call(step, code, message):
    with pytest.raises(DiagnosticError) as found:
        step(from_source(module(OLD, "z = x\n" + CALL.replace("(x,)", "(z,)"))))
    diagnostic = found.value.diagnostics[0]
    assert (diagnostic.code, diagnostic.span.line) == (code, 16)
    assert diagnostic.message.startswith(message), diagnostic.message


def test_the_shape_of_a_result_is_known_to_its_map():
    text = module(OLD, """
s = R.shape([16])
y = R.call_tir(cls.exp, (x,), out_sinfo=R.Tensor(s, "float32"))""")  # fmt: skip
    check(altered([pack, pack]), text, module(OLD + NEW, f"s = R.shape([16])\n{SWAPPED}"))


def test_a_result_of_a_shape_that_is_not_known_is_refused():
    text = module(OLD, f"y = R.call_tir(cls.exp, (x,), out_sinfo={INFO})")
    text = text.replace(f"x: {INFO}", f"x: {INFO}, s: R.Shape(ndim=1)")
    mod = from_source(text.replace(f"out_sinfo={INFO}", 'out_sinfo=R.Tensor(s, "float32")'))
    with pytest.raises(DiagnosticError, match="RX0204") as found:
        altered([pack, pack])(mod)
    (diagnostic,) = found.value.diagnostics
    message = "the shape of a result is not known, which an index map is to change"
    assert (diagnostic.message, diagnostic.span.line) == (message, 15)


def test_the_cost_is_linear_in_the_calls():
    def prepare(count: int):
        lines = [
            CALL.replace("y =", f"y{k} =").replace("(x,)", f"(y{k - 1},)" if k else "(x,)")
            for k in range(count)
        ]
        mod = from_source(module(OLD, "\n".join(lines), f"y{count - 1}"))
        step = altered([pack, pack])
        return lambda: step(mod)

    assert growth(prepare, 8) < 9
