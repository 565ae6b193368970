"""Frames in and out: one class for each kind of frame, and the files of TREC.

A backend gives the needed columns as polars, and makes a frame of the caller's kind from an answer.
It receives the function to run as an argument, and imports nothing that computes.
"""
