"""What people who know TVM write and expect of nodes, modules and scripts."""

from __future__ import annotations

import re

import pytest

import relaxscript as tvm
from relaxscript import IRModule, ir, relax, tir
from relaxscript.relax import transform
from relaxscript.relax.ir.instrument import WellFormedInstrument
from relaxscript.script import from_source, ir as I, relax as R, tir as T
from relaxscript.script.printer.module import Printer

X = relax.Var("x", R.Tensor((2,), "float32"))


@R.function
def identity(x: R.Tensor((2,), "float32")):
    return x


def by_hand(**attrs: str) -> relax.Function:
    """A function whose body is in no normal form."""
    call = relax.op.add(relax.op.add(X, X), X)
    return relax.Function([X], call, R.Tensor((2,), "float32"), attrs=attrs or None)


# ---------------------------------------------------------------- truth


def test_functions_and_modules_are_true_as_all_objects_are():
    assert identity
    assert IRModule()
    for value in (X, relax.op.add(X, X), relax.const(1)):
        with pytest.raises(TypeError, match="has no truth value while the program is being built"):
            bool(value)


# ---------------------------------------------------------------- equality


def test_struct_infos_that_say_the_same_are_equal_and_have_one_hash():
    n = tir.Var("n", "int64")
    one = [
        relax.PrimStructInfo("int32"), relax.ObjectStructInfo(), relax.ShapeStructInfo((n, 2)),
        relax.TensorStructInfo((n, 2), "float32"), relax.TensorStructInfo(ndim=2),
        relax.TupleStructInfo([relax.PrimStructInfo("bool")]), relax.PrimStructInfo(value=n),
        relax.FuncStructInfo([relax.TensorStructInfo((n,))], relax.ShapeStructInfo((n,))),
    ]  # fmt: skip
    two = [relax.PrimStructInfo("int32"), relax.ObjectStructInfo(), relax.ShapeStructInfo((n, 2)),
        relax.TensorStructInfo((n, 2), "float32"), relax.TensorStructInfo(ndim=2),
        relax.TupleStructInfo([relax.PrimStructInfo("bool")]), relax.PrimStructInfo(value=n),
        relax.FuncStructInfo([relax.TensorStructInfo((n,))], relax.ShapeStructInfo((n,))),
    ]  # fmt: skip
    for i, a in enumerate(one):
        for j, b in enumerate(two):
            assert (a == b) is (i == j) is not (a != b)
        assert hash(a) == hash(two[i])
    assert len({*one, *two}) == len(one)
    assert relax.PrimStructInfo("int32") != "int32"
    assert relax.TensorStructInfo((2,)) != relax.TensorStructInfo((3,))


def test_each_of_two_equal_struct_infos_has_a_place_of_its_own():
    made = from_source(
        "from relaxscript.script import relax as R\n@R.function\n"
        'def f(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):\n    return x\n'
    )
    printer = Printer()
    printer.print(made)
    x, y = made.params
    assert x.struct_info == y.struct_info
    assert printer.where[x.struct_info].column < printer.where[y.struct_info].column


def test_a_list_of_nodes_is_the_tuple_of_them():
    call = relax.op.add(X, X)
    ir.assert_structural_equal(call.args, [X, X])
    ir.assert_structural_equal([X, [X]], ((X), (X,)))
    assert ir.structural_hash([X, X]) == ir.structural_hash(call.args)
    with pytest.raises(ValueError, match=r"\(at <root>\[1\] here, <root>\[<mis"):
        ir.assert_structural_equal(call.args, [X])


def test_a_text_of_tir_is_equal_to_the_text():
    texts = (tir.StringImm("a"), tir.StringImm("b"))
    assert "a" in texts
    assert "c" not in texts
    assert texts[0] == tir.StringImm("a") != texts[1] != "a"
    assert len({texts[0], tir.StringImm("a")}) == 1


def test_a_module_is_the_same_as_itself_only():
    module = IRModule({"main": identity})
    assert module.same_as(module)
    assert not module.same_as(module.clone())


PATHS = [
    ("y = R.add(x, x)\n    return y", "y = R.multiply(x, x)\n    return y",
     "<root>.body.blocks[0].bindings[0].value.op"),
    ("y = R.add(x, x)\n    return y", "y = R.add(x, x)\n    z = R.add(y, x)\n    return z",
     "<root>.body.blocks[0].bindings[<missing element #1>] here, "
     "<root>.body.blocks[0].bindings[1] there"),
    ("y = R.add(x, x)\n    z = R.add(y, y)\n    return z",
     "y = R.add(x, x)\n    z = R.add(y, x)\n    return z",
     "<root>.body.blocks[0].bindings[1].value.args[1]"),
    ("y = R.sum(x, axis=[0])\n    return y", "y = R.sum(x, axis=[0], keepdims=True)\n    return y",
     '<root>.body.blocks[0].bindings[0].value.attrs["keepdims"]'),
]  # fmt: skip


