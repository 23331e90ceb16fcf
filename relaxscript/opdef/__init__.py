"""The engine of operators: definitions, calls made of them, and the context of their rules.

    operator.py          an operator: schema, traits, rules
    traits.py            facts that other rooms ask for
    parameters.py        the schema, read from a signature
    call_layout.py       where operands lie in a call
    operands.py          operands as people write them · prim_operands.py  those of scalars
    context.py           what a rule may ask · shapes.py  what rules share
    families.py          operators that differ only in what they compute
    leaf_struct_info.py  what is known of expressions that need no rule
    eager.py             operators run at once, on numpy arrays
    composite.py         names for compositions of operators
    aliases.py           what other libraries call things
    mixed_precision.py   operators on fewer bits
    format.py            dimensions and shapes in messages
    documentation.py     what `help` shows

It knows no operator: these are in `op/`. Start at `operator.py`.
"""
