"""The pages of operators, which `help`, `relaxscript ops` and `relaxscript explain` show.
operator_page.py  sections of a page
examples.py       an example of each operator
counterparts.py   names in other libraries
"""

from __future__ import annotations

__all__: list[str] = []
