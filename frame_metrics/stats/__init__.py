"""Statistics over queries: averages, intervals, tests, corrections. Arrays only.

No frame library is imported here.
"""
