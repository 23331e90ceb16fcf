"""PrimFuncs that promise not to share memory: for calls with new results, and for no others."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.ir.module import IRModule
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS
from relaxscript.transform import AttachAttrNoAlias
from relaxscript_tests.transform.before_after import check

X = 'x: R.Tensor((4,), "float32")'
CALL = 'R.call_tir(cls.double, (x,), out_sinfo=R.Tensor((4,), "float32"))'
NEW_CALL = CALL.replace("double", "double_noalias")
IN_PLACE = "y = R.call_tir_inplace(cls.double, (x, x), inplace_indices=[1], "
IN_PLACE += 'out_sinfo=R.Tensor((4,), "float32"))'


def double(name: str = "double", private: bool = False, noalias: bool = False) -> str:
    decorator = "@T.prim_func(private=True)" if private else "@T.prim_func"
    mark = '\n        T.func_attr({"tir.noalias": True})' if noalias else ""
    return f"""
    {decorator}
    def {name}(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):{mark}
        for i in range(4):
            B[i] = A[i] * T.float32(2)
"""


def module(*functions: str, body: str = f"y = {CALL}", head: str = X) -> str:
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    kernels = "".join(functions)
    return f"""
@I.ir_module
class M:{kernels}
    @R.function
    def main({head}):
        cls = M
{lines}
        return y
