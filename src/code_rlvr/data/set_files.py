"""The names of a prepared set's files, for those who write, read or leave them out.

Covered: names only.  Not covered: what is in the files (`data.prepare`, `data.parquet`).
"""

TRAIN, VALIDATION = PARTS = ("train.parquet", "validation.parquet")
"""Problems, by their split."""
SOLUTIONS = "solutions.jsonl"
"""Programs that are said to solve them."""
MANIFEST = "manifest.json"
"""What the set was made of, and how."""
