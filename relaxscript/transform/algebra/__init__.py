"""Laws of numbers and matrices: the same values by other operations, as a rule by fewer."""
