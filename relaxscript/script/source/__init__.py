"""Sources: the lines of a decorated definition, its syntax tree, and the names of its file."""
