"""Roles: what each column is used for, the conventions, and columns whose values are checked.

Nothing here joins, sorts or computes.
"""
