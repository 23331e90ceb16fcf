"""Mended cells go back into their notebook, and everything else of it stays as it was."""

from __future__ import annotations

import json
import re
from pathlib import Path

from relaxscript.cli.notebooks import cells_of, with_cells
from relaxscript.cli.scripts_in_file import definitions
from relaxscript.errors import Source
from relaxscript_tests import examples

LINES = (
    "x = 1",
    "    return y",
    "%time f()",
    "s = 'é'",
    's = "\\t"',
    "",
    "s = '\u2028'",
    "\x0c",
    "]},{",
)


def written(text, *changed):
    """A notebook in which the cells of these numbers hold these texts."""
    source = Source("a.ipynb", text)
    cells = cells_of("a.ipynb", text)
    for number, new in changed:
        cells[number - 1] = Source("a.ipynb", new, number)
    return with_cells(source, cells)


def a_cell(rng):
    lines = [str(rng.choice(LINES)) for _ in range(rng.integers(0, 6))]
    return "\n".join(lines) + "\n" * int(rng.integers(2))


def a_notebook(rng):
    """A notebook with metadata and outputs, whose sources are texts or lists of lines."""
    cells = []
    for _ in range(rng.integers(1, 5)):
        text = a_cell(rng)
        kind = str(rng.choice(["code", "code", "markdown", "raw"]))
        members = {
            "cell_type": kind,
            "metadata": {"source": ["x"], "cells": [{}], "é": 1e400},
            "outputs": [{"text": [a_cell(rng)], "source": "y"}],
            "source": text.splitlines(keepends=True) if rng.integers(2) else text,
            "id": "\x1b[0m",
        }
        names = [str(name) for name in rng.permutation(list(members))]
        cells.append({name: members[name] for name in names})
    return {"metadata": {"cells": []}, "nbformat": 4, "cells": cells}


def saved_like(saved, text):
    return text if isinstance(saved, str) else re.findall(r".*\n|.+", text)


def test_what_is_not_changed_of_random_notebooks_stays_as_it_is(rng):
    for _ in range(examples(300)):
        made = a_notebook(rng)
        text = json.dumps(
            made,
            indent=[None, 0, 1, "\t"][rng.integers(4)],
            ensure_ascii=bool(rng.integers(2)),
        )
        text = f" \n{text}\n".replace("\n", str(rng.choice(["\n", "\r\n"])))
        assert written(text) == text
        cells = cells_of("a.ipynb", text)
        changed = [
            (number, f"# new\n{cell.text}" if rng.integers(2) else f"{cell.text}é")
            for number, cell in enumerate(cells, 1)
            if cell.text and rng.integers(2)
        ]
        codes = [cell for cell in made["cells"] if cell["cell_type"] == "code"]
        for number, new in changed:
            codes[number - 1]["source"] = saved_like(codes[number - 1]["source"], new)
        assert json.loads(written(text, *changed)) == made


def test_a_line_that_stays_is_spelled_as_it_was():
    text = '{"cells": [{"cell_type": "code", "source": ["\\u0061 = 1\\n",  "b=2"]}]}'
    assert written(text, (1, "a = 1\nc\nb=2")) == text.replace('"b', '"c\\n",  "b')


def test_new_lines_are_indented_as_those_before_them():
    text = '{"cells": [{"cell_type": "code", "source": [\n  "a"\n ]}]}'
    assert written(text, (1, "a\nb")) == text.replace('"a"', '"a\\n",\n  "b"')


def test_characters_are_escaped_where_the_notebook_escapes_them():
    text = '{"cells": [{"cell_type": "code", "source": "\\u00e9"}]}'
    assert written(text, (1, "éé")) == text.replace("u00e9", "u00e9\\u00e9")
    plain = text.replace("\\u00e9", "\\u001b")
    assert written(plain, (1, "éé")) == plain.replace("\\u001b", "éé")


def test_of_a_name_that_is_given_twice_the_last_counts():
    text = '{"cells": 1, "cells": [{"source": 1, "cell_type": "code", "source": "a"}]}'
    assert written(text, (1, "b")) == text.replace('"a"', '"b"')


def test_the_tutorial_stays_as_it_is_but_for_its_cells():
    tutorial = Path(__file__).parents[2] / "tutorials" / "01_digits.ipynb"
    text = tutorial.read_text("utf-8")
    first = cells_of("a.ipynb", text)[0].text
    assert written(text, (1, f"{first}\nx = 1")) != text
    assert written(written(text, (1, f"{first}\nx = 1")), (1, first)) == text


def test_a_cell_of_the_magic_is_checked_with_its_namespaces_at_its_lines():
    lines = "@R.function\ndef f(x: R.Tensor((2,), 'float32')):\n    return R.add(x, z)"
    cells = [Source("a.ipynb", "import relaxscript as rx", 1)]
    cells.append(Source("a.ipynb", f"%%relax --strict\n{lines}", 2))
    (script,), others = definitions(cells)
    (wrong,) = script.diagnostics
    assert others == []
    assert (wrong.message, str(wrong.span)) == (
        "`z` is not defined", "a.ipynb: cell 2, line 4",
    )  # fmt: skip


def test_names_may_be_known_before_the_first_cell():
    text = "@R.function\ndef f(x: R.Tensor((SIZE,), 'float32')):\n    return x"
    (script,), _ = definitions(Source("a.py", text), known={"SIZE": 3})
    assert str(script.value.params[0].struct_info) == 'R.Tensor((3,), "float32")'
