"""Programs that the tests of pictures draw, and names that no picture may take for markup."""

from __future__ import annotations

import random

from relaxscript.graph.layout import Box, lay_out
from relaxscript.graph.picture import STEPS, Picture
from relaxscript.ir import IRModule
from relaxscript.ir.relax import Function, Var
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.script import from_source

__all__ = ["HOSTILE", "assert_sound", "chain", "module", "named", "overlap"]

HEADER = "from relaxscript.script import ir as I, relax as R, tir as T\n"

# What ends an element, an attribute, a comment, a string of DOT or of a script, or is not there.
HOSTILE = (
    "<script>alert(1)</script>", "</title></svg><img src=x onerror=alert(1)>", '" onload="alert(1)',
    "' onclick='alert(1)", "</style><script>", "]]><!--", "--></pre>", "&lt;b&gt; &amp; &#60;",
    '"];}digraph{', "\\", 'a\\"b', "\\N\\G\\l", "{a|b}", "<b>", "line\nbreak", "tab\tstop",
    "\x00\x1b[31m", "\u202eevil", "\ud800", "\ufffe\uffff", "\U0001f600", "${x} {{y}} %s",
    "javascript:alert(1)", "", " ",
)  # fmt: skip


def module(body: str) -> IRModule:
    """The module `M` with these members, indented by four spaces."""
    found: IRModule = from_source(f"{HEADER}\n@I.ir_module\nclass M:\n{body}\n")
    return found


def chain(length: int, *, mixed: bool = False) -> IRModule:
    """A function of so many bindings in a row; `mixed` ones are in no order that repeats."""
    rng = random.Random(0)
    lines, last = [], "x"
    for i in range(length):
        again = rng.random() < 0.5 if mixed else i % 2 == 0
        call = f"R.add({last}, x)" if again else f"R.nn.relu({last})"
        lines.append(f"            v{i} = {call}")
        last = f"v{i}"
    body = "\n".join(lines)
    return module(
        '    @R.function\n    def main(x: R.Tensor((4, 8), "float32")):\n'
        f"        with R.dataflow():\n{body}\n            R.output({last})\n        return {last}"
    )


def named(name: str) -> Function:
    """A function whose parameter and symbol have a name that somebody chose."""
    var = Var(name, TensorStructInfo((2, 3), "float32"))
    return Function((var,), var).with_attr("global_symbol", name)


def assert_sound(picture: Picture) -> None:
    """Every item is in its cluster once, edges lead to what is there, values flow downwards."""
    held = [key for cluster in picture.clusters() for key in cluster.members]
    assert sorted([*held, picture.root]) == sorted(picture.items)
    for cluster in picture.clusters():
        assert all(picture.items[key].cluster == cluster.key for key in cluster.members)
    boxes = {box.key: box for box in lay_out(picture).boxes if not box.is_reference}
    assert sorted(boxes) == sorted(picture.items)
    for edge in picture.edges:
        source, target = boxes[edge.source], boxes[edge.target]
        assert source.y + source.height <= target.y
    frames = [boxes[cluster.key] for cluster in picture.clusters() if cluster.kind in STEPS]
    parameters = [boxes[node.key] for node in picture.nodes() if node.kind == "parameter"]
    assert not any(overlap(box, frame) for box in parameters for frame in frames)
    nodes = [boxes[node.key] for node in picture.nodes()]
    assert not any(overlap(a, b) for i, a in enumerate(nodes) for b in nodes[:i])


def overlap(a: Box, b: Box) -> bool:
    """True if two boxes have a point in common that is inside of both."""
    return (
        a.x < b.x + b.width
        and b.x < a.x + a.width
        and a.y < b.y + b.height
        and b.y < a.y + a.height
    )
