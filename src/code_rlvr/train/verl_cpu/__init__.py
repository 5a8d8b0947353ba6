"""verl's own trainer on a machine without a GPU, through verl's extension points.

`platform` tells verl what a CPU is, `rollout` generates with transformers, and `plugin` is what every verl process
imports (``VERL_USE_EXTERNAL_MODULES=code_rlvr.train.verl_cpu.plugin``).  The few changes that verl has no extension
point for are in `train.verl_patches`.
"""
