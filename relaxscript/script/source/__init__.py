"""Sources: the text of a decorated definition, its syntax tree, and the names of its file."""
