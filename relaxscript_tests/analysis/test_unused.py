"""Dead bindings: what goes, and what stays because somebody would notice."""

from __future__ import annotations

import pytest

from relaxscript.analysis import remove_all_unused
from relaxscript.analysis.unused import consolidate, droppable_variables
from relaxscript.errors import VMError
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import Var as PrimVar
from relaxscript.ir.relax import (
    BindingBlock,
    Call,
    DataflowBlock,
    Function,
    MatchCast,
    SeqExpr,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    ShapeStructInfo,
    TensorStructInfo,
)
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS, check_outcomes, observe
from relaxscript.testing.inputs import inputs_for
from relaxscript.testing.programs import random_module
from relaxscript_tests import examples

HEAD = """
@R.function({options})
def main(x: R.Tensor(("n",), "float32"), o: R.Object):
    n = T.int64()
    m = T.int64()
"""


def function(body, options=""):
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    return from_source(HEAD.format(options=options) + lines)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (  # a chain in a dataflow block, and the block with it
            """
with R.dataflow():
    a = R.exp(x)
    b = R.add(a, a)
    R.output(b)
return x
""",
            "return x",
        ),
        (  # what is left are neighbours of a kind
            """
a = R.exp(x)
with R.dataflow():
    b = R.add(a, a)
    R.output(b)
c = R.exp(a)
return c
""",
            """
a = R.exp(x)
c = R.exp(a)
return c
""",
        ),
        (  # a cast in a dataflow block, unless what it defines is needed
            """
with R.dataflow():
    a = R.match_cast(o, R.Tensor((4,), "float32"))
    b = R.match_cast(o, R.Shape([m]))
    c = R.shape([m, 2])
    R.output(a, b, c)
return c
""",
            """
with R.dataflow():
    b = R.match_cast(o, R.Shape([m]))
    c = R.shape([m, 2])
    R.output(b, c)
return c
""",
        ),
        (  # outside: what calls nothing
            """
a = (x, x)
b = a[0]
y = R.shape([n + 1])
z = x
return x
""",
            "return x",
        ),
        (  # local functions that nothing calls, and what only they need
            """
a = (x, x)
@R.function
def g(y: R.Tensor((2,), "float32")) -> R.Object:
    return a
return x
""",
            "return x",
        ),
        (  # in branches
            """
c = R.match_cast(o, R.Tensor((), "bool"))
if c:
    a = (x, x)
    y = x
else:
    y = R.exp(x)
return y
""",
            """
c = R.match_cast(o, R.Tensor((), "bool"))
if c:
    y = x
else:
    y = R.exp(x)
return y
""",
        ),
        (  # what defines a size that an annotation uses stays
            """
with R.dataflow():
    b = R.match_cast(o, R.Shape([m]))
    c = R.match_cast(o, R.Shape([n]))
    y: R.Tensor((m,), "float32") = R.call_pure_packed("f", x, sinfo_args=R.Tensor((m,), "float32"))
    z: R.Tensor((m,), "float32") = y
    R.output(b, c, z)
return z
""",
            """
with R.dataflow():
    b = R.match_cast(o, R.Shape([m]))
    y: R.Tensor((m,), "float32") = R.call_pure_packed("f", x, sinfo_args=R.Tensor((m,), "float32"))
    z: R.Tensor((m,), "float32") = y
    R.output(b, z)
return z
""",
        ),
        (  # in local functions
            """
@R.function
def g(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
    a = (y, y)
    return y
z = R.match_cast(o, R.Tensor((2,), "float32"))
w = g(z)
return w
""",
            """
@R.function
def g(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
    return y
z = R.match_cast(o, R.Tensor((2,), "float32"))
w = g(z)
return w
""",
        ),
    ],
)
def test_what_nothing_needs_goes(before, after):
    made = remove_all_unused(function(before))
    assert_structural_equal(made, function(after))
    assert remove_all_unused(made) is made


