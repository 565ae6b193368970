"""Roles: which column plays which part, what a metric needs, the conventions, and columns whose values are checked.

Nothing here joins, sorts or computes.
"""
