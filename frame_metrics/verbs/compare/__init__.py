"""The verb compare: systems, arms and rows that are counted together, each pair of them in a row.

``compare.py`` is the verb; measured values come from ``measuring``.
"""
