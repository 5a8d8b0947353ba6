"""Training: warm start, verl's PPO trainer under supervision, merging its checkpoints.

Only this package imports verl.
"""
