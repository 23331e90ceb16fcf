"""Sources for the tests of this folder, and spans found by what stands there."""

from __future__ import annotations

from relaxscript.errors import Source, Span

__all__ = ["DIGITS", "place"]

DIGITS = Source(
    "digits.py",
    "\n" * 16
    + """\
    def main(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((63, 64), "float32")):
        n = T.int64()
        cls = Digits
        with R.dataflow():
            h = R.matmul(x, w)
            gv = R.nn.sofmax(h @ v)
            R.output(gv)
        return gv
""",
)


def place(source: Source, text: str, line: int = 1) -> Span:
    """Where `text` stands first at or after the beginning of `line`."""
    start = source.text.index(text, source.offset(line, 1))
    return source.between(start, start + len(text))
