"""Queries and rows measured: in memory, in pieces or on a cluster, and joined; what verbs average, compare and list.

No verb is known here, and no kind of frame.
"""
