"""How cells of notebooks are called, where their files have names of no use."""

from __future__ import annotations

import pytest

from relaxscript.errors import Source
from relaxscript.errors.notebook import live_cell


@pytest.mark.parametrize(("filename", "cell"), [
    ("<In[8]>", "Cell In[8]"), ("/t/marimo_17/__marimo__cell_bkHC_.py", "Cell bkHC"),
    ("C:\\t\\__marimo__cell_MJUe_", "Cell MJUe"), ("model.py", None), ("<stdin>", None),
    ("__marimo__cell_bkHC_.py.txt", None),
])  # fmt: skip
def test_a_cell_is_called_by_its_number_or_name(filename, cell):
    assert live_cell(filename) == cell


def test_a_place_in_a_cell_of_marimo_is_the_same_in_every_run():
    assert Source("/t/marimo_17/__marimo__cell_bkHC_.py", "x").location(1, 1) == "Cell bkHC, line 1"
