"""The tutorial's first step: Eurus-2-RL-Data's code problems as parquet for verl; the work is in `code-rlvr prepare`.

    python recipe/prepare_data.py [--train-size 1000] [any other option of code-rlvr prepare]

Writes data/eurus/train.parquet and data/eurus/validation.parquet.  Where the hub cannot be reached:
python recipe/prepare_data.py FOLDER_WITH_THE_PARQUET_FILES
"""

import sys

from code_rlvr.cli import main

if __name__ == "__main__":
    words = sys.argv[1:]
    sources = [] if words and not words[0].startswith("-") else ["eurus"]
    out = [] if "--out" in words else ["--out", "data/eurus"]
    model = [] if "--model" in words else ["--model", "Qwen/Qwen2.5-Coder-0.5B-Instruct"]
    sys.argv[1:] = ["prepare", *sources, *words, *model, *out]
    main()
