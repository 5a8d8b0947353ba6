"""The command ``code-rlvr prepare``: from any source of problems to the parquet that the trainer reads.

Covered: rows in, a clean set out, with an account of every row.  Not covered: layouts of rows (`data.sources`),
whether tests are any good (`audit`).
"""
