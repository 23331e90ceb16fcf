"""The first difference of two programs: a path into each, and what differs there."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from relaxscript.ir import (
    IRModule,
    ObjectPath,
    ObjectPathPair,
    StructuralMismatch,
    VDevice,
    assert_structural_equal,
    get_first_structural_mismatch,
    prim,
    relax,
    tir,
)
from relaxscript.ir.object_paths import values_along
from relaxscript.ir.relax import Attrs
from relaxscript.ir.struct_info import TensorStructInfo, TupleStructInfo
from relaxscript.script import tir as T
from relaxscript.testing.programs import random_module
from relaxscript_tests import examples

ROOT = ObjectPath.root()
N, M = (prim.Var(name, "int64") for name in "nm")
X, Y = (relax.Var(name, TensorStructInfo((2, 3), "float32")) for name in "xy")


def call(*args: Any, **attrs: Any) -> relax.Call:
    return relax.Call(relax.Op("relax.add"), args, attrs)


def function(*values: relax.Expr, **attrs: Any) -> relax.Function:
    bound = [relax.Var(f"v{i}", TensorStructInfo((2, 3), "float32")) for i in range(len(values))]
    bindings = [relax.VarBinding(*pair) for pair in zip(bound, values)]
    body = relax.SeqExpr([relax.BindingBlock(bindings)], bound[-1])
    return relax.Function([X, Y], body, TensorStructInfo((2, 3), "float32"), attrs=attrs)


BLOCK = ROOT.attr("body").attr("blocks").array_index(0)
F, G = relax.GlobalVar("f"), relax.GlobalVar("g")
DIFFERENT: dict[str, tuple[Any, Any, Any, Any]] = {
    "of a field": (N + 3, N + 4, ROOT.attr("b").attr("value"), None),
    "of a dtype": (prim.const(1), prim.const(1, "int64"), ROOT.attr("dtype"), None),
    "of a kind of node": (N + 3, N * 3, ROOT, None),
    "in a tuple": (
        relax.Tuple([X, X]), relax.Tuple([X, Y]), ROOT.attr("fields").array_index(1), None
    ),
    "at the root of two lists": ([X, X], [X, Y], ROOT.array_index(1), None),
    "of two lists of other lengths": (
        [X], [X, X], ROOT.missing_array_element(1), ROOT.array_index(1)
    ),
    "of a longer tuple": (
        relax.Tuple([X, X]), relax.Tuple([X]),
        ROOT.attr("fields").array_index(1), ROOT.attr("fields").missing_array_element(1),
    ),
    "of an optional field": (
        TensorStructInfo((2,), "float32"), TensorStructInfo(None, "float32", ndim=1),
        ROOT.attr("shape"), None,
    ),
    "in a StructInfo": (
        TupleStructInfo([X.struct_info, TensorStructInfo((2, 3))]),
        TupleStructInfo([X.struct_info, TensorStructInfo((2, 4))]),
        ROOT.attr("fields").array_index(1).attr("shape").attr("values").array_index(1)
        .attr("value"),
        None,
    ),
    "of an attribute": (
        call(X, axis=1), call(X, axis=2), ROOT.attr("attrs").map_value("axis"), None
    ),
    "of an attribute that one has": (
        call(X, axis=1), call(X, axis=1, k=2),
        ROOT.attr("attrs").missing_map_entry(), ROOT.attr("attrs").map_value("k"),
    ),
    "of an attribute inside of one": (
        call(X, a=Attrs(k=(1, 2))), call(X, a=Attrs(k=(1, 3))),
        ROOT.attr("attrs").map_value("a").map_value("k").array_index(1), None,
    ),
    "of a node in an attribute": (
        call(X, n=N + 1), call(X, n=N + 2),
        ROOT.attr("attrs").map_value("n").attr("b").attr("value"), None,
    ),
    "of the attributes at all": (call(X), call(X, axis=1), ROOT.attr("attrs"), None),
    "of a use in a binding": (
        function(call(X, Y), call(X, Y)), function(call(X, Y), call(X, X)),
        BLOCK.attr("bindings").array_index(1).attr("value").attr("args").array_index(1), None,
    ),
    "of a constant": (
        relax.Constant(np.zeros(2)), relax.Constant(np.ones(2)), ROOT.attr("data"), None
    ),
    "of a function that one module has": (
        IRModule({F: function(call(X, Y))}), IRModule({G: function(call(X, Y))}),
        ROOT.attr("functions").map_value(F), ROOT.attr("functions").missing_map_entry(),
    ),
    "in a function of a module": (
        IRModule({F: function(call(X, Y))}), IRModule({"f": function(call(X, X))}),
        ROOT.attr("functions").map_value(F), "its own GlobalVar",
    ),
    "of an attribute of a module": (
        IRModule({}, {"k": 1}), IRModule({}, {"k": 2}), ROOT.attr("attrs").map_value("k"), None
    ),
    "of an attribute that one module has": (
        IRModule({}), IRModule({}, {"k": 2}),
        ROOT.attr("attrs").missing_map_entry(), ROOT.attr("attrs").map_value("k"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("which", DIFFERENT)
def test_the_paths_lead_to_the_difference(which: str):
    lhs, rhs, left, right = DIFFERENT[which]
    found = get_first_structural_mismatch(lhs, rhs)
    assert found is not None
    assert isinstance(found, ObjectPathPair)
    first, second = found
    assert (found.lhs_path, found.rhs_path) == (first, second)
    if right == "its own GlobalVar":
        assert left.is_prefix_of(first)
        assert not left.is_prefix_of(second)
    else:
        assert found == (left, right or left)
    values_along(lhs, first), values_along(rhs, second)


def test_programs_that_are_the_same_have_no_difference():
    assert get_first_structural_mismatch(function(call(X, Y)), function(call(X, Y))) is None
    assert get_first_structural_mismatch(N, M) == (ROOT, ROOT)
    assert get_first_structural_mismatch(N, M, map_free_vars=True) is None


def test_the_global_infos_of_modules_are_compared_by_their_names():
    infos = [{"vdevice": [VDevice("llvm", 0), VDevice("llvm", k)]} for k in (1, 2)]
    found = get_first_structural_mismatch(*(IRModule({}, None, info) for info in infos))
    path = ROOT.attr("global_infos").map_value("vdevice").array_index(1).attr("vdevice_id")
    assert found == (path, path)


def test_a_buffer_that_one_primfunc_has_is_found_by_its_parameter():
    handle = [prim.Var("p", "handle") for _ in range(2)]
    a = tir.PrimFunc(handle, tir.Evaluate(0), None, {handle[0]: tir.Buffer("A", (2,))})
    b = tir.PrimFunc(handle, tir.Evaluate(0), None, {handle[1]: tir.Buffer("A", (2,))})
    found = get_first_structural_mismatch(a, b)
    at = ROOT.attr("buffer_map")
    assert found == (at.map_value(handle[0]), at.missing_map_entry())


def test_a_difference_inside_of_a_buffer_of_a_primfunc_has_a_path():
    def program(size):
        @T.prim_func
        def f(A: T.Buffer((2, size), "float32")):
            T.evaluate(0)

        return f

    a, b = program(3), program(4)
    found = get_first_structural_mismatch(a, b)
    for root, path in zip((a, b), found):
        assert values_along(root, path)[-1] in (3, 4)


def test_the_message_says_both_paths_where_they_differ():
    with pytest.raises(StructuralMismatch) as raised:
        assert_structural_equal(relax.Tuple([X, X]), relax.Tuple([X]))
    text = str(raised.value)
    assert "`fields` has 2 items here, 1 there" in text
    assert "(at <root>.fields[1] here, <root>.fields[<missing element #1>] there)" in text
    with pytest.raises(ValueError, match=r"\(at <root>\.b\.value\)"):
        assert_structural_equal(N + 1, N + 2)


def test_a_difference_says_what_differs_and_pickles():
    found = get_first_structural_mismatch(call(X, axis=1), call(X, axis=2))
    assert found.reason == "the attribute `axis` is `1` here, `2` there"
    assert found.within is not None
    for again in (pickle.loads(pickle.dumps(found)), copy.copy(found)):
        assert again == found
        assert again.reason == found.reason


def test_every_difference_of_random_modules_is_where_the_paths_lead():
    """In two modules of a generator nearly everything differs, at some place."""
    for seed in range(examples(200)):
        a, b = random_module(seed), random_module(seed + 1)
        found = get_first_structural_mismatch(a, b)
        if found is None:
            continue
        for root, path in zip((a, b), found):
            values = values_along(root, path)
            assert len(values) == path.length


def test_depth_is_no_limit():
    a, b = N + 1, N + 2
    for _ in range(10_000):
        a, b = M * a, M * b
    first, second = get_first_structural_mismatch(a, b)
    assert first == second
    assert first.length == 10_003
    assert values_along(a, first)[-1] == 1
