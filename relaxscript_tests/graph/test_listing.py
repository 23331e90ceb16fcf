"""Pictures as text."""

from __future__ import annotations

from relaxscript_tests.graph.programs import chain, module


def test_a_listing_has_the_order_and_the_frames_of_the_program():
    mod = module(
        '    @R.function\n    def main(x: R.Tensor(("n", 4), "float32"), '
        'c: R.Tensor((), "bool")):\n'
        "        with R.dataflow():\n            e = R.nn.softmax(x, axis=1)\n"
        "            R.output(e)\n"
        "        if c:\n            y = R.exp(e)\n        else:\n            y = e\n"
        "        t = (y, e)\n        z = t[0]\n        return z"
    )
    assert str(mod.graph()).split("\n") == [
        "main",
        "  parameter x: (n, 4) float32",
        "  parameter c: () bool",
        "  dataflow",
        "    e = nn.softmax(x, axis=1)               (n, 4) float32",
        "  if c",
        "  then",
        "    y = exp(e)                              (n, 4) float32",
        "  else",
        "    e                                       (n, 4) float32",
        "  y = either(y, e)                          (n, 4) float32",
        "  t = tuple(y, e)                           [(n, 4) float32, (n, 4) float32]",
        "  z = t[0]                                  (n, 4) float32",
        "  return z",
    ]
    assert repr(mod.graph()) == str(mod.graph())


def test_a_listing_of_a_summary_begins_with_what_it_is():
    first, *rest = str(chain(400).graph(max_nodes=50)).split("\n")
    assert first.startswith("# a summary of 400 bindings")
    assert "    199 times, of which the first is shown" in rest


def test_boxes_that_stand_for_many_say_how_many():
    lines = str(chain(500, mixed=True).graph(max_nodes=10)).split("\n")
    assert any(line.strip().startswith("... ") and "bindings: " in line for line in lines)
