"""Frames in and out: one class for each kind of frame, and the files of TREC.

A border hands over the needed columns as polars and takes an answer back as a frame of the caller's kind.
It is handed the function to run, and imports nothing of what computes.
"""
