"""Nodes are frozen records with two constructors."""

from __future__ import annotations

import copy
import pickle
import sys
from inspect import signature

import numpy as np
import pytest

from relaxscript.ir import prim, relax, tir
from relaxscript.ir.node import Node, field, fields_of, maker_of, node, traversal_of
from relaxscript.ir.relax import Attrs, Call, Constant, Tuple, TupleGetItem, Var
from relaxscript.ir.struct_info import ObjectStructInfo, TensorStructInfo
from relaxscript.ir.structural_equality import structural_equal


def every_node_class() -> list[type[Node]]:
    modules = [m for name, m in sys.modules.items() if name.startswith("relaxscript.ir.")]
    classes = {v for m in modules for v in vars(m).values() if isinstance(v, type)}
    found = [c for c in classes if issubclass(c, Node) and c is not Node]
    return sorted(found, key=lambda c: (c.__module__, c.__name__))


@pytest.mark.parametrize(
    "cls", every_node_class(), ids=lambda c: f"{c.__module__[15:]}.{c.__name__}"
)
def test_every_node_class_has_slots_and_no_dictionary(cls):
    assert not hasattr(cls, "__dict__") or "__dict__" not in dir(object.__new__(cls))


def test_there_are_many_node_classes():
    assert len(every_node_class()) > 90


def test_a_node_cannot_be_changed():
    x = Var("x", ObjectStructInfo())
    with pytest.raises(AttributeError, match=r"Var is frozen: use `replace\(name_hint=...\)`"):
        x.name_hint = "y"
    with pytest.raises(AttributeError, match="Var is frozen"):
        del x.name_hint


def test_replace_gives_a_copy_with_other_fields():
    x = Var("x", ObjectStructInfo())
    y = x.replace(name_hint="y")
    assert (y.name_hint, x.name_hint, y.struct_info) == ("y", "x", x.struct_info)


def test_replace_gives_the_node_itself_when_nothing_differs():
    x = Var("x", ObjectStructInfo())
    assert x.replace(name_hint=x.name_hint) is x


def test_replace_refuses_what_is_no_field():
    with pytest.raises(TypeError, match="Var has no field `nam`"):
        Var("x").replace(nam="y")


def test_nodes_are_compared_by_identity_and_key_dictionaries():
    a, b = Var("x", ObjectStructInfo()), Var("x", ObjectStructInfo())
    assert a != b
    assert {a: 1, b: 2} == {a: 1, b: 2}
    assert len({a, b}) == 2


def test_the_constructor_converts_what_people_write():
    x = Var("x", ObjectStructInfo())
    call = Call(x, [x, 3, 2.5, "s", (x, 1)], {"axis": [0, 1]})
    kinds = [type(a).__name__ for a in call.args]
    assert kinds == ["Var", "PrimValue", "PrimValue", "StringImm", "Tuple"]
    assert call.attrs is not None
    assert call.attrs.axis == (0, 1)
    assert call.args[1].value.dtype == "int64"
    assert call.args[2].value.dtype == "float64"


def test_make_converts_nothing():
    x = Var("x", ObjectStructInfo())
    args = (x,)
    assert Call.make(x, args).args is args


def test_patterns_match_fields_in_their_order_without_places():
    match TupleGetItem(Var("t", ObjectStructInfo()), 2):
        case TupleGetItem(relax.Var(name), index):
            assert (name, index) == ("t", 2)
        case _:
            pytest.fail("did not match")


def test_places_are_fields_but_no_part_of_the_structure():
    assert [f.name for f in fields_of(Call)][-1] == "arg_spans"
    assert "arg_spans" not in [f.name for f in traversal_of(Call)]


def test_definitions_are_visited_before_their_uses():
    assert traversal_of(relax.Function)[0].name == "params"
    assert [f.name for f in traversal_of(tir.PrimFunc)][:2] == ["params", "buffer_map"]


def test_copying_gives_the_node_itself():
    x = Var("x", ObjectStructInfo())
    assert copy.copy(x) is x


def test_pickling_keeps_shared_variables_shared():
    x = Var("x", TensorStructInfo(("n", 4), "float32"))
    pair = pickle.loads(pickle.dumps(Tuple((x, x))))
    assert pair.fields[0] is pair.fields[1]
    assert pair.fields[0].struct_info.ndim == 2


