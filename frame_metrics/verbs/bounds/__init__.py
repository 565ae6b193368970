"""The verb bounds: the values that ties, or missing judgments, leave open.

Nothing outside imports an inner file.
"""
