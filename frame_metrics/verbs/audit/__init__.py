"""The verb audit: checks of the data, each one function, and the rows whose values are bad.

Nothing outside imports an inner file; a check reads what others have measured, and computes no metric.
"""
