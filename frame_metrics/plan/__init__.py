"""Plans: a frame, its columns, the conventions and what is asked, checked before a value is read.

Nothing here measures anything; what is read for a plan is handed on as a source.
"""
