"""The parser of PrimFuncs. Start at `function.py`; `language.py` lists the forms.

Functions are named by what they do. `parse_...` reads syntax, `bind_...` gives a value to names,
`add_...` adds a statement to the builder. `make_...` and `to_...` give a node. `check_...` and
`refuse_...` record what is wrong.
"""
