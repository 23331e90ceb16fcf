"""The parser of PrimFuncs. Start at `function.py`; `language.py` lists the forms."""
