"""From functions to items and edges."""

from __future__ import annotations

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.graph.picture import Cluster, DrawnNode
from relaxscript.graph.reader import read_function
from relaxscript.ir.relax import Call, Function, Op, Tuple, TupleGetItem, Var
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript_tests.graph.programs import module

INFO = TensorStructInfo((2, 3), "float32")
PARAMS = 'x: R.Tensor(("n", 4), "float32"), c: R.Tensor((), "bool")'


def read(body, name="main", params=PARAMS):
    lines = "\n".join(f"        {line}" for line in body.split("\n"))
    mod = module(f"    @R.function(pure=False)\n    def {name}({params}):\n{lines}")
    return read_function(mod[name], name)


def titles(picture, kind):
    return [node.title for node in picture.nodes() if node.kind == kind]


def edges(picture):
    def said(key):
        item = picture.items[key]
        return item.name or item.title if isinstance(item, DrawnNode) else item.title

    return [(said(edge.source), said(edge.target)) for edge in picture.edges]


def test_values_flow_from_parameters_through_operators_to_the_result():
    picture = read("y = R.exp(x)\nreturn R.add(y, x)")
    assert titles(picture, "parameter") == ["x", "c"]
    assert titles(picture, "operator") == ["exp", "add"]
    assert edges(picture) == [("x", "y"), ("y", "gv"), ("x", "gv"), ("gv", "return")]
    assert picture.bindings == 2


def test_the_number_of_an_operand_is_on_its_edge():
    picture = read("return R.subtract(x, R.exp(x))")
    into = [e for e in picture.edges if picture.items[e.target].title == "subtract"]
    assert [edge.place for edge in into] == [0, 1]


def test_a_dataflow_block_is_a_cluster_with_the_parameters_that_only_its_later_steps_use():
    body = "with R.dataflow():\n    y = R.where(c, R.exp(x), x)\n    R.output(y)\nreturn y"
    picture = read(body)
    (block,) = [cluster for cluster in picture.clusters() if cluster.kind == "dataflow"]
    assert [picture.items[key].title for key in block.members] == ["c", "exp", "where"]
    assert [picture.is_beside(key) for key in block.members] == [True, False, False]
    assert picture.node(picture.cluster(picture.root).members[0]).title == "x"


def test_branches_are_clusters_that_meet_again():
    picture = read("if c:\n    y = R.exp(x)\nelse:\n    y = R.sin(x)\nreturn y")
    assert [c.title for c in picture.clusters()] == ["main", "then", "else"]
    assert {("if", "then"), ("if", "else"), ("y", "y"), ("c", "if")} <= {*edges(picture)}
    assert [edge.control for edge in picture.edges].count(True) == 2
    assert titles(picture, "merge") == ["either"]


def test_a_branch_that_computes_nothing_says_what_it_gives():
    picture = read("if c:\n    y = R.exp(x)\nelse:\n    y = x\nreturn y")
    otherwise = picture.clusters()[2]
    assert [picture.items[key].title for key in otherwise.members] == ["x"]


def test_an_if_in_an_if_is_a_cluster_in_a_cluster():
    inner = "    if c:\n        y = R.exp(x)\n    else:\n        y = R.sin(x)"
    picture = read(f"if c:\n{inner}\nelse:\n    y = R.cos(x)\nreturn y")
    depths = [len([*picture.around(c.key)]) for c in picture.clusters()]
    assert depths == [0, 1, 2, 2, 1]


def test_parameters_stay_out_of_branches_and_local_functions():
    picture = read("if c:\n    y = R.exp(x)\nelse:\n    y = R.where(c, x, x)\nreturn y")
    root = picture.cluster(picture.root)
    assert {"x", "c"} <= {picture.items[key].title for key in root.members}


LOCAL = """@R.function
def inner(k: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
    r = R.add(k, x)
    return r
y = inner(x)
return y"""


def test_a_local_function_is_a_cluster_that_captures_and_is_called():
    picture = read(LOCAL)
    assert [c.title for c in picture.clusters()] == ["main", "def inner"]
    assert ("x", "r") in edges(picture)
    assert ("def inner", "y") in edges(picture)
    assert titles(picture, "closure") == ["inner"]


def test_a_local_function_that_calls_itself_has_no_edge_into_itself():
    picture = read(LOCAL.replace("r = R.add(k, x)", "r = inner(k)"))
    assert edges(picture).count(("def inner", "y")) == 1
    assert ("def inner", "r") not in edges(picture)


