"""A detection head: scores and boxes of anchors, of which those that overlap better ones go."""

from __future__ import annotations

from relaxscript.ir import IRModule
from relaxscript.script import ir as I, relax as R, tir as T

__all__ = ["detection"]


def detection(width: int, image: int, anchors: int, classes: int) -> IRModule:
    """The head, for a batch of feature maps of `width` channels."""
    count = image * image * anchors

    @I.ir_module
    class Detection:
        @R.function
        def main(
            features: R.Tensor(("batch", width, image, image), "float32"),
            tower: R.Tensor((width, width, 3, 3), "float32"),
            w_scores: R.Tensor((anchors * classes, width, 3, 3), "float32"),
            w_boxes: R.Tensor((anchors * 4, width, 3, 3), "float32"),
            anchor: R.Tensor((count, 4), "float32"),
        ):
            batch = T.int64()
            cls = Detection
            with R.dataflow():
                t = R.nn.relu(R.nn.conv2d(features, tower, padding=1))
                last = R.permute_dims(R.nn.conv2d(t, w_scores, padding=1), (0, 2, 3, 1))
                logits = R.reshape(last, (batch, count, classes))
                scores = R.permute_dims(R.sigmoid(logits), (0, 2, 1))
                moves = R.permute_dims(R.nn.conv2d(t, w_boxes, padding=1), (0, 2, 3, 1))
                boxes = cls.decoded(anchor, R.reshape(moves, (batch, count, 4)))
                found = R.vision.all_class_non_max_suppression(
                    boxes, scores, R.const(5, "int64"), R.const(0.5, "float32"),
                    R.const(0.6, "float32"),
                )  # fmt: skip
                best = R.max(scores, axis=[2])
                R.output(boxes, best, found)
            return boxes, best, found

        @R.function(private=True)
        def decoded(
            anchor: R.Tensor(("k", 4), "float32"), moves: R.Tensor(("n", "k", 4), "float32")
        ) -> R.Tensor(("n", "k", 4), "float32"):
            places = R.split(anchor, 2, axis=-1)
            moved = R.split(moves, 2, axis=-1)
            size = R.abs(places[1]) * R.exp(R.clip(moved[1], -2, 2))
            center = places[0] + moved[0] * R.abs(places[1])
            half = size * R.const(0.5, "float32")
            return R.concat((center - half, center + half), axis=-1)

    return Detection
