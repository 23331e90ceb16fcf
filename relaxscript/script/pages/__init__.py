"""The pages of operators, which `help`, `relaxscript ops` and `relaxscript explain` show.

operator_page.py  what stands on a page, and how it is made
examples.py       an example of each operator
counterparts.py   what other libraries call it
"""

from __future__ import annotations

__all__: list[str] = []
