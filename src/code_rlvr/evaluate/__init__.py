"""Evaluation: sample from a model, judge with the verifier that training uses, estimate pass@k, compare models.

Covered: benchmarks by name, file and folder; Hugging Face folders under transformers and vLLM, and any other
`engine.Engine`.  Not covered: training; nothing here imports verl or `code_rlvr.train`.
"""