@pytest.mark.parametrize(
    "body",
    [
        "a = R.exp(x)\nreturn x",
        "a = R.match_cast(o, R.Shape([m]))\nreturn x",
        "a = R.shape([8 // n])\nreturn x",
        "a = R.call_packed('f', x, sinfo_args=R.Object)\nreturn x",
        "R.print(x, format='{}')\nreturn x",
    ],
)
def test_outside_of_dataflow_blocks_what_may_fail_or_be_seen_stays(body):
    func = function(body, "pure=False")
    assert remove_all_unused(func) is func


FORCED = """
@I.ir_module
class Module:
    @R.function(pure=False)
    def g(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        R.print(x, format="{}")
        return x

    @R.function
    def h(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return x

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            a = Module.h(x)
            R.output(a)
        return x
"""


def test_in_a_function_that_is_pure_by_force_unknown_calls_stay():
    mod = from_source(FORCED)
    main = mod["main"]
    assert not remove_all_unused(main).body.blocks
    forced = main.with_attr("relax.force_pure", True)
    assert remove_all_unused(forced) is forced
    assert not remove_all_unused(forced, module=mod).body.blocks


def without_unused(mod):
    functions = {v: remove_all_unused(f, module=mod) for v, f in mod.relax_functions().items()}
    return IRModule({**mod.functions, **functions}, mod.attrs, mod.global_infos)


@pytest.mark.slow
def test_random_programs_that_succeed_do_the_same_without_what_nothing_needs():
    smaller = succeeded = 0
    for seed in range(examples(300)):
        mod = random_module(seed)
        made = without_unused(mod)
        inputs = inputs_for(mod["main"], seed)
        expected = observe(EXECUTORS["interpreter"](mod), "main", inputs)
        smaller += any(made[v] is not mod[v] for v in mod)
        if not isinstance(expected.value, VMError):
            # What fails may succeed without what failed in a dataflow block.
            succeeded += 1
            actual = observe(EXECUTORS["interpreter"](made), "main", inputs)
            check_outcomes("without", actual, "with", expected)
    assert smaller
    assert succeeded


def test_a_size_that_only_an_annotation_uses_is_still_defined():
    m, o = PrimVar("m", "int64"), Var("o", ObjectStructInfo())
    info = TensorStructInfo((m,))
    f, y = Var("f", FuncStructInfo([], TensorStructInfo(ndim=1))), Var("y", info)
    cast = MatchCast(Var("s", ShapeStructInfo([m])), o, ShapeStructInfo([m]))
    blocks = [DataflowBlock([cast]), BindingBlock([VarBinding(y, Call(f, []))])]
    func = Function([o, f], SeqExpr(blocks, o))
    assert remove_all_unused(func) is func


@pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")
def test_a_check_that_an_annotation_makes_stays_outside_of_dataflow_blocks():
    before = function("""
a: R.Tensor((4,), "float32") = x
b: R.Tensor((n,), "float32") = x
t = (x, o)
c: R.Tensor((n,), "float32") = t[0]
d: R.Tuple(R.Tensor((5,), "float32"), R.Object) = t
return x
""")
    after = function("""
a: R.Tensor((4,), "float32") = x
t = (x, o)
d: R.Tuple(R.Tensor((5,), "float32"), R.Object) = t
return x
""")
    assert_structural_equal(remove_all_unused(before), after)


def test_what_may_go_is_what_goes_where_nothing_needs_it():
    mod = from_source("""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        called = R.exp(x)
        held = (x, called)
        with R.dataflow():
            y = R.exp(x)
            z = R.log(y)
            R.output(z)
        return z
""")
    assert isinstance(mod, IRModule)
    found = {var.name_hint for var in droppable_variables(mod["main"], mod)}
    assert found == {"held", "y", "z"}


def test_blocks_that_are_neighbours_without_an_empty_one_are_one():
    x = Var("x", ObjectStructInfo())
    one, other = (BindingBlock([VarBinding(Var("y", None), x)]) for _ in range(2))
    (made,) = consolidate((one, DataflowBlock([]), other))
    assert made.bindings == (*one.bindings, *other.bindings)
