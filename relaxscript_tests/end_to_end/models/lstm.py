"""A cell of long short-term memory, and eight steps of it."""

from __future__ import annotations

from relaxscript.ir import IRModule
from relaxscript.script import ir as I, relax as R

__all__ = ["STEPS", "lstm"]

STEPS = 8


def lstm(inputs: int, hidden: int) -> IRModule:
    """The network, for a batch of any size."""

    @I.ir_module
    class LSTM:
        @R.function
        def main(
            xs: R.Tensor((STEPS, "batch", inputs), "float32"),
            h0: R.Tensor(("batch", hidden), "float32"),
            c0: R.Tensor(("batch", hidden), "float32"),
            w_x: R.Tensor((inputs, 4 * hidden), "float32"),
            w_h: R.Tensor((hidden, 4 * hidden), "float32"),
            bias: R.Tensor((4 * hidden,), "float32"),
        ):
            cls = LSTM
            parts = R.split(xs, STEPS, axis=0)
            s1 = cls.cell(parts[0], h0, c0, w_x, w_h, bias)
            s2 = cls.cell(parts[1], s1[0], s1[1], w_x, w_h, bias)
            s3 = cls.cell(parts[2], s2[0], s2[1], w_x, w_h, bias)
            s4 = cls.cell(parts[3], s3[0], s3[1], w_x, w_h, bias)
            s5 = cls.cell(parts[4], s4[0], s4[1], w_x, w_h, bias)
            s6 = cls.cell(parts[5], s5[0], s5[1], w_x, w_h, bias)
            s7 = cls.cell(parts[6], s6[0], s6[1], w_x, w_h, bias)
            s8 = cls.cell(parts[7], s7[0], s7[1], w_x, w_h, bias)
            hs = R.stack((s1[0], s2[0], s3[0], s4[0], s5[0], s6[0], s7[0], s8[0]), axis=0)
            return hs, s8[1]

        @R.function(private=True)
        def cell(
            step: R.Tensor((1, "n", inputs), "float32"),
            h: R.Tensor(("n", hidden), "float32"),
            c: R.Tensor(("n", hidden), "float32"),
            w_x: R.Tensor((inputs, 4 * hidden), "float32"),
            w_h: R.Tensor((hidden, 4 * hidden), "float32"),
            bias: R.Tensor((4 * hidden,), "float32"),
        ) -> R.Tuple(
            R.Tensor(("n", hidden), "float32"), R.Tensor(("n", hidden), "float32")
        ):  # fmt: skip
            with R.dataflow():
                x = R.squeeze(step, axis=[0])
                gates = R.split(R.matmul(x, w_x) + R.matmul(h, w_h) + bias, 4, axis=-1)
                kept = R.sigmoid(gates[1]) * c
                c_next = kept + R.sigmoid(gates[0]) * R.tanh(gates[2])
                h_next = R.sigmoid(gates[3]) * R.tanh(c_next)
                R.output(c_next, h_next)
            return h_next, c_next

    return LSTM
