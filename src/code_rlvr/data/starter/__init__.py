"""Starter problems: tiny tasks that a model of a million parameters can learn within minutes on a CPU.

Covered: problems of many small families, split so that what is reported was never trained on, and the
imperfect corpus for the warm start.  Not covered: real data sets, prompts (`code_rlvr.data.prompts`).
"""

from code_rlvr.data.starter.build import StarterSet, build_starter
from code_rlvr.data.starter.corpus import imperfect_corpus

__all__ = ["StarterSet", "build_starter", "imperfect_corpus"]
