"""What passes of layouts are made with, and the programs that test them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relaxscript import transform
from relaxscript_tests.transform.layout.network_programs import network
from relaxscript_tests.transform.layout.operator_names import alter, packed_rows
from relaxscript_tests.transform.pass_case import Case

__all__ = ["LAYOUTS"]

LAYOUTS: Mapping[str, Sequence[Case]] = {
    "AlterOpImpl": [Case("rows", lambda mod, inputs: alter(), packed_rows)],
    "ConvertLayout": [
        Case(
            "nhwc",
            lambda mod, inputs: transform.ConvertLayout({"relax.nn.conv2d": ["NHWC", "OHWI"]}),
            network,
        ),
        Case(
            "packed",
            lambda mod, inputs: transform.ConvertLayout(
                {"nn.conv2d": ["NCHW2c", "OIHW2o"], "nn.max_pool2d": ["NHWC"]}
            ),
            network,
        ),
        Case(
            "anything",
            lambda mod, inputs: transform.ConvertLayout(
                {"nn.conv2d": ["NHWC", "HWIO", "NCHW"], "nn.avg_pool2d": ["NHWC"]}
            ),
            network,
        ),
    ],
}