"""


def test_a_public_function_has_a_private_one_beside_it_that_promises():
    new = double("double_noalias", private=True, noalias=True)
    before = module(double())
    made = check(AttachAttrNoAlias(), before, module(double(), new, body=f"y = {NEW_CALL}"))
    assert AttachAttrNoAlias()(made) is made


def test_a_private_function_without_other_callers_promises_itself():
    before = module(double(private=True))
    made = check(AttachAttrNoAlias(), before, module(double(private=True, noalias=True)))
    assert AttachAttrNoAlias()(made) is made


def test_in_a_whole_program_nobody_else_calls_a_public_function():
    after = module(double(private=True, noalias=True))
    made = check(AttachAttrNoAlias(whole_program=True), module(double()), after)
    assert AttachAttrNoAlias(whole_program=True)(made) is made


@pytest.mark.parametrize(
    "other",
    [
        IN_PLACE.replace("y = ", "z = "),
        'z = R.call_dps_packed("double", (x,), out_sinfo=R.Tensor((4,), "float32"))',
    ],
)
def test_in_a_whole_program_a_public_function_stays_for_those_who_name_it(other: str):
    new = double("double_noalias", private=True, noalias=True)
    body = f"y = {{}}\n{other}"
    before = module(double(), body=body.format(CALL))
    after = module(double(), new, body=body.format(NEW_CALL))
    check(AttachAttrNoAlias(whole_program=True), before, after)


def test_in_a_whole_program_a_public_function_stays_for_packed_calls_of_prim_funcs():
    caller = """
    @T.prim_func(private=True)
    def caller(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        T.func_attr({"tir.noalias": True})
        T.evaluate(T.tvm_call_packed("double", A.data, B.data))
"""
    made = AttachAttrNoAlias(whole_program=True)(from_source(module(double(), caller)))
    assert {g.name_hint for g in made.functions} == {"main", "caller", "double", "double_noalias"}


def test_all_calls_in_all_functions_and_blocks_call_one_new_function():
    body = f"with R.dataflow():\n    h = {CALL}\n    y = {CALL.replace('(x,)', '(h,)')}"
    body += "\n    R.output(y)"
    made = AttachAttrNoAlias()(from_source(module(double(), body=body)))
    assert {gvar.name_hint for gvar in made.functions} == {"main", "double", "double_noalias"}
    assert made.script().count("cls.double_noalias") == 2


@pytest.mark.parametrize(
    "body",
    [
        IN_PLACE,
        'R.func_attr({"relax.force_pure": True})\ny = R.zeros((4,), "float32")\n'
        "_ = cls.double(x, y)",
        "f = cls.double\ny = x",
        'y = R.call_tir(cls.kept, (x,), out_sinfo=R.Tensor((4,), "float32"))',
    ],
)
def test_other_callers_may_give_a_function_what_they_like(body: str):
    kept = double("kept", noalias=True)
    check(AttachAttrNoAlias(), module(double(), kept, body=body))


def test_a_private_function_with_other_callers_stays_for_them():
    new = double("double_noalias", private=True, noalias=True)
    body = f"h = {{}}\n{IN_PLACE.replace('(x, x)', '(h, h)')}"
    before = module(double(private=True), body=body.format(CALL))
    after = module(double(private=True), new, body=body.format(NEW_CALL))
    check(AttachAttrNoAlias(), before, after)


def test_a_function_that_other_ones_call_stays_for_them():
    caller = """
    @T.prim_func(private=True)
    def caller(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        T.func_attr({"tir.noalias": True})
        M.double(A.data, A.data)
        B[0] = A[0]
"""
    made = AttachAttrNoAlias()(from_source(module(double(private=True), caller)))
    assert {g.name_hint for g in made.functions} == {"main", "caller", "double", "double_noalias"}
    assert "noalias" not in str(made["double"].attrs)


def test_a_function_that_writes_into_an_operand_is_left():
    writes = """
    @T.prim_func
    def double(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            A[i] = T.float32(1)
            B[i] = A[i] * T.float32(2)
"""
    check(AttachAttrNoAlias(), module(writes))


def test_a_function_that_calls_one_that_writes_into_an_operand_is_left():
    calls = """
    @T.prim_func
    def other(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        M.double(A.data, B.data)
        M.double(B.data, A.data)
"""
    body = f"y = {CALL.replace('cls.double', 'cls.other')}"
    check(AttachAttrNoAlias(), module(double(), calls, body=body))


def test_each_of_several_results_is_new():
    two = """
    @T.prim_func{}
    def {}(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32"),
          C: T.Buffer((4,), "float32")):
        {}for i in range(4):
            B[i] = A[i]
            C[i] = A[i]
"""
    plain = two.format("", "two", "")
    mark = 'T.func_attr({"tir.noalias": True})\n        '
    new = two.format("(private=True)", "two_noalias", mark)
    body = "h = R.call_tir(cls.{}, (x,), out_sinfo=[R.Tensor((4,), 'float32')] * 2)\ny = h[1]"
    before = module(plain, body=body.format("two"))
    check(AttachAttrNoAlias(), before, module(plain, new, body=body.format("two_noalias")))
    # With one result, the other buffer is an operand.
    body = "y = R.call_tir(cls.two, (x, x), out_sinfo=R.Tensor((4,), 'float32'))"
    check(AttachAttrNoAlias(), module(plain, body=body))


def test_calls_with_a_gradient_have_new_results():
    body = CALL.replace("call_tir(", "call_tir_with_grad(").replace("(x,), ", "(x,), ")
    body = body[:-1] + ', te_grad_name="g", te_grad_kwargs={})'
    made = AttachAttrNoAlias()(from_source(module(double(private=True), body=f"y = {body}")))
    assert "tir.noalias" in str(made["double"].attrs)


SHIFT = from_source("""
@I.ir_module
class M:
    @T.prim_func
    def add(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"),
            C: T.Buffer((8,), "float32")):
        for i in range(8):
            C[i] = A[i] + B[i]

    @T.prim_func
    def shift(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            B[i] = A[(i + 7) % 8] + T.float32(1)

    @R.function
    def main(x: R.Tensor((8,), "float32")):
        h = R.call_tir(M.add, (x, x), out_sinfo=R.Tensor((8,), "float32"))
        y = R.call_tir(M.shift, (h,), out_sinfo=R.Tensor((8,), "float32"))
        return y
""")


def test_one_tensor_may_be_given_twice_to_read():
    x = np.arange(8, dtype="float32")
    expected = np.roll(2 * x, 1) + 1
    for run in EXECUTORS.values():
        np.testing.assert_array_equal(run(AttachAttrNoAlias()(SHIFT))("main", x), expected)
    np.testing.assert_array_equal(rx.jit(SHIFT).main(x), expected)


def test_calls_from_python_with_one_array_twice_read_what_was_written():
    x = np.arange(8, dtype="float32")
    SHIFT["shift"](x, x)
    expected = np.arange(8, dtype="float32")
    for i in range(8):
        expected[i] = expected[(i + 7) % 8] + 1
    np.testing.assert_array_equal(x, expected)


def test_kernels_without_the_promise_are_arranged_where_they_are_called():
    rows = rx.build(SHIFT).explain().kernels
    assert [row.schedule for row in rows] == ["elementwise", "nests"]
    assert [row.operators for row in rows] == [("add",), ("shift",)]


def outcomes(mod: IRModule, *args: object) -> list[str]:
    """What fails, without and with optimisation."""
    found = []
    for target in ("llvm -opt-level=0", "llvm"):
        with pytest.raises(rx.VMError) as caught:
            rx.jit(mod, target).main(*args)
        found.append(str(caught.value))
    return found


GATHER = """
    @T.prim_func
    def gather(I: T.Buffer((8,), "int32"), J: T.Buffer((8,), "int32"),
               A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        t = T.alloc_buffer((8,), "float32")
        for i in range(8):
            t[i] = A[I[i]]
        for i in range(8):
            B[i] = t[i] + A[J[i]]
"""


@pytest.mark.parametrize(("first", "second"), [(7, 0), (0, 7), (None, 3), (5, None), (2, 2)])
def test_what_fails_fails_as_it_does_without_optimisation(first: int | None, second: int | None):
    head = ", ".join(f'{name}: R.Tensor((8,), "int32")' for name in "ij")
    head += ', a: R.Tensor((8,), "float32")'
    body = 'y = R.call_tir(cls.gather, (i, j, a), out_sinfo=R.Tensor((8,), "float32"))'
    mod = from_source(module(GATHER, head=head, body=body))
    i, j = np.zeros(8, "int32"), np.zeros(8, "int32")
    if first is not None:
        i[first] = 9
    if second is not None:
        j[second] = -20
    plain, optimised = outcomes(mod, i, j, np.zeros(8, "float32"))
    assert plain == optimised
    assert "noalias" not in optimised


def test_modules_print_and_read_back():
    made = AttachAttrNoAlias()(SHIFT)
    assert_structural_equal(from_source(made.script()), made)
