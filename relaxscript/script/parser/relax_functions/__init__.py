"""The parser of Relax functions. Start at `function.py`; `language.py` lists the forms."""
