"""Fewer bits: computing in float16, and functions to fewer digits.

to_mixed_precision.py   the pass by which products take float16.
half_parameters.py      parameters that are float16 from now on, and calls that give them so.
precision_policy.py     what each call does in mixed precision.
half_values.py          which values of a block are wanted in float16 only.
half_writer.py          functions written anew by both.
fast_math_transform.py  the pass by which exp and the like have fewer digits.
"""

from __future__ import annotations

__all__: list[str] = []
