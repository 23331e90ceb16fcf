"""A small U-Net: two levels down, two up, each joined with what came down on its level."""

from __future__ import annotations

from relaxscript.ir import IRModule
from relaxscript.script import ir as I, relax as R

__all__ = ["unet"]


def unet(width: int, image: int) -> IRModule:
    """The network for a batch of images of one channel, whose size is a multiple of 4."""
    c1, c2, c3 = width, 2 * width, 4 * width

    @I.ir_module
    class UNet:
        @R.function
        def main(
            x: R.Tensor(("batch", 1, image, image), "float32"),
            a1: R.Tensor((c1, 1, 3, 3), "float32"),
            a2: R.Tensor((c1, c1, 3, 3), "float32"),
            b1: R.Tensor((c2, c1, 3, 3), "float32"),
            b2: R.Tensor((c2, c2, 3, 3), "float32"),
            c_1: R.Tensor((c3, c2, 3, 3), "float32"),
            c_2: R.Tensor((c3, c3, 3, 3), "float32"),
            up2: R.Tensor((c3, c2, 2, 2), "float32"),
            d1: R.Tensor((c2, c3, 3, 3), "float32"),
            d2: R.Tensor((c2, c2, 3, 3), "float32"),
            up1: R.Tensor((c2, c1, 2, 2), "float32"),
            e1: R.Tensor((c1, c2, 3, 3), "float32"),
            e2: R.Tensor((c1, c1, 3, 3), "float32"),
            last: R.Tensor((1, c1, 1, 1), "float32"),
        ) -> R.Tensor(("batch", 1, image, image), "float32"):
            cls = UNet
            level1 = cls.twice(x, a1, a2)
            level2 = cls.twice(R.nn.max_pool2d(level1, (2, 2), strides=2), b1, b2)
            bottom = cls.twice(R.nn.max_pool2d(level2, (2, 2), strides=2), c_1, c_2)
            raised2 = R.nn.conv2d_transpose(bottom, up2, strides=2)
            back2 = cls.twice(R.concat((raised2, level2), axis=1), d1, d2)
            raised1 = R.nn.conv2d_transpose(back2, up1, strides=2)
            back1 = cls.twice(R.concat((raised1, level1), axis=1), e1, e2)
            return R.sigmoid(R.nn.conv2d(back1, last))

        @R.function(private=True)
        def twice(
            x: R.Tensor(("n", "c", "h", "w"), "float32"),
            first: R.Tensor(("d", "c", 3, 3), "float32"),
            second: R.Tensor(("d", "d", 3, 3), "float32"),
        ) -> R.Tensor(("n", "d", "h", "w"), "float32"):
            y = R.nn.relu(R.nn.conv2d(x, first, padding=1))
            return R.nn.relu(R.nn.conv2d(y, second, padding=1))

    return UNet
