"""Evaluation: sample from a model, judge with the verifier that training uses, estimate pass@k, compare runs.

Covered: Hugging Face folders and any other `engine.Engine`.  Not covered: training;
nothing here imports verl.
"""
