"""What ConvertLayout is asked for, and where that cannot be given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir.relax import Call, Op
from relaxscript.ir.walk import walk
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS
from relaxscript.transform import ConvertLayout, FoldConstant, Sequential
from relaxscript_tests.growth import growth
from relaxscript_tests.transform.before_after import check

MODULE = """
@I.ir_module
class M:
    @R.function
    def main(
        x: R.Tensor(("n", 4, "h", 8), "float32"), w: R.Tensor((4, 4, 3, 3), "float32"),
        v: R.Tensor((3, 4, 3, 3), "float32"), c: R.Tensor(("n", "c", "h", 8), "float32"),
        u: R.Tensor((4, "c", 3, 3), "float32"), s: R.Tensor(("n", 4, "h"), "float32"),
        k: R.Tensor((4, 4, 3), "float32"),
    ):
        n, h, c_ = T.int64(), T.int64(), T.int64()
        with R.dataflow():
{body}
            R.output({out})
        return {out}
"""
NHWC = ConvertLayout({"relax.nn.conv2d": ["NHWC", "OHWI"]})
PACKED = ConvertLayout({"relax.nn.conv2d": ["NCHW4c", "OIHW4o"]})


def module(body: str, out: str = "y") -> str:
    lines = "\n".join(f"            {line}" for line in body.strip().splitlines())
    return MODULE.format(body=lines, out=out)


def settled(step: ConvertLayout, before: str, after: str | None = None) -> None:
    made = check(step, before, after)
    assert step(made) is made


def test_a_convolution_gets_the_layouts_that_are_asked_for():
    settled(NHWC, module("y = R.nn.conv2d(x, w, strides=(1, 2), padding=(1, 0))"), module("""
lv = R.permute_dims(x, [0, 2, 3, 1])
lv1 = R.permute_dims(w, [0, 2, 3, 1])
lv2 = R.nn.conv2d(lv, lv1, (1, 2), (1, 0), (1, 1), 1, "NHWC", "OHWI", "NHWC")
y = R.permute_dims(lv2, [0, 3, 1, 2])
"""))  # fmt: skip


def test_the_result_may_have_a_layout_of_its_own():
    step = ConvertLayout({"relax.nn.conv2d": ("NHWC", "OIHW", "NCHW")})
    settled(step, module("y = R.nn.conv2d(x, w)"), module("""
lv = R.permute_dims(x, [0, 2, 3, 1])
y = R.nn.conv2d(lv, w, data_layout="NHWC", out_layout="NCHW")
"""))  # fmt: skip


def test_operators_are_named_with_or_without_their_dialect():
    step = ConvertLayout({"nn.conv1d": ["NWC", "WIO"], "relax.nn.max_pool1d": ["NCW"]})
    settled(step, module("a = R.nn.conv1d(s, k)\ny = R.nn.max_pool1d(a)"), module("""
lv = R.permute_dims(s, [0, 2, 1])
lv1 = R.permute_dims(k, [2, 1, 0])
lv2 = R.nn.conv1d(lv, lv1, data_layout="NWC", kernel_layout="WIO", out_layout="NWC")
lv3 = R.permute_dims(lv2, [0, 2, 1])
y = R.nn.max_pool1d(lv3)
"""))  # fmt: skip


def test_packed_layouts_are_reached_by_index_maps():
    settled(PACKED, module("y = R.nn.conv2d(x, w)"), module("""
