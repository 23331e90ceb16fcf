"""The names of scripts: annotations, forms, statements and scalars that `I`, `R` and `T` offer."""
