"""What type checkers do find: each line that says so is wrong, and nothing else is."""

from __future__ import annotations

from relaxscript.script import relax as R

R.ad(1, 2)  # wrong: no such operator
R.add(1)  # wrong: an operand is missing
R.nn.softmax(1, axes=1)  # wrong: no such parameter
R.dim(3)  # wrong: a name is a text
R.dim("n").nothing  # wrong: no such attribute
R.function(3)  # wrong: no function
R.sum(1, axis=1, keepdims=True)
R.astype(1, R.f32)
