"""The engine of operators: what a definition says, how calls are made of it, and what rules ask.

    operator.py          an operator: schema, traits, rules
    traits.py            facts that other rooms ask for
    parameters.py        the schema, read from a signature
    call_layout.py       where operands lie in a call
    operands.py          what people write as operands · prim_operands.py  those of scalars
    context.py           what a rule may ask · shapes.py  what rules share
    families.py          operators that differ only in what they compute
    leaf_struct_info.py  what is known of expressions that need no rule
    eager.py             operators run at once, on numpy arrays
    composite.py         names that stand for other expressions
    aliases.py           what other libraries call things
    format.py            dimensions and shapes in messages
    documentation.py     what `help` shows

It knows no operator: these are in `op/`. Start at `operator.py`.
"""
