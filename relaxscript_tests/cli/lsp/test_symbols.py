"""The outline of a document."""

from __future__ import annotations

from relaxscript.cli.lsp.symbols import outline
from relaxscript_tests.cli.lsp.texts import DIGITS, analysed, document


def test_modules_hold_their_functions():
    text = f"{DIGITS}\n\ndef plain():\n    pass\n"
    [module] = outline(document(text), analysed(text))
    assert (module.name, module.detail) == ("Digits", "@I.ir_module")
    assert [(each.name, each.detail) for each in module.children] == [
        ("relu", "@T.prim_func"), ("main", "@R.function"),
    ]  # fmt: skip
    assert module.range.start.line == 5
    assert module.selection_range.start.line == 6
    assert module.selection_range.start.character == 6
