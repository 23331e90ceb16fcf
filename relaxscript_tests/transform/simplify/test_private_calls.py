"""Which private functions are called and used in no other way."""

from __future__ import annotations

import pytest

from relaxscript.ir.module import IRModule
from relaxscript.script import from_source
from relaxscript.transform.simplify.private_calls import joined, private_calls

HEAD = """
@I.ir_module
class M:
    @R.function(private=True)
    def f(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return x

    @R.function
    def main(x: R.Tensor((4,), "float32"), c: R.Prim("bool")):
"""


def calls_in(body: str) -> dict[str, list[str]]:
    mod = from_source(HEAD + "".join(f"        {line}\n" for line in body.splitlines()))
    assert isinstance(mod, IRModule)
    return {name: [site.caller for site in sites] for name, sites in private_calls(mod).items()}


def test_each_call_is_found_with_the_function_around_it():
    assert calls_in("y = M.f(x)\nz = M.f(y)\nreturn z") == {"f": ["main", "main"]}


def test_calls_in_branches_blocks_and_local_functions_are_found():
    body = (
        "if c:\n    y = M.f(x)\nelse:\n    y = x\n"
        "with R.dataflow():\n    z = M.f(y)\n    R.output(z)\n"
        "@R.function\ndef g(u: R.Tensor((4,), 'float32')) -> R.Tensor((4,), 'float32'):\n"
        "    v = M.f(u)\n    return v\nreturn g(z)"
    )
    assert calls_in(body) == {"f": ["main"] * 3}


def test_a_function_that_nobody_calls_has_no_calls():
    assert calls_in("return x") == {"f": []}


@pytest.mark.parametrize(
    "body",
    ["y = M.f(x)\nreturn (y, M.f)", "g = M.f\nreturn g(x)", "return M.f",
     "y = R.call_pure_packed('apply', M.f, x, sinfo_args=R.Tensor)\nreturn y",
     "g = R.make_closure(M.f, ())\nreturn (M.f(x), g)"],
)  # fmt: skip
def test_a_function_that_is_a_value_somewhere_is_left_out(body):
    assert calls_in(body) == {}


def test_a_function_that_says_what_its_parameters_are_is_left_out():
    text = HEAD.replace(
        "        return x\n", '        R.func_attr({"num_input": 1})\n        return x\n'
    )
    mod = from_source(text + "        return M.f(x)\n")
    assert isinstance(mod, IRModule)
    assert private_calls(mod) == {}


def test_ordinary_blocks_that_become_neighbours_are_one():
    mod = from_source(HEAD + "        y = M.f(x)\n        return y\n")
    assert isinstance(mod, IRModule)
    blocks = mod["main"].body.blocks
    assert joined(blocks, ()) == joined((), blocks) == blocks
    (one,) = joined(blocks, blocks)
    assert one.bindings == (*blocks[0].bindings, *blocks[0].bindings)