def test_a_class_may_arrange_check_and_derive():
    @node
    class Sum(Node):
        a: int
        b: int = field(default=2)
        __derived__ = {"total": lambda a, b: a + b}  # noqa: RUF012

        @staticmethod
        def _arrange(a, b):
            return min(a, b), max(a, b)

        def _check(self):
            if self.a == 13:
                raise ValueError("13 is refused")

    assert (Sum(5).a, Sum(5).b, Sum(5).total) == (2, 5, 7)
    assert Sum.make(5, 2).a == 5
    with pytest.raises(ValueError, match="13 is refused"):
        Sum(13, 14)


def test_constants_own_their_data():
    import numpy as np

    data = np.zeros(3, "float32")
    constant = Constant(data)
    data[0] = 1
    assert constant.data[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        constant.data[0] = 1


def test_a_truth_value_of_tir_among_attributes_is_one_of_python():
    attrs = Attrs({"tir.noalias": prim.const(True), "nested": {"no": prim.const(False)}})
    assert attrs["tir.noalias"] is True
    assert attrs["nested"]["no"] is False


def test_attributes_are_immutable_and_readable_both_ways():
    attrs = Attrs({"axis": [1, 2]}, keepdims=True)
    assert attrs["axis"] == attrs.axis == (1, 2)
    assert attrs.with_item("k", 1).k == 1
    assert "axis" not in attrs.without("axis")
    with pytest.raises(AttributeError, match="there is no attribute `axes` here"):
        _ = attrs.axes


def test_a_relax_expression_has_no_truth_value_and_cannot_be_iterated():
    x = Var("x", ObjectStructInfo())
    with pytest.raises(TypeError, match="no truth value"):
        bool(x)
    with pytest.raises(TypeError, match="cannot be iterated"):
        list(x)


def test_what_is_no_expression_is_refused_by_name():
    with pytest.raises(TypeError, match="is not a Relax expression"):
        relax.as_expr(object())
    with pytest.raises(TypeError, match="is not a scalar expression"):
        prim.as_prim("n")


def test_a_node_is_the_same_as_itself_only():
    a, b = prim.Var("n"), prim.Var("n")
    assert a.same_as(a)
    assert not a.same_as(b)


def test_a_constant_of_foreign_byte_order_holds_the_same_numbers_in_that_of_this_computer():
    constant = Constant(np.array([1, 2], ">i4"))
    assert constant.data.dtype.isnative
    assert constant.data.tolist() == [1, 2]
    assert structural_equal(constant, Constant(np.array([1, 2], "int32")))


def test_a_constructor_says_its_parameters_before_it_is_first_called():
    assert str(signature(relax.MatchCast)) == "(var, value, struct_info, *, span=None)"
    assert str(signature(relax.Tuple)) == "(fields, field_spans=(), *, span=None)"
    with pytest.raises(AttributeError, match="__signature__"):
        relax.Tuple(()).__signature__


def slots_of(made: Node) -> dict[str, object]:
    names = {n for cls in type(made).__mro__ for n in cls.__dict__.get("__slots__", ())}
    return {name: getattr(made, name) for name in names}


def test_replace_converts_where_no_constructor_was_called():
    @node
    class Pair(Node):
        a: int
        b: str = field(convert=str)

    made = Pair.make(1, "x").replace(b=2)
    assert (made.a, made.b) == (1, "2")
    with pytest.raises(TypeError, match=r"`Pair\.a` cannot be str"):
        made.replace(a="y")


def test_nodes_that_are_made_without_generated_code_are_like_others():
    n = prim.Var("n", "int64")
    info = TensorStructInfo((n, 4), "float32")
    nodes = (
        n, info, Var("x", info), prim.Add(n, n), prim.LT(n, n), prim.Ramp(n, n, 4),
        prim.Broadcast(n, 4), prim.Cast("int32", n), tir.Buffer("A", (n,)), Tuple([]),
        relax.Function([Var("x", info)], Tuple([])), TupleGetItem(Var("t", info), 0),
    )  # fmt: skip
    for made in nodes:
        again = maker_of(type(made))(*[getattr(made, f.name) for f in made._fields], made.span)
        assert type(again) is type(made)
        assert slots_of(again) == slots_of(made)


def test_a_node_that_is_made_so_needs_all_of_its_fields():
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        maker_of(Tuple)(())
