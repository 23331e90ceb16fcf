"""Texts with a mark where the cursor is, and what is known of them."""

from __future__ import annotations

from relaxscript.cli.lsp.analysis import analyse
from relaxscript.cli.lsp.broken_text import ReadText
from relaxscript.cli.lsp.documents import Document
from relaxscript.cli.lsp.lookup import found_at
from relaxscript.cli.lsp.words import hover_text
from relaxscript.errors import Source

__all__ = ["DIGITS", "IMPORTS", "MARK", "analysed", "document", "hover", "marked"]

MARK = "‸"
IMPORTS = "from relaxscript.script import ir as I, relax as R, tir as T\n"

DIGITS = (
    IMPORTS
    + '''
WIDTH = 64


@I.ir_module
class Digits:
    @T.prim_func
    def relu(x: T.Buffer(("n", 64), "float32"), y: T.Buffer(("n", 64), "float32")):
        n = T.int64()
        for i, j in T.grid(n, 64):
            with T.block("relu"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = T.max(x[vi, vj], T.float32(0))

    @R.function
    def main(x: R.Tensor(("n", WIDTH), "float32"), w: R.Tensor((64, 10), "float32")):
        """The probabilities of digits."""
        n = T.int64()
        cls = Digits
        with R.dataflow():
            a = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((n, 64), "float32"))
            z = R.nn.softmax(R.add(a, x) @ w)
            R.output(z)
        return z
'''
)


def marked(text: str) -> tuple[str, tuple[int, int]]:
    """A text without its mark, and the place of that."""
    before, _, after = text.partition(MARK)
    lines = before.split("\n")
    return before + after, (len(lines), len(lines[-1]) + 1)


def analysed(text: str, version: int = 1, before=None):
    """What is known of a text."""
    return analyse(Source("model.py", text), version, before)


def document(text: str, version: int = 1, encoding="utf-16") -> Document:
    """An open document."""
    return Document("file:///model.py", "model.py", text, version, encoding)


def hover(text: str) -> str | None:
    """What is said at the mark of a text, or of a function in one with the imports."""
    text, place = marked(text if "import" in text else IMPORTS + text)
    analysis = analysed(text)
    assert isinstance(analysis.read, ReadText)
    found = found_at(analysis, place)
    return None if found is None else hover_text(found)
