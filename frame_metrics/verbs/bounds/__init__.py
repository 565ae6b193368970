"""The verb bounds: the values that ties, or missing judgments, leave open.

``bounds.py`` is the verb.
"""