def function(body: str) -> relax.Function:
    header = 'def f(x: R.Tensor((2,), "float32")):'
    return from_source(f"@R.function\n{header}\n    {body}\n")


@pytest.mark.parametrize(("one", "other", "path"), PATHS)
def test_a_mismatch_says_how_it_is_reached(one: str, other: str, path: str):
    with pytest.raises(ValueError, match="the programs differ") as raised:
        ir.assert_structural_equal(function(one), function(other))
    assert isinstance(raised.value, AssertionError)
    assert f"(at {path})" in str(raised.value)
    modules = [IRModule({"f": function(body)}) for body in (one, other)]
    inside = path.replace("<root>", '<root>.functions[I.GlobalVar("f")]')
    with pytest.raises(ValueError, match=re.escape(f"(at {inside})")):
        ir.assert_structural_equal(*modules)


# ---------------------------------------------------------------- normal form


def test_nothing_is_asked_around_the_pass_that_makes_programs_well_formed():
    module = IRModule({"f": by_hand(global_symbol="f")})
    with tvm.transform.PassContext(instruments=[WellFormedInstrument()]):
        made = transform.Normalize()(module)
        assert relax.analysis.well_formed(made)
        with pytest.raises(tvm.DiagnosticError, match="before the pass `ToNonDataflow`"):
            transform.ToNonDataflow()(module)


def test_a_function_put_into_a_module_keeps_its_attributes_when_it_is_normalised():
    made = transform.Normalize()(IRModule({"main": by_hand()}))["main"]
    assert not made.attrs
    assert [type(block) for block in made.body.blocks] == [relax.BindingBlock]
    assert len(made.body.blocks[0].bindings) == 2


def test_blocks_that_are_empty_go_and_neighbours_merge():
    a, b = (relax.Var(name, R.Tensor((2,), "float32")) for name in "ab")
    first = relax.BindingBlock([relax.VarBinding(a, relax.op.add(X, X))])
    second = relax.BindingBlock([relax.VarBinding(b, relax.op.add(a, X))])
    blocks = [first, relax.BindingBlock([]), relax.DataflowBlock([]), second]
    func = relax.Function([X], relax.SeqExpr(blocks, b), R.Tensor((2,), "float32"))
    made = transform.Normalize()(IRModule({"main": func}))["main"]
    assert len(made.body.blocks) == 1
    assert [binding.var.name_hint for binding in made.body.blocks[0].bindings] == ["a", "b"]


# ---------------------------------------------------------------- scripts


def test_a_function_that_stands_alone_may_have_any_global_symbol():
    @R.function
    def before(x: R.Tensor((2,), "float32")):
        R.func_attr({"global_symbol": "main"})
        return x

    assert before.attrs.global_symbol == "main"
    ir.assert_structural_equal(from_source(before.script()), before)
    ir.assert_structural_equal(IRModule({"main": before}), IRModule.from_expr(before))


def test_what_is_known_of_a_value_describes_the_result_of_a_call():
    @R.function(pure=False)
    def f(x: R.Tensor((2,), "float32")):
        y = R.call_packed("g", x, sinfo_args=[x.struct_info])
        z: R.Tensor = R.call_pure_packed("h", y, sinfo_args=(y.struct_info_,))
        return z

    y, z = f.body.blocks[0].bindings
    assert y.var.struct_info == R.Tensor((2,), "float32")
    assert z.var.struct_info == R.Tensor()
    for binding in (y, z):
        assert binding.value.sinfo_args == (f.params[0].struct_info,)


