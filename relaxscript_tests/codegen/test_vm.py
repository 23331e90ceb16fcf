"""The bytecode of Relax functions: what it consists of, and what it leaves out."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript.op as op
from relaxscript.codegen.vm import codegen
from relaxscript.errors import DiagnosticError, RelaxWarning
from relaxscript.ir import prim
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import (
    BindingBlock,
    Call,
    Function,
    GlobalVar,
    SeqExpr,
    ShapeExpr,
    Tuple,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import ObjectStructInfo, TensorStructInfo
from relaxscript.op.inplace import call_tir_inplace
from relaxscript.runtime import ArgKind, VirtualMachine, register_func, remove_global_func
from relaxscript.runtime.debug.debug_info import location
from relaxscript.script import from_source, ir as I, relax as R, tir as T
from relaxscript.transform.pipeline import default_pipeline


def listing(mod, name):
    """The lines of one function in the listing, without its header."""
    for part in compiled(mod, kernels(mod)).as_text().split("\n\n"):
        head, *rest = part.strip().split("\n")
        lines = [line for line in rest if line.split()[0] != "check"]
        if head.startswith(f"@{name}("):
            return lines
    raise AssertionError(f"there is no function {name}")


def compiled(mod, linked=None):
    """The bytecode of a module after the default pipeline."""
    return codegen(default_pipeline()(mod), linked or {})


def kernels(mod):
    return {gv.name_hint: lambda *args: None for gv in mod.functions}


def callees(mod, name):
    """The names of the functions that the bytecode of a function calls, in order."""
    return [line.split()[1] for line in listing(mod, name) if line.split()[0] == "call"]


@I.ir_module
class Model:
    @T.prim_func
    def kernel(x: T.Buffer(("n",), "float32"), y: T.Buffer(("n",), "float32")):
        n = T.int64()
        for i in range(n):
            y[i] = x[i]

    @T.prim_func
    def writer(x: T.Buffer((2,), "float32"), y: T.Buffer((2,), "float32")):
        for i in range(2):
            x[i] = T.float32(0)
            y[i] = x[i]

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        cls = Model
        y = R.call_tir(cls.kernel, (x,), R.Tensor((n,), "float32"))
        z = R.add(y, R.const(1.0, "float32"))
        return z

    @R.function
    def known(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        cls = Model
        c = R.const([1, 2], "float32")
        a = R.call_tir(cls.kernel, (c,), R.Tensor((2,), "float32"))
        b = R.add(a, c)
        return b

    @R.function
    def written(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        cls = Model
        c = R.const([1, 2], "float32")
        a = R.call_tir(cls.writer, (c,), R.Tensor((2,), "float32"))
        return a

    @R.function
    def branch(x: R.Tensor((2,), "float32"), c: R.Tensor((), "bool")):
        if c:
            y = R.add(x, x)
        else:
            y = x
        return y

    @R.function
    def long(x: R.Tensor((2,), "float32")):
        a = R.add(x, x)
        b = R.multiply(a, a)
        c = R.add(b, b)
        d = R.multiply(c, c)
        e = R.add(d, x)
        return e

    @R.function
    def same(x: R.Tensor((2,), "float32")):
        a = R.sum(x, axis=0)
        b = R.sum(x, axis=0)
        c = R.sum(x, axis=0, keepdims=True)
        return (a, b, c)

    @R.function(private=True)
    def hidden(x: R.Tensor((2,), "float32")):
        return x


def test_call_tir_allocates_its_result_and_calls_the_kernel():
    expected = ["vm.builtin.make_shape", "vm.builtin.alloc_tensor", "kernel", "relax.add"]
    assert callees(Model, "main") == expected


def test_known_shapes_are_constants_and_constants_that_are_only_read_are_not_copied():
    assert callees(Model, "known") == ["vm.builtin.alloc_tensor", "kernel", "relax.add"]


def test_a_constant_that_a_kernel_may_write_into_is_new():
    assert callees(Model, "written")[0] == "vm.builtin.constant"


def test_both_branches_write_the_same_register():
    words = [line.split()[0] for line in listing(Model, "branch")]
    assert words == ["if", "call", "call", "goto", "call", "ret"]
    copies = [line for line in listing(Model, "branch") if "vm.builtin.copy" in line]
    assert len({line.split()[-1] for line in copies}) == 1


def test_registers_are_used_again_when_nothing_needs_their_values():
    (function,) = [f for f in compiled(Model, kernels(Model)).functions if f.name == "long"]
    assert function.register_file_size == 3


def test_values_that_are_needed_together_never_share_a_register():
    @I.ir_module
    class M:
        @R.function
        def last(x: R.Object, y: R.Object, z: R.Tensor((1,), "float32")):
            return z

        @R.function
        def main(x: R.Tensor((1,), "float32"), c: R.Prim("bool")):
            cls = M
            if c:
                a = R.add(x, x)
                b = R.add(a, a)
                r = R.add(b, b)
            else:
                r = x
            y = cls.last(R.const([1.0]), R.const([2.0]), R.const([3.0], "float32"))
            return R.add(r, y)

    (call,) = [line for line in listing(M, "main") if line.split()[1] == "last"]
    operands = call.split("in: ")[1].split("dst:")[0].split(",")
    assert len({operand.strip() for operand in operands}) == 3


def test_calls_with_the_same_attributes_share_one_function():
    assert callees(Model, "same")[:3] == ["relax.sum", "relax.sum", "relax.sum#2"]


def test_functions_without_global_symbol_are_private():
    executable = compiled(Model, kernels(Model))
    assert not executable.has_function("hidden")
    assert "@hidden(x) private" in executable.as_text()


def test_parameters_keep_their_names_and_instructions_their_places():
    executable = compiled(Model, kernels(Model))
    function = executable.functions[executable.function_index["branch"]]
    assert function.param_names == ("x", "c")
    code = executable.instructions[function.start_instr : function.end_instr]
    assert all(at.span is not None for at in code)
    assert code[1].span.text == "R.add(x, x)"


def test_the_same_module_gives_the_same_listing():
    text = compiled(Model, kernels(Model)).as_text()
    assert compiled(Model, kernels(Model)).as_text() == text


@I.ir_module
class Names:
    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32")) -> R.Object:
        y = R.call_packed("main", x, sinfo_args=R.Tensor((2,), "float32"))
        z = R.call_packed("relax.add", y, sinfo_args=R.Tensor((2,), "float32"))
        w = R.add(z, z)
        f = R.ExternFunc("main")
        v = f(w)
        return v


def test_packed_functions_may_have_the_names_of_functions_and_operators():
    register_func("main", lambda x: x + 1)
    register_func("relax.add", lambda x: x * 10)
    try:
        result = VirtualMachine(compiled(Names)).main(np.ones(2, "float32"))
    finally:
        remove_global_func("main")
        remove_global_func("relax.add")
    np.testing.assert_array_equal(result, [41, 41])


ARITHMETIC = """
@I.ir_module
class Arithmetic:
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")):
        n = T.int64()
        m = T.int64()
        s = R.shape([n * 2 + 1, n // 2, m % 2, T.max(n, m) - T.min(n, m), n // m, T.int64(7) - n])
        p = R.prim_value(n - 10 * m)
        return (s, p)
"""


def test_dimensions_are_computed_as_the_scalar_rules_say():
    vm = VirtualMachine(compiled(from_source(ARITHMETIC)))
    shape, scalar = vm.main(np.ones((5, 3), "float32"))
    assert tuple(shape) == (11, 2, 1, 2, 1, 2)
    assert scalar == -25


def with_body(body, params=()):
    function = Function(params, body, ObjectStructInfo(), attrs={"global_symbol": "main"})
    return IRModule({"main": function})


def test_names_that_are_not_defined_are_errors():
    x = Var("x", ObjectStructInfo())
    with pytest.raises(DiagnosticError, match="the variable `x` is not defined here"):
        compiled(with_body(x))
    with pytest.raises(DiagnosticError, match="the shape variable `n` is not defined here"):
        compiled(with_body(ShapeExpr([prim.Var("n", "int64")])))
    with pytest.raises(DiagnosticError, match="the module has no function `g`"):
        compiled(with_body(GlobalVar("g")))


def test_a_function_that_is_lost_after_the_passes_is_an_error():
    text = """
@I.ir_module
class Model:
    @R.function
    def g(x: R.Object):
        return x

    @R.function
    def main():
        cls = Model
        return cls.g
"""
    lowered = default_pipeline()(from_source(text)).functions.items()
    without = IRModule({var: function for var, function in lowered if var.name_hint != "g"})
    with pytest.raises(DiagnosticError, match="the module has no function `g`"):
        codegen(without, {})


def test_a_call_tir_of_no_prim_func_is_an_error():
    info = TensorStructInfo((2,), "float32")
    call = op.call_tir(GlobalVar("nothing"), (), info)
    with pytest.raises(DiagnosticError, match="the module has no function `nothing`"):
        compiled(with_body(call))


def test_a_kernel_that_the_module_has_not_is_an_error_when_bytecode_is_made():
    x = Var("x", TensorStructInfo((2,), "float32"))
    args = (GlobalVar("nothing"), Tuple([x]))
    call = Call(call_tir_inplace.op, args, {"inplace_indices": (0,)}, [x.struct_info])
    y = Var("y", x.struct_info)
    body = SeqExpr([BindingBlock([VarBinding(y, call)])], y)
    function = Function([x], body, x.struct_info, attrs={"relax.shapes_lowered": True})
    with pytest.raises(DiagnosticError, match="the module has no PrimFunc `nothing`"):
        codegen(IRModule({"main": function}))


def test_operands_that_never_fit_are_an_error_when_bytecode_is_made():
    x = Var("x", TensorStructInfo((2,), "float32"))
    y = Var("y", TensorStructInfo((3,), "float32"))
    with pytest.raises(DiagnosticError, match=r"`R\.add` cannot take these operands"):
        compiled(with_body(Call(op.add.op, (x, y)), [x, y]))


def test_a_result_that_is_known_is_not_checked_again():
    @I.ir_module
    class Known:
        @R.function
        def main(x: R.Tensor(("n", 4), "float32")):
            y = R.add(x, x)
            return y

        @R.function
        def declared(x: R.Tensor("float32", ndim=1)) -> R.Tensor("float32"):
            return x

    with pytest.warns(RelaxWarning, match="checked when the program runs"):

        @I.ir_module
        class Unknown:
            @R.function
            def main(x: R.Tensor("float32", ndim=1)) -> R.Tensor((3,), "float32"):
                return x

    assert [f.return_check for f in compiled(Known, {}).functions[:2]] == [None, None]
    assert compiled(Unknown, {}).functions[0].return_check is not None


SHAPES = """
@I.ir_module
class Shapes:
    @R.function
    def main(x: R.Tensor(("n", 2), "float32"), c: R.Tensor((), "bool")):
        n = T.int64()
        a = R.call_dps_packed("test.into", (x,), out_sinfo=R.Tensor((n, 2), "float32"))
        b = R.call_dps_packed("test.into", (a,), out_sinfo=R.Tensor((n, 2), "float32"))
        if c:
            d = R.call_dps_packed("test.into", (b,), out_sinfo=R.Tensor((n, 3), "float32"))
            e = R.call_dps_packed("test.into", (d,), out_sinfo=R.Tensor((n, 2), "float32"))
        else:
            d = R.call_dps_packed("test.into", (b,), out_sinfo=R.Tensor((n, 3), "float32"))
            e = R.call_dps_packed("test.into", (d,), out_sinfo=R.Tensor((n, 2), "float32"))
        f = R.call_dps_packed("test.into", (e,), out_sinfo=R.Tensor((n, 3), "float32"))
        return f
"""


def test_a_shape_is_computed_once_in_each_scope():
    mod = from_source(SHAPES)
    assert callees(mod, "main").count("vm.builtin.make_shape") == 4
    register_func("test.into", lambda x, y: y.fill(x.shape[1]))
    try:
        machine = VirtualMachine(compiled(mod, {}))
        for condition in (True, False):
            result = machine.main(np.zeros((4, 2), "float32"), np.array(condition))
            assert (result.shape, result[0, 0]) == ((4, 3), 2)
    finally:
        remove_global_func("test.into")


NAMES = """
@I.ir_module
class Names:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool")):
        m = T.int64()
        k = R.const(1.0, "float32")
        y = R.add(x, k)
        z = R.match_cast(y, R.Tensor((m,), "float32"))
        if c:
            u = R.negative(z)
            w = R.negative(u)
        else:
            w = R.abs(z)

        @R.function
        def again(a: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
            return again(a)

        v = R.abs(w)
        p = R.exp(v)
        return p
"""


def named(name, function="main"):
    """Where a variable of `NAMES` can be seen, by the text of the instructions there."""
    executable = compiled(from_source(NAMES), {})
    found = executable.functions[executable.function_index[function]]
    shown = []
    for variable in found.variables:
        if variable.name == name:
            pcs = range(variable.start, variable.stop)
            at = [location(executable, found, pc).text.partition("relax.")[2] for pc in pcs]
            shown.append([text.partition("(")[0] for text in at])
    return shown


def test_each_variable_is_seen_until_its_register_is_taken_or_its_branch_ends():
    assert named("y")[0][:2] == ["", ""]  # the match_cast, and what follows it
    assert named("u") == [["negative", ""]]
    first, second, merged = named("w")
    assert [first, second] == [[""], [""]]
    assert "abs" in merged
    assert named("v") == [["exp", ""]]


def test_a_variable_for_a_constant_is_seen_though_nothing_computes_it():
    executable = compiled(from_source(NAMES), {})
    (k,) = [v for v in executable.functions[0].variables if v.name == "k"]
    assert (k.arg.kind, k.start) == (ArgKind.CONSTANT, 0)
    assert k.stop == executable.functions[0].end_instr


def test_shape_variables_keep_their_names():
    executable = compiled(from_source(NAMES), {})
    assert executable.functions[0].shape_vars == ("n", "m")


def test_a_register_is_emptied_when_its_value_is_given_back_for_good():
    mod = from_source("""
@R.function(pure=False)
def main(x: R.Tensor((2,), "float32"), c: R.Tensor((), "bool")):
    s = R.vm.alloc_storage(R.shape([2]), 0, "float32")
    t = R.vm.alloc_tensor(s, 0, R.shape([2]), "float32")
    u = t
    _ = R.vm.kill_object(t)
    y = R.add(u, x)
    _1 = R.vm.kill_object(x)
    if c:
        _2 = R.vm.kill_object(y)
        z = R.abs(x)
    else:
        z = x
    _3 = R.vm.kill_object(s)
    return z
""")
    given_back = callees(IRModule.from_expr(mod.with_attr("global_symbol", "main")), "main")
    assert given_back[2:4] == ["relax.add", "vm.builtin.null_value"]
    assert given_back[-1] == "vm.builtin.null_value"


def test_a_direct_call_of_a_prim_func_is_one_of_its_kernel():
    mod = from_source(
        """
@I.ir_module
class M:
    @T.prim_func
    def copy(x: T.Buffer((2,), "float32"), y: T.Buffer((2,), "float32")):
        for i in range(2):
            y[i] = x[i]

    @R.function(pure=False)
    def main(y: R.Tensor((2,), "float32")):
        cls = M
        c = R.const([1, 2], "float32")  # it is only read, so it is not copied
        cls.copy(c, y)
        cls.copy(R.const([3, 4], "float32"), y)
        return y

    @R.function(pure=False)
    def written(y: R.Tensor((2,), "float32")):
        cls = M
        c = R.const([1, 2], "float32")
        cls.copy(y, c)
        return y
"""
    )
    assert callees(mod, "main") == ["copy", "copy"]
    assert callees(mod, "written") == ["vm.builtin.constant", "copy"]


def test_a_constant_by_other_names_is_new_only_where_somebody_writes_or_keeps():
    mod = from_source(
        """
@I.ir_module
class M:
    @T.prim_func
    def copy(x: T.Buffer((2,), "float32"), y: T.Buffer((2,), "float32")):
        for i in range(2):
            y[i] = x[i]

    @R.function(pure=False)
    def main(y: R.Tensor((2,), "float32")):
        cls = M
        c = R.const([1, 2], "float32")
        d = c
        e = R.match_cast(d, R.Tensor((2,), "float32"))
        t = (e, c)
        f = t[0]
        cls.copy(f, y)
        cls.copy(d, y)
        return y

    @R.function(pure=False)
    def written(y: R.Tensor((2,), "float32")):
        cls = M
        c = R.const([1, 2], "float32")
        t = (c, y)
        d = t[0]
        cls.copy(y, d)
        return y

    @R.function
    def given(y: R.Tensor((2,), "float32")):
        c = R.const([1, 2], "float32")
        d = c
        return d

    @R.function
    def kept(y: R.Tensor((2,), "float32")):
        c = R.const([1, 2], "float32")
        t = (c, c)
        d = t
        return d
"""
    )
    constant, items = "vm.builtin.constant", ["vm.builtin.make_tuple", "vm.builtin.tuple_getitem"]
    assert callees(mod, "main") == [*items, "copy", "copy"]
    assert callees(mod, "written") == [constant, *items, "copy"]
    assert callees(mod, "given") == [constant]
    assert callees(mod, "kept") == [constant, "vm.builtin.make_tuple"]
