"""The command ``code-rlvr audit``: finds the problems of a set that a model should not be trained on.

| file | what it is |
|---|---|
| `sets` | reads a prepared set: parquet, JSONL, or a folder of them |
| `finding` | what can be found, by name and severity |
| `cases`, `checks`, `trivial`, `statements` | the checks of one problem that need its row only |
| `references` | the checks that need its reference solutions |
| `run`, `result` | all problems of a set; what came of it |
| `statistics` | numbers about a set; needs no judge |
| `cleaned` | writes the set without its defects |
| `page`, `plots` | the same as one HTML file |

Covered: sets as `prepare` writes them and `verify` reads them.  Not covered: judging (`code_rlvr.verifier`).
"""