def test_a_local_function_is_lifted_under_both_names():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
            @R.function
            def inner(a: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
                z = R.add(a, y)
                return z

            r = inner(x)
            return r

    assert [v.name_hint for v in transform.LambdaLift()(Module)] == ["main", "main_inner"]


# ---------------------------------------------------------------- analyses and passes


def test_a_sequence_of_blocks_loses_what_nothing_needs_as_a_function_does():
    a, b = (relax.DataflowVar(name, R.Tensor((2,), "float32")) for name in "ab")
    c = relax.Var("c", R.Tensor((2,), "float32"))
    bindings = [(a, relax.op.add(X, X)), (b, relax.op.add(a, X)), (c, relax.op.add(a, a))]
    block = relax.DataflowBlock([relax.VarBinding(*pair) for pair in bindings])
    whole = relax.SeqExpr([block], c)
    made = relax.analysis.remove_all_unused(whole)
    assert [binding.var for binding in made.blocks[0].bindings] == [a, c]
    assert relax.analysis.remove_all_unused(made) is made
    assert relax.analysis.remove_all_unused(relax.SeqExpr([block], X)).blocks == ()


def test_the_number_of_a_virtual_device_in_its_list_names_it():
    @I.ir_module
    class Module:
        I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice("cuda", 0)]})

        @R.function
        def main(x: R.Tensor((4,), "float32", "vdevice:1")) -> R.Tensor((4,), "float32", "cuda"):
            y = R.add(x, x)
            return y

    listed = Module.global_infos["vdevice"]
    assert Module["main"].params[0].struct_info.vdevice is listed[1]
    with pytest.raises(tvm.DiagnosticError, match="the module has no virtual device `vdevice:2`"):
        from_source(Module.script().replace('"cuda:0"', '"vdevice:2"'))


def test_a_hint_names_devices_that_are_not_there():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        y = R.hint_on_device(x, tvm.cuda(1))
        return y

    wanted = f.body.blocks[0].bindings[0].value.attrs.dst_vdevice
    assert (wanted.target.kind, wanted.vdevice_id) == ("cuda", 1)


def test_literals_are_compared_as_numbers():
    shape = relax.ShapeExpr([96, 4])
    n = tir.Var("n", "int64")
    assert shape[0] == 96 == tir.IntImm("int64", 96)
    assert shape[0] != shape[1]
    assert not shape[0] == 95
    assert n == n
    assert n != tir.Var("n", "int64")
    assert not n == 96


# ---------------------------------------------------------------- programs that are ill-typed


def test_an_annotation_that_does_not_fit_is_taken_where_nothing_is_checked():
    @R.function(check_well_formed=False)
    def f(A: R.Tensor((2, 3), "float32")):
        C: R.Tensor(ndim=3) = R.add(A, A)
        return C

    assert f.body.blocks[0].bindings[0].var.struct_info == R.Tensor(ndim=3)
    assert not relax.analysis.well_formed(IRModule({"f": f}))


def test_operands_that_do_not_fit_are_taken_where_nothing_is_checked():
    @I.ir_module(check_well_formed=False)
    class Module:
        @T.prim_func
        def f(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
            for i in range(4):
                with T.block("b"):
                    vi = T.axis.spatial(4, i)
                    B[vi] = A[vi]

        @R.function
        def main(A: R.Tensor([4], "float32"), B: R.Tensor([5], "int8")):
            C = R.call_tir(Module.f, A, out_sinfo=R.Tensor([5], "float32"))
            D = R.add(A, B)
            E = R.matmul(R.nn.relu(D), C)
            F: R.Tensor((4,), "float32") = E
            return F

    assert not relax.analysis.well_formed(Module)
    infos = {b.var.name_hint: b.var.struct_info for b in Module["main"].body.blocks[0].bindings}
    assert infos["C"] == R.Tensor([5], "float32")
    assert infos["D"] == infos["E"] == R.Object()
    assert Module["main"].ret_struct_info == R.Tensor((4,), "float32")
    ir.assert_structural_equal(from_source(Module.script(), check_well_formed=False), Module)


def test_a_scalar_without_a_value_is_taken_where_nothing_is_checked():
    @T.prim_func(check_well_formed=False)
    def f(a: T.handle):
        x = T.int32()
        A = T.match_buffer(a, [x * 8])
        A[0] = T.float32(1)

    assert f.params[0].name == "a"


def test_names_and_syntax_are_checked_all_the_same():
    text = """
@R.function(check_well_formed=False)
def f(x: R.Tensor((2,), "float32")):
    y = R.ad(x, z)
    return y
"""
    with pytest.raises(tvm.DiagnosticError) as raised:
        from_source(text)
    assert {d.code for d in raised.value.diagnostics} <= {"RX0101", "RX0102"}


def test_a_branch_that_ends_in_a_call_for_its_effect_binds_it():
    @R.function(pure=False)
    def f(c: R.Tensor((), "bool"), x: R.Tensor((2,), "float32")):
        if c:
            R.print(x, format="{}")
        else:
            if c:
                R.print(x, format="no {}")
            else:
                R.print(x, x, format="no {} {}")
        return x

    choice = f.body.blocks[0].bindings[0].value
    for branch in (choice.true_branch, choice.false_branch):
        binding = branch.blocks[-1].bindings[-1]
        assert branch.body is binding.var
        assert binding.var.struct_info == relax.TupleStructInfo([])
    ir.assert_structural_equal(from_source(f.script()), f)
    assert from_source(f.script()).script() == f.script()
