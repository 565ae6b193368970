"""The verb compare: systems, arms and rows that are counted together, each pair of them in a row.

Nothing outside imports an inner file; measured values come from ``measuring``.
"""
