"""Verbs: a file or a folder for each; none imports another.

A verb computes from what was read for a plan, and gives an answer.
"""
