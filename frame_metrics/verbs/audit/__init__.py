"""The verb audit: checks of the data, each one function, and the rows whose values are bad.

``audit.py`` is the verb; a check reads what others have measured, and computes no metric.
"""
