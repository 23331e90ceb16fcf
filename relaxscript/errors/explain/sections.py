"""The section of the Relax specification that a code belongs to.

Codes of what the specification does not speak of, such as Python's own grammar, files and TIR, have
none. The headings are those of "Informal Relax Language Specification".
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["SECTIONS"]

_GRAMMAR = "Grammar"
_SCOPING = "Variable Scoping"
_DERIVATION = "Derivation Rules"
_STRUCT_INFO = "Defining Structural Information"
_CHECKS = "Checking Structural Information at the Start and End of a Function"
_OPERATORS = "Notable Operators"

SECTIONS: Mapping[str, str] = {
    "RX0101": _SCOPING,
    "RX0102": _OPERATORS,
    "RX0103": _DERIVATION,
    "RX0104": _GRAMMAR,
    "RX0105": _GRAMMAR,
    "RX0106": "Expression Survey",
    "RX0107": _SCOPING,
    "RX0108": _STRUCT_INFO,
    "RX0109": "Expressing Shape Dimensions",
    "RX0110": "Top-level Program Organization: `IRModule`",
    "RX0201": _DERIVATION,
    "RX0202": _DERIVATION,
    "RX0203": _DERIVATION,
    "RX0204": _DERIVATION,
    "RX0205": "Subtyping for `StructInfo`",
    "RX0206": _DERIVATION,
    "RX0207": "Note on Proving Shapes Equivalent and Eliminating Dynamic Checks",
    "RX0208": _DERIVATION,
    "RX0209": _STRUCT_INFO,
    "RX0210": "Propagating Virtual Device Information",
    "RX0211": "Propagating Virtual Device Information",
    **{f"RX03{n:02}": f"Well-Formedness Criteria, {n}" for n in range(1, 25)},
    "RX0325": "Normal Form",
    "RX0326": _STRUCT_INFO,
    "RX0401": "Checking Purity",
    "RX0402": "Purity and Dataflow Blocks",
    "RX0403": _OPERATORS,
    "RX0601": _CHECKS,
    "RX0602": _CHECKS,
    "RX0603": _OPERATORS,
    "RX0604": _OPERATORS,
    "RX0605": "Evaluating `MatchCast`",
    "RX0606": "Evaluating Expressions",
    "RX0607": "Program Entry Point",
    "RX0608": "Representation of Values at Run Time",
    "RX0609": "Evaluating Expressions",
    "RX0610": _OPERATORS,
    "RX0611": _OPERATORS,
    "RX0613": "Evaluating Expressions",
    "RX0614": "Values in Relax",
}
