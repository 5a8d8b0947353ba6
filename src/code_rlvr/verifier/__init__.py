"""Judges programs: takes code out of a response, runs it in a sandbox, compares, and says what it is.

Covered: `extract`, `judge` and what they stand on.  Not covered: scores (`code_rlvr.reward`).
"""
