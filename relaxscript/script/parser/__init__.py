"""Parsing: from the user's own file or text to typed IR.

`entry.py` holds the decorators and `from_source`; `source.py` finds definitions, `environment.py`
what they captured; `base.py` is what the languages share, `relax*.py` and `tir*.py` are the
languages, `module.py` the class around them. The printer's methods of the same names are the
inverse of these.
"""
