"""RewriteDataflowReshape: which calls become `R.reshape`."""

from __future__ import annotations

import pytest

from relaxscript.ir.instrument import WellFormedInstrument
from relaxscript.ir.module import IRModule
from relaxscript.testing.compare import EXECUTORS, check_outcomes, observe
from relaxscript.testing.inputs import inputs_for
from relaxscript.transform import PassContext, RewriteDataflowReshape
from relaxscript_tests import examples
from relaxscript_tests.transform.fuse.annotated import callees, legal_module
from relaxscript_tests.transform.fuse.fusable_programs import fusable_module


def rewrite(body: str, params: str = 'x: R.Tensor((4, 8), "float32")') -> IRModule:
    """RewriteDataflowReshape on a function whose operators are PrimFuncs."""
    lines = "\n".join(f"        {line}" for line in body.strip().splitlines())
    mod = legal_module(
        f"@I.ir_module\nclass M:\n    @R.function\n    def main({params}):\n"
        f"        n = T.int64()\n{lines}\n"
    )
    with PassContext(instruments=[WellFormedInstrument()]):
        made = RewriteDataflowReshape()(mod)
        assert RewriteDataflowReshape()(made) is made
    return made


@pytest.mark.parametrize(
    "value", ["R.reshape(a, (2, 16))", "R.flatten(a)", "R.expand_dims(a, 1)", "R.squeeze(b)"]
)
def test_calls_that_only_reshape_become_a_reshape(value):
    made = rewrite(f"""
with R.dataflow():
    a = R.exp(x)
    b = R.expand_dims(a, [0])
    c = {value}
    d = R.exp(c)
    R.output(d)
return d""")
    assert "R.reshape(" in made["main"].script()
    assert all(name.startswith("exp") for name in callees(made))


def test_shapes_may_be_symbolic():
    made = rewrite(
        """
with R.dataflow():
    a = R.reshape(x, (n * 8,))
    b = R.exp(a)
    R.output(b)
return b""",
        'x: R.Tensor(("n", 8), "float32")',
    )
    assert "R.reshape(x, R.shape([n * 8]))" in made["main"].script()


def test_what_moves_elements_stays_a_call():
    made = rewrite("""
with R.dataflow():
    a = R.permute_dims(x)
    b = R.exp(a)
    R.output(b)
return b""")
    assert callees(made) == ["permute_dims", "exp"]


def test_what_leaves_its_block_stays_a_call():
    made = rewrite("""
with R.dataflow():
    a = R.reshape(x, (2, 16))
    R.output(a)
return a""")
    assert callees(made) == ["reshape"]


def test_outside_of_dataflow_blocks_calls_stay():
    assert callees(rewrite("a = R.reshape(x, (2, 16))\nb = R.exp(a)\nreturn b")) == [
        "reshape",
        "exp",
    ]


def test_a_module_without_reshapes_stays_as_it_is():
    mod = legal_module("""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((4, 8), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.exp(a)
            R.output(b)
        return b
""")
    assert RewriteDataflowReshape()(mod) is mod


@pytest.mark.slow
def test_programs_mean_the_same():
    changed = 0
    for seed in range(examples(100)):
        mod = fusable_module(seed)
        made = RewriteDataflowReshape()(mod)
        changed += made is not mod
        inputs = inputs_for(mod["main"], seed)
        expected = observe(EXECUTORS["interpreter"](mod), "main", inputs)
        for name, load in EXECUTORS.items():
            actual = observe(load(made), "main", inputs)
            check_outcomes(f"{name} after the pass", actual, "before", expected)
    assert changed
