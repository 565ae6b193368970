"""Verbs: one file for each, and the tidy rows they share.

A verb computes from a log or from cases, and gives an answer.
"""
