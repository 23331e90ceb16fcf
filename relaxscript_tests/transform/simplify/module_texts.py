"""Texts of modules of a few functions, and annotations that these often have."""

from __future__ import annotations

__all__ = ["FOUR", "ROW", "N", "main", "module", "private"]

FOUR, ROW = 'R.Tensor((4,), "float32")', 'R.Tensor(("n",), "float32")'
N = "n = T.int64()"


def module(*functions: str) -> str:
    """A module of functions."""
    lines = "\n".join(functions).splitlines()
    return "@I.ir_module\nclass M:\n" + "".join(f"    {line}\n" for line in lines)


def private(header: str, *lines: str) -> str:
    """A private function: its name, parameters and result, and its lines."""
    return "\n".join(["@R.function(private=True)", f"def {header}:", *_indented(lines)])


def main(params: str, *lines: str) -> str:
    """A public function `main`."""
    return "\n".join(["@R.function", f"def main({params}):", *_indented(lines)])


def _indented(lines: tuple[str, ...]) -> list[str]:
    return [f"    {line}" for line in lines]
