"""Keys: systems, segments and queries as numbers and as the caller's values; ids that are spelled differently.

Nothing here reads scores, grades or labels.
"""
