"""The cells of a notebook as one text."""

from __future__ import annotations

from lsprotocol.types import Position

from relaxscript.cli.lsp.documents import Document
from relaxscript.cli.lsp.notebooks import Notebook
from relaxscript_tests.cli.lsp.texts import IMPORTS


def notebook(*texts: str) -> Notebook:
    cells = [Document(f"cell:{i}", "a.ipynb", text, 1) for i, text in enumerate(texts)]
    made = Notebook("file:///a.ipynb", "a.ipynb", "", 0, cells=cells)
    made.join()
    return made


def test_cells_stand_below_each_other():
    made = notebook(IMPORTS, "x = 1", "", "y = 2\n")
    assert made.text == f"{IMPORTS}\nx = 1\n\ny = 2\n"
    assert [cell.above for cell in made.views()] == [0, 2, 3, 4]


def test_what_ipython_adds_is_left_out_and_keeps_its_lines():
    made = notebook("%%bash\nls\nls", "!ls\nx = 1", "%%time\ny = 2\r\nz = 3")
    assert made.text.split("\n") == ["", "", "", "pass", "x = 1", "# time", "y = 2", "z = 3"]


def test_places_of_a_cell_are_found_in_the_whole_and_back():
    made = notebook("a = '🙂'\nb", "c = '🙂'; d")
    cell = made.view("cell:1")
    position = Position(0, 10)
    assert cell.place(position) == (3, 10)
    assert cell.position((3, 10)) == position
    span = made.source.between(made.source.text.index("d"), len(made.source.text))
    assert span.start == (3, 10)
    assert [each.holds(span) for each in made.views()] == [False, True]
    assert made.view("cell:0").locate(span).uri == "cell:1"
    assert made.view("cell:0").locate(span).range.start == position


def test_a_copy_stays_as_it_was():
    made = notebook("x = 1", "y = 2")
    copy = made.copy()
    made.cells[0].text, made.cells[0]._source = "x\n= 3", None
    del made.cells[1]
    made.join()
    assert copy.text == "x = 1\ny = 2"
    assert [cell.text for cell in copy.views()] == ["x = 1", "y = 2"]


def test_a_cell_that_is_not_there_is_the_whole():
    made = notebook("x = 1")
    assert made.view("cell:7") is made
