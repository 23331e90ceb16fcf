"""What is said where one points at a name of a script."""

from __future__ import annotations

import pytest

from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Function, GlobalVar, Var
from relaxscript.script import from_source
from relaxscript_tests.markup import Markup

from .programs import call, function, tensor

MODULE = """
@I.ir_module
class M:
    @T.prim_func
    def twice(a: T.Buffer((2, 3), "float32"), b: T.Buffer((2, 3), "float32")):
        for i, j in T.grid(2, 3):
            b[i, j] = a[i, j] + a[i, j]

    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), w: R.Tensor((2, 3), "float32")):
        cls = M
        y = R.call_tir(cls.twice, (w,), out_sinfo=R.Tensor((2, 3), "float32"))
        z = R.add(R.nn.relu(x), x)
        return z
"""


def hints(root: object) -> dict[str, str]:
    return Markup(root._repr_html_()).hints


@pytest.mark.parametrize(("name", "hint"), [
    ("w", 'w: R.Tensor((2, 3), "float32")\n<text>:10: def main(x: R.Tensor(("n", 3), "float32"), '
          'w: R.Tensor((2, 3), "float32")):'),
    ("z", 'z: R.Tensor((n, 3), "float32")\n<text>:13: z = R.add(R.nn.relu(x), x)'),
    ("gv", 'gv: R.Tensor((n, 3), "float32")\n<text>:13: z = R.add(R.nn.relu(x), x)'),
    ("n", 'n: int64\n<text>:10: def main(x: R.Tensor(("n", 3), "float32"), '
          'w: R.Tensor((2, 3), "float32")):'),
    ("i", "i: int32\n<text>:6: for i, j in T.grid(2, 3):"),
    ("a", 'a: T.Buffer((2, 3), "float32")\n<text>:5: def twice(a: T.Buffer((2, 3), "float32"), '
          'b: T.Buffer((2, 3), "float32")):'),
    ("R.add", "The sum `x1 + x2`; integers wrap around."),
])  # fmt: skip
def test_a_name_says_its_struct_info_and_the_line_that_it_is_from(name, hint):
    assert hints(from_source(MODULE))[name] == hint


def test_the_name_of_a_function_says_its_signature():
    first, second = hints(from_source(MODULE))["cls.twice"].split("\n")
    assert first == (
        'twice: R.Callable((R.Tensor((2, 3), "float32"), R.Tensor((2, 3), "float32")), R.Tuple, '
        "purity=False)"
    )
    assert second.startswith("<text>:5: def twice(")


def test_a_name_is_called_as_it_is_printed():
    x, other = Var("x", tensor(2, 3)), Var("x", tensor(3))
    found = hints(function([x, other], result=x, ret=tensor(2, 3)))
    assert [said.split(":")[0] for said in found.values()] == ["x", "x_1"]


def test_what_no_source_has_says_its_struct_info_alone():
    x = Var("x", tensor(2, 3))
    assert hints(function([x], result=x, ret=tensor(2, 3)))["x"] == 'x: R.Tensor((2, 3), "float32")'


def test_what_is_not_known_is_said():
    unknown = GlobalVar("gone")
    f = Function([], call("add", Var("x"), Var("x")), tensor(), True)
    found = hints(f)
    assert found["x"] == "x: its StructInfo is not known"
    made = hints(IRModule({"main": function([], result=unknown, ret=tensor())}))
    assert made["cls.gone"] == "gone"
