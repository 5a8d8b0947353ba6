"""The register of the starter families: those that are trained on, and those that are wholly unseen."""

from __future__ import annotations

from code_rlvr.data.starter.arithmetic_families import ARITHMETIC_FAMILIES
from code_rlvr.data.starter.family import Family
from code_rlvr.data.starter.function_families import FUNCTION_FAMILIES
from code_rlvr.data.starter.list_families import LIST_FAMILIES
from code_rlvr.data.starter.loop_families import LOOP_FAMILIES
from code_rlvr.data.starter.string_families import STRING_FAMILIES
from code_rlvr.data.starter.unseen_families import UNSEEN_FAMILIES
from code_rlvr.data.starter.word_families import WORD_FAMILIES

TRAINED_FAMILIES: tuple[Family, ...] = (
    *ARITHMETIC_FAMILIES,
    *LOOP_FAMILIES,
    *LIST_FAMILIES,
    *STRING_FAMILIES,
    *WORD_FAMILIES,
    *FUNCTION_FAMILIES,
)

__all__ = ["TRAINED_FAMILIES", "UNSEEN_FAMILIES"]
