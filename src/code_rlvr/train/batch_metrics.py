"""Metrics of a training batch's rewards: what the samples that are trained on earned, all together and by source.

Covered: the arithmetic.  Not covered: fetching the samples (`sampler`); what each name means (the metric catalogue).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from code_rlvr.reward import METRIC_KEYS

SOURCE_KEYS = ("score", "pass_rate", "accepted")
SAME_SCORE = 1e-6


def reward_metrics(
    rewards: Sequence[Mapping[str, float]], sources: Sequence[str], groups: Sequence[Hashable]
) -> dict[str, float]:
    """Return the metrics of a batch.

    Args:
        rewards: What the reward function returned for each sample; at least one.
        sources: The data source of each.
        groups: What the samples of one prompt have in common.
    """
    table = np.array([[reward[key] for key in METRIC_KEYS] for reward in rewards], dtype=float)
    metrics = {f"reward/{key}": float(mean) for key, mean in zip(METRIC_KEYS, table.mean(axis=0), strict=True)}
    metrics["reward/samples"] = float(len(rewards))
    judge_s = table[:, METRIC_KEYS.index("judge_s")]
    metrics["reward/judge_s/total"] = float(judge_s.sum())
    metrics["reward/judge_s/p50"], metrics["reward/judge_s/p95"] = (float(q) for q in np.quantile(judge_s, (0.5, 0.95)))
    metrics |= _by_source(table, sources)
    share = _share_without_signal(table[:, METRIC_KEYS.index("score")], groups)
    return metrics if share is None else {**metrics, "reward/groups_without_signal": share}


def _by_source(table: np.ndarray, sources: Sequence[str]) -> dict[str, float]:
    """The most telling means of each source, if there are several."""
    names = sorted(set(sources))
    if len(names) < 2:
        return {}
    of = np.array(sources)
    columns = [METRIC_KEYS.index(key) for key in SOURCE_KEYS]
    return {
        f"reward/by_source/{name}/{key}": float(value)
        for name in names
        for key, value in zip(SOURCE_KEYS, table[of == name][:, columns].mean(axis=0), strict=True)
    }


def _share_without_signal(scores: np.ndarray, groups: Sequence[Hashable]) -> float | None:
    """Share of prompts all of whose samples earned the same: their group advantage is 0.  None without groups."""
    of: dict[Hashable, list[float]] = defaultdict(list)
    for group, score in zip(groups, scores, strict=True):
        of[group].append(score)
    several = [found for found in of.values() if len(found) > 1]
    if not several:
        return None
    return float(np.mean([max(found) - min(found) < SAME_SCORE for found in several]))