lv = R.layout_transform(x, lambda i, j, k, l: (i, j // 4, k, l, j % 4))
lv1 = R.layout_transform(w, lambda i, j, k, l: (i // 4, j, k, l, i % 4))
lv2 = R.nn.conv2d(lv, lv1, data_layout="NCHW4c", kernel_layout="OIHW4o", out_layout="NCHW4c")
y = R.layout_transform(lv2, lambda i, j, k, l, m: (i, j * 4 + m, k, l))
"""))  # fmt: skip


@pytest.mark.parametrize("call", ["R.nn.conv2d(x, v)", "R.nn.conv2d(c, u)"])
def test_channels_that_may_be_no_multiple_of_what_is_packed_stay(call):
    check(PACKED, module(f"y = {call}"))


def test_a_convolution_that_has_its_layouts_stays():
    check(NHWC, module("""
a = R.permute_dims(x, [0, 2, 3, 1])
b = R.permute_dims(w, [0, 2, 3, 1])
y = R.nn.conv2d(a, b, data_layout="NHWC", kernel_layout="OHWI")
"""))  # fmt: skip
    check(NHWC, module("""
a = R.layout_transform(x, lambda i, j, k, l: (i, j // 2, k, l, j % 2))
y = R.nn.conv2d(a, w, data_layout="NCHW2c", out_layout="NCHW")
"""))  # fmt: skip


def test_what_is_outside_of_dataflow_blocks_stays():
    text = module("y = R.nn.conv2d(x, w)")
    check(NHWC, text.replace("with R.dataflow():", "if True:").replace("R.output(y)", "pass"))
    check(ConvertLayout({}), text)


def test_a_convolution_of_distributed_tensors_stays():
    text = """
@I.ir_module
class M:
    I.module_attrs({"device_num": 2})
    I.module_global_infos({"mesh": [R.device_mesh((2,), I.Range(0, 2))]})

    @R.function
    def main(
        x: R.DTensor((2, 4, 8, 8), "float32", "mesh[0]", "R"),
        w: R.DTensor((4, 4, 3, 3), "float32", "mesh[0]", "R"),
    ):
        with R.dataflow():
            y = R.nn.conv2d(x, w)
            R.output(y)
        return y
"""
    check(NHWC, text)


def test_constants_are_brought_into_their_layout_ahead():
    mod = from_source("""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((1, 4, 4, 1), "float32")):
        with R.dataflow():
            lv = R.permute_dims(x, [0, 3, 1, 2])
            w = R.const([[[[2.0, 3.0]]]], "float32")
            lv1 = R.nn.conv2d(lv, w)
            y = R.permute_dims(lv1, [0, 2, 3, 1])
            R.output(y)
        return y
""")  # fmt: skip
    made = Sequential([NHWC, FoldConstant()])(mod)
    called = [n.op.name for n in walk(made["main"]) if isinstance(n, Call) and isinstance(n.op, Op)]
    # The images come as they are wanted. One that nothing uses is left for others to drop.
    assert called == ["relax.permute_dims", "relax.nn.conv2d", "relax.permute_dims"]
    x = np.arange(16, dtype="float32").reshape(1, 4, 4, 1)
    was, now = (EXECUTORS["interpreter"](m)("main", x) for m in (mod, made))
    np.testing.assert_allclose(now, was)


# ---------------------------------------------------------------- mistakes


def refused(desired: Any, body: str = "y = R.nn.conv2d(x, w)") -> tuple[str, str, Any]:
    with pytest.raises(DiagnosticError) as found:
        ConvertLayout(desired)(from_source(module(body)))
    (diagnostic,) = found.value.diagnostics
    return diagnostic.code, diagnostic.message, diagnostic


@pytest.mark.parametrize(
    ("layouts", "name", "letters"),
    [
        (["NHWD", "OIHW"], "data_layout", "N, C, H, W"),
        (["NHWC", "OI"], "kernel_layout", "O, I, H, W"),
        (["NHWC", "OIHW", "HWC"], "out_layout", "N, C, H, W"),
        (["NCHW0c", "OIHW"], "data_layout", "N, C, H, W"),
    ],
)
def test_a_layout_of_other_axes_is_refused_at_the_call(layouts, name, letters):
    code, message, found = refused({"relax.nn.conv2d": layouts}, "z = x\ny = R.nn.conv2d(z, w)")
    assert code == "RX0204"
    assert message.startswith(f"the `{name}` of `R.nn.conv2d` names the axes {letters} in some")
    assert (found.span.line, found.span.column) == (14, 17)
    assert "is asked to be" in found.labels[0].text


@pytest.mark.parametrize(
    ("desired", "message", "help"),
    [
        (
            {"relax.add": ["NHWC"]},
            "`relax.add` has no layouts to be asked for",
            'convolutions have, such as "relax.nn.conv2d", and poolings',
        ),
        (
            {"nn.conv2d": ["NHWC"]},
            "`relax.nn.conv2d` is given 1 layout, and has 2 operands with a layout",
            "write, in this order, `data_layout`, `kernel_layout`, `out_layout`, the last if "
            "need be",
        ),
        (
            {"image.resize2d": ["NHWC", "NHWC"]},
            "`relax.image.resize2d` is given 2 layouts, and has 1 operand with a layout",
            "write, in this order, `layout`",
        ),
        ({"nn.conv2": []}, "there is no operator `relax.nn.conv2`", "did you mean"),
        (
            {"nn.conv2d": "NHWC"},
            "`desired_layouts` of `ConvertLayout` is a mapping from strings to lists of strings, "
            "not dict ({'nn.conv2d': 'NHWC'})",
            None,
        ),
    ],
)
def test_what_no_operator_has_is_refused_where_it_is_asked_for(desired, message, help):
    code, said, found = refused(desired)
    assert (code, said) == ("RX0103", message)
    assert found.help == help or found.help.startswith(help)
    assert found.span.filename == __file__


def test_the_cost_is_linear_in_the_convolutions():
    def prepare(count: int):
        lines = [f"""
lv{k} = R.nn.conv2d({f"r{k - 1}" if k else "x"}, w, padding=1)
r{k} = R.nn.relu(R.add(lv{k}, x))""" for k in range(count)]  # fmt: skip
        mod = from_source(module("".join(lines), f"r{count - 1}"))
        return lambda: NHWC(mod)

    assert growth(prepare, 8) < 9
