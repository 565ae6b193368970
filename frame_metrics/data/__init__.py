"""Data: checked columns become queries, segments, joined judgments, and blocks in rank order.

Nothing here averages or makes rows of a result.
"""
