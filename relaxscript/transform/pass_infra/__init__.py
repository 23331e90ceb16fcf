"""What a pass is, how passes run, and what most of them are written with."""
