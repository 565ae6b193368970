"""The verbs that compare pairs: of systems, arms, periods, teams, and of rows that are counted together.

Each verb has a file of its name, or that of a verb with the same steps; measured values come from ``measuring``.
"""
