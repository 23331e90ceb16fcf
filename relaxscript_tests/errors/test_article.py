"""Names in messages have the article that is said before them."""

from __future__ import annotations

import pytest

from relaxscript.errors.article import article


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ("an", ["Attention", "Embedding", "IRModule", "Op", "Upsample", "MLP", "LSTM", "RMSNorm"]),
        ("a", ["Linear", "UNet", "Unit", "ReLU", "Function", "GELU", "Net", "U", "_Norm", ""]),
    ],
)
def test_a_name_has_the_article_that_is_said_before_it(wanted: str, names: list[str]):
    assert {article(name) for name in names} == {wanted}
