"""What torch computes with the weights that our modules take from it.

Run by `python -m relaxscript_tests.frontend.nn.second_opinion_of_weights`. This is the last part of
the page of models that own their weights: queries, keys and values are one product here and three
there. The package is of the extra `oracles`; `.ci/long` runs this.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys

from relaxscript_tests.architecture import readable

PAGE = readable("tutorials/models_that_own_their_weights.md")
IMPORTS = "from relaxscript.frontend import nn\n"
PART = re.search(r"^```python\n(import torch\n.*?)^```\n\n```text\n(.*?)^```$", PAGE, re.M | re.S)


def main() -> int:
    """1 if the part prints something else than what stands below it."""
    assert PART is not None, "the page has no part for torch"
    program, shown = PART.groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(IMPORTS + program, "part_with_torch.py", "exec"), {})
    agrees = printed.getvalue() == shown
    print(f"weights of torch: {'the results are the same' if agrees else printed.getvalue()}")
    return not agrees


if __name__ == "__main__":
    sys.exit(main())