def test_a_function_that_calls_itself_says_so():
    body = (
        '    @R.function\n    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):'
    )
    picture = read_function(module(f"{body}\n        return M.main(x)")["main"], "main")
    assert titles(picture, "function") == ["main (recursion)"]


def test_calls_of_kernels_and_packed_functions_go_by_what_they_call():
    mod = module(
        "    @T.prim_func\n    def k(x: T.Buffer((4,)), y: T.Buffer((4,)), z: T.Buffer((2,))):\n"
        "        T.evaluate(0)\n"
        '    @R.function(pure=False)\n    def main(x: R.Tensor((4,), "float32")):\n'
        "        p = R.call_tir(M.k, (x,), "
        'out_sinfo=[R.Tensor((4,), "float32"), R.Tensor((2,), "float32")])\n'
        '        q = R.call_packed("my.f", p[1], sinfo_args=R.Object)\n'
        '        r = R.call_pure_packed("my.g", p[0], sinfo_args=R.Object)\n'
        "        return (q, r)"
    )
    picture = read_function(mod["main"], "main")
    assert titles(picture, "kernel") == ["k"]
    assert titles(picture, "packed") == ["my.f", "my.g"]
    assert titles(picture, "field") == ["[1]", "[0]"]
    (kernel,) = [node for node in picture.nodes() if node.kind == "kernel"]
    assert kernel.shape == "[(4,) float32, (2,) float32]"


def test_nested_tuples_lead_each_field_to_who_uses_them():
    picture = read("t = (x, (c, R.exp(x)))\nreturn t")
    assert [s for s, t in edges(picture) if t == "t"] == ["x", "c", "gv"]


def test_constants_are_boxes_and_scalars_are_words():
    picture = read(
        "y = R.add(x, R.const([1.0, 2.0, 3.0, 4.0]))\nreturn R.multiply(y, R.const(2.0))"
    )
    (constant,) = [node for node in picture.nodes() if node.kind == "constant"]
    assert constant.shape == "(4,) float32"
    assert [n.detail for n in picture.nodes() if n.title == "multiply"] == ["2.0"]


def test_scalars_shapes_strings_and_dtypes_of_a_tuple_are_words():
    picture = read('t = (R.prim_value(3), R.shape([4, 2]), R.str("hi"), R.dtype("int8"))\nreturn t')
    (made,) = [node for node in picture.nodes() if node.kind == "tuple"]
    assert made.detail == "3, (4, 2), 'hi', int8"


def test_a_match_cast_is_a_box_with_what_is_known_behind_it():
    picture = read('y = R.match_cast(x, R.Tensor((8, 4), "float32"))\nreturn y')
    (cast,) = [node for node in picture.nodes() if node.kind == "match_cast"]
    assert (cast.name, cast.shape) == ("y", "(8, 4) float32")


def test_a_function_without_bindings_is_its_parameters_and_its_result():
    picture = read("return x")
    assert edges(picture) == [("x", "return")]
    assert titles(read("return R.tuple()", params=""), "result") == ["return"]


def test_expressions_that_are_not_in_normal_form_are_boxes_before_what_uses_them():
    x, y = Var("x", INFO), Var("y", INFO)
    inner = Call(Op.get("relax.exp"), (x,))
    picture = read_function(Function((x,), Call(Op.get("relax.add"), (inner, Tuple((y,))))), "f")
    assert titles(picture, "operator") == ["exp", "add"]
    assert titles(picture, "free") == ["y"]
    assert edges(picture) == [("x", "exp"), ("exp", "add"), ("y", "add"), ("add", "return")]


def test_what_is_nested_too_deeply_is_refused_by_name():
    value = Var("x", INFO)
    function = Function((value,), value)
    for _ in range(20_000):
        value = TupleGetItem(Tuple((value,)), 0)
    with pytest.raises(DiagnosticError, match="`deep` is nested too deeply to be drawn"):
        read_function(function.replace(body=value), "deep")


def test_every_item_but_the_root_is_in_a_cluster():
    picture = read(LOCAL)
    for key, item in picture.items.items():
        assert (item.cluster is None) == (key == picture.root)
        if item.cluster is not None:
            assert key in picture.cluster(item.cluster).members
    assert isinstance(picture.items[picture.root], Cluster)
