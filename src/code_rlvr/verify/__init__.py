"""The command ``code-rlvr verify``: judges a file of solutions against a file of problems.

Covered: files in, verdicts and a table out.  Not covered: judging (`code_rlvr.verifier`).
"""
