"""ResNet-18: eight blocks of two convolutions, each around a shortcut."""

from __future__ import annotations

from relaxscript.ir import IRModule
from relaxscript.ir.struct_info import StructInfo
from relaxscript.script import ir as I, relax as R

__all__ = ["resnet18"]


def _norm(channels: int) -> StructInfo:
    """The parameters of a normalization."""
    return R.Tuple([R.Tensor((channels,), "float32")] * 4)


def _block(inputs: int, outputs: int) -> StructInfo:
    """The parameters of a block, with those of its shortcut where the number of channels grows."""
    fields = [
        R.Tensor((outputs, inputs, 3, 3), "float32"), _norm(outputs),
        R.Tensor((outputs, outputs, 3, 3), "float32"), _norm(outputs),
    ]  # fmt: skip
    if inputs != outputs:
        fields += [R.Tensor((outputs, inputs, 1, 1), "float32"), _norm(outputs)]
    return R.Tuple(fields)


def resnet18(width: int, image: int, classes: int) -> IRModule:
    """The network for a batch of images; `width` is the number of channels of its first blocks."""
    c1, c2, c3, c4 = width, 2 * width, 4 * width, 8 * width
    same1, same2, same3, same4 = (_block(c, c) for c in (c1, c2, c3, c4))
    first, down2, down3, down4 = _norm(c1), _block(c1, c2), _block(c2, c3), _block(c3, c4)

    @I.ir_module
    class ResNet18:
        @R.function
        def main(
            x: R.Tensor(("batch", 3, image, image), "float32"),
            stem: R.Tensor((c1, 3, 7, 7), "float32"), norm: first,
            w1: same1, w2: same1, w3: down2, w4: same2, w5: down3, w6: same3, w7: down4, w8: same4,
            weight: R.Tensor((c4, classes), "float32"), bias: R.Tensor((classes,), "float32"),
        ):  # fmt: skip
            cls = ResNet18
            begun = cls.normed(R.nn.conv2d(x, stem, strides=2, padding=3), norm)
            y0 = R.nn.max_pool2d(R.nn.relu(begun), (3, 3), strides=2, padding=1)
            y4 = cls.same(cls.down(cls.same(cls.same(y0, w1), w2), w3), w4)
            y8 = cls.same(cls.down(cls.same(cls.down(y4, w5), w6), w7), w8)
            pooled = R.nn.adaptive_avg_pool2d(y8, (1, 1))
            return R.matmul(R.squeeze(pooled, axis=[2, 3]), weight) + bias

        @R.function(private=True)
        def same(
            x: R.Tensor(("n", "c", "h", "w"), "float32"),
            weights: R.Tuple(
                R.Tensor(("c", "c", 3, 3), "float32"), R.Tuple([R.Tensor(("c",), "float32")] * 4),
                R.Tensor(("c", "c", 3, 3), "float32"), R.Tuple([R.Tensor(("c",), "float32")] * 4),
            ),
        ):  # fmt: skip
            cls = ResNet18
            conv1, norm1, conv2, norm2 = weights
            y = R.nn.relu(cls.normed(R.nn.conv2d(x, conv1, padding=1), norm1))
            return R.nn.relu(cls.normed(R.nn.conv2d(y, conv2, padding=1), norm2) + x)

        @R.function(private=True)
        def down(
            x: R.Tensor(("n", "c", "h", "w"), "float32"),
            weights: R.Tuple(
                R.Tensor(("d", "c", 3, 3), "float32"), R.Tuple([R.Tensor(("d",), "float32")] * 4),
                R.Tensor(("d", "d", 3, 3), "float32"), R.Tuple([R.Tensor(("d",), "float32")] * 4),
                R.Tensor(("d", "c", 1, 1), "float32"), R.Tuple([R.Tensor(("d",), "float32")] * 4),
            ),
        ):  # fmt: skip
            cls = ResNet18
            conv1, norm1, conv2, norm2, conv3, norm3 = weights
            y = R.nn.relu(cls.normed(R.nn.conv2d(x, conv1, strides=2, padding=1), norm1))
            z = cls.normed(R.nn.conv2d(y, conv2, padding=1), norm2)
            return R.nn.relu(z + cls.normed(R.nn.conv2d(x, conv3, strides=2), norm3))

        @R.function(private=True)
        def normed(
            x: R.Tensor(("n", "c", "h", "w"), "float32"),
            norm: R.Tuple([R.Tensor(("c",), "float32")] * 4),
        ) -> R.Tensor(("n", "c", "h", "w"), "float32"):
            gamma, beta, mean, variance = norm
            return R.nn.batch_norm(x, gamma, beta, mean, variance, axis=1, training=False)[0]

    return ResNet18
