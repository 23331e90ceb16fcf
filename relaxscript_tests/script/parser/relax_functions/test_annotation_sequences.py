"""Accepted programs: annotations in sequences of Python, `*`, and `R.Tuple` alone."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.compiler import jit
from relaxscript.script import from_source, ir as I, relax as R
from relaxscript_tests.script.parser.round_trip import accepted, round_trip

TWO = "R.Tuple(R.Tensor((2,)), R.Tensor((3,)))"
SEQUENCES = [
    "R.Tuple([R.Tensor((s,)) for s in (2, 3)])",
    "R.Tuple(R.Tensor((s,)) for s in (2, 3))",
    "R.Tuple(tuple([R.Tensor((2,)), R.Tensor((3,))]))",
    "R.Tuple(WS)",
    "R.Tuple(list(WS))",
    "R.Tuple(WS[:1] + WS[1:])",
    "R.Tuple(*WS)",
    "R.Tuple([*WS])",
    "R.Tuple(R.Tensor((2,)), *WS[1:])",
    "R.Tuple(*[R.Tensor((s,)) for s in (2, 3)])",
    "R.Tuple(*R.Tuple(*WS))",
]


@pytest.mark.parametrize("written", SEQUENCES)
def test_a_tuple_of_a_sequence_is_that_of_a_literal(written):
    text = (
        f"WS = (R.Tensor((2,)), R.Tensor((3,)))\n\n@R.function\ndef f(t: {written}):\n    return t"
    )
    function = from_source(text, mode="python")
    assert repr(function.params[0].struct_info) == TWO
    round_trip(function)


def test_functions_take_and_give_what_sequences_say():
    text = """
        WS = (R.Tensor((2,)), R.Tensor((3,)))

        @R.function
        def f(g: R.Callable([*WS], R.Tensor), h: R.Callable(WS, R.Tuple(*WS))):
            return (g, h)
        """
    g, h = (p.struct_info for p in accepted(text, mode="python").params)
    assert repr(g) == "R.Callable((R.Tensor((2,)), R.Tensor((3,))), R.Tensor)"
    assert repr(h) == f"R.Callable((R.Tensor((2,)), R.Tensor((3,))), {TWO})"


def test_a_sequence_in_brackets_of_one_tuple_is_its_field():
    text = f"@R.function\ndef f(t: R.Tuple([{TWO}])):\n    return t"
    assert repr(accepted(text).params[0].struct_info) == f"R.Tuple({TWO})"


def test_parameters_that_a_star_gathers():
    shapes = [(3, 4), (4, 2)]

    @I.ir_module
    class Layers:
        @R.function
        def main(x: R.Tensor(("n", 3)), ws0: R.Object, *ws: [R.Tensor(s) for s in shapes]):
            for w in ws:
                x = R.matmul(x, w)
            return (x, ws0)

        @R.function
        def both(x: R.Tensor((2, 3)), t: R.Tuple(*[R.Tensor(s) for s in shapes])):
            cls = Layers
            y, one = cls.main(x, R.prim_value(1), *t)
            return (*(y, one), R.add(*(y, y)))

    round_trip(Layers)
    names = [param.name_hint for param in Layers["main"].params]
    assert names == ["x", "ws0", "ws1", "ws2"]
    x, ws = np.ones((2, 3), "float32"), tuple(np.ones(s, "float32") for s in shapes)
    y, one, twice = jit(Layers).both(x, ws)
    assert (y.tolist(), one, twice.tolist()) == ([[12, 12]] * 2, 1, [[24, 24]] * 2)


@pytest.mark.parametrize("written", ["WS", "list(WS)", "[*WS]"])
def test_every_parameter_of_a_star_has_its_own_annotation(written):
    text = "WS = (R.Tensor((2,)), R.Tensor((3,)))\n\n"
    text += f"@R.function\ndef f(*ws: {written}):\n    return ws"
    function = from_source(text, mode="python")
    assert [repr(p.struct_info) for p in function.params] == ["R.Tensor((2,))", "R.Tensor((3,))"]


def test_a_bare_tuple_has_the_fields_that_are_derived():
    module = accepted("""
        @I.ir_module
        class Model:
            @R.function
            def pair(x: R.Tensor((2,))) -> R.Tuple:
                return (x, x)

            @R.function
            def main(x: R.Tensor((2,))):
                cls = Model
                y: R.Tuple = cls.pair(x)
                z: R.Tuple = (x, y)
                unit: R.Tuple = R.tuple()
                return (y[1], z, unit)

            @R.function
            def endless(x: R.Tensor((2,))) -> R.Tuple:
                u = Model.endless(x)
                return u
        """)
    pair = "R.Tuple(R.Tensor((2,)), R.Tensor((2,)))"
    assert repr(module["pair"].ret_struct_info) == pair
    assert repr(module["main"].ret_struct_info.fields[1]) == f"R.Tuple(R.Tensor((2,)), {pair})"
    assert module["endless"].ret_struct_info.fields == ()


def test_a_parameter_that_is_the_empty_tuple_is_written_with_its_parentheses():
    module = accepted("""
        @R.function
        def main(nothing: R.Tuple(), x: R.Tuple(R.Tuple, R.Object)) -> R.Tuple:
            return nothing
        """)
    assert "nothing: R.Tuple(), x: R.Tuple(R.Tuple, R.Object)" in module.script()
