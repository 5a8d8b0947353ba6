"""The page about several runs: the same axes, what they were configured with, what came of each."""

from __future__ import annotations

from code_rlvr.report.compare.page import render_comparison

__all__ = ["render_comparison"]
