"""Imported by every verl process of a GPU run (``VERL_USE_EXTERNAL_MODULES``); importing it arranges the patches."""

from code_rlvr.train import verl_patches

verl_patches.apply_for_gpu()
