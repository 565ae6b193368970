"""Code that exists only for speed, or for calls of a few rows: each function gives what a few plain lines would give.

``tests/unit/test_fast.py`` has these plain lines, and compares them on random and awkward input.
"""
